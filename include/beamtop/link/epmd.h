/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions to the Erlang port mapper over libuv: where is a name (PORT_PLEASE2_REQ), what names
 * are there (NAMES_REQ). Source: OTP, erts/doc "Distribution Protocol", part 1. Loop
 * thread only. */
#ifndef BEAMTOP_LINK_EPMD_H
#define BEAMTOP_LINK_EPMD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"

#define EPMD_PORT 4369 /* where epmd listens unless ERL_EPMD_PORT says otherwise */

enum epmd_failure {
    EPMD_OK,
    EPMD_UNREACHABLE, /* its port is closed */
    EPMD_SILENT,      /* no connection or no answer within the deadline */
    EPMD_NO_NAME,     /* epmd answers, but knows no such name */
    EPMD_NOT_EPMD,    /* what answers is not epmd */
    EPMD_NO_WAY,      /* the way to its host failed (epmd_way.h) */
};

struct epmd_name {
    char alive[256];
    uint16_t port;
};

struct epmd_answer {
    enum epmd_failure failure;
    struct error err;        /* set unless EPMD_OK */
    uint16_t port;           /* the port asked for */
    struct epmd_name *names; /* of a names question, borrowed */
    size_t count;
};

struct epmd_query;

/*
 * Asks the epmd at addr (its port included) for `alive`, or for all names when alive is NULL.
 * `done` is called once, from the loop, never from inside epmd_ask; the query frees
 * itself after. */
int epmd_ask(struct epmd_query **out, uv_loop_t *loop, const struct sockaddr *addr,
             const char *alive, unsigned timeout_ms,
             void (*done)(void *arg, const struct epmd_answer *answer), void *arg,
             struct error *err);
/* The same over a stream socket that leads to an epmd; fd is closed in any case. `where` is for the
   texts; copied. */
int epmd_ask_over(struct epmd_query **out, uv_loop_t *loop, int fd, const char *where,
                  const char *alive, unsigned timeout_ms,
                  void (*done)(void *arg, const struct epmd_answer *answer), void *arg,
                  struct error *err);
void epmd_cancel(struct epmd_query *q); /* `done` is not called any more; NULL is fine */

/* The parsers behind it, on bytes: each 0 (complete), 1 (more bytes needed) or -1 (not epmd). */
int epmd_parse_port(const uint8_t *bytes, size_t len, uint16_t *port, int *result);
int epmd_parse_names(const uint8_t *bytes, size_t len, struct epmd_name *names, size_t max,
                     size_t *count);

#endif
