/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The addresses of a host, or the hosts of a service (SRV): getaddrinfo and res_search on a thread
 * that may be left behind, since nothing can interrupt them. One thread else: the loop's. */
#ifndef BEAMTOP_LINK_LOOKUP_H
#define BEAMTOP_LINK_LOOKUP_H

#include <stddef.h>
#include <sys/socket.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"

#define LOOKUP_MOST 1000 /* addresses of one host: more are left out */

struct address {
    struct sockaddr_storage sa;
    socklen_t len;
    char host[LIMIT_NODE_NAME_BYTES + 1]; /* of a service, which has no addresses; else "" */
};

struct lookup;

/* `done` is called once from the loop: count 0 with err set, or the addresses, borrowed. */
int lookup_start(struct lookup **out, uv_loop_t *loop, const char *host, unsigned timeout_ms,
                 void (*done)(void *arg, const struct address *addresses, size_t count,
                              const struct error *err),
                 void *arg, struct error *err);
/* The same for the hosts of a service, such as _epmd._tcp.HOST: each once, in order. */
int lookup_service(struct lookup **out, uv_loop_t *loop, const char *service, unsigned timeout_ms,
                   void (*done)(void *arg, const struct address *addresses, size_t count,
                                const struct error *err),
                   void *arg, struct error *err);
void lookup_cancel(struct lookup *l); /* NULL is fine */
/* As a node's name has it, without a zone, or the host; "" where it is neither IPv4 nor IPv6. */
void lookup_text(char *out, size_t size, const struct address *address);

#endif
