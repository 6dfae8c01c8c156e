/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/link/aside.h"
#include "link/dns/srv.h"

#define SERVICE_BYTES 65535 /* of an answer of DNS, at most */

/* What is asked on another thread, which changes nothing of the first two. */
struct asked {
    char host[LIMIT_NODE_NAME_BYTES + 1];
    bool is_service;
    int rc; /* of getaddrinfo; of a service the resolver's */
    struct address *addresses;
    size_t count;
};

struct lookup {
    struct asked *asked;
    struct aside *aside;
    unsigned timeout_ms;
    void (*done)(void *arg, const struct address *addresses, size_t count, const struct error *err);
    void *arg;
};

static void release_asked(void *work)
{
    struct asked *s = work;
    free(s->addresses);
    free(s);
}

static struct address *add_address(struct asked *s)
{
    s->addresses = alloc_grow(s->addresses, s->count, sizeof *s->addresses);
    struct address *a = &s->addresses[s->count++];
    *a = (struct address){0};
    return a;
}

static void ask_addresses(struct asked *s)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    s->rc = getaddrinfo(s->host, NULL, &hints, &found);
    for (const struct addrinfo *i = found; s->rc == 0 && i && s->count < LOOKUP_MOST;
         i = i->ai_next) {
        if (i->ai_addrlen > sizeof s->addresses[0].sa)
            continue;
        struct address *a = add_address(s);
        memcpy(&a->sa, i->ai_addr, i->ai_addrlen);
        a->len = i->ai_addrlen;
    }
    if (found)
        freeaddrinfo(found);
}

static int add_target(void *arg, const char *target)
{
    struct asked *s = arg;
    for (size_t i = 0; i < s->count; i++)
        if (strcasecmp(s->addresses[i].host, target) == 0)
            return 0;
    if (s->count == LOOKUP_MOST)
        return -1;
    snprintf(add_address(s)->host, sizeof s->addresses->host, "%s", target);
    return 0;
}

/* The resolver keeps its state for each thread. A truncated answer does not count: who is missing
 * would seem to be gone. */
static void ask_service(struct asked *s)
{
    uint8_t *answer = alloc_zero(SERVICE_BYTES, 1);
    const int len = res_search(s->host, ns_c_in, ns_t_srv, answer, SERVICE_BYTES);
    s->rc = len < 0 ? h_errno : 0;
    if (len >= 0 && (len > SERVICE_BYTES || srv_each(answer, (size_t)len, add_target, s) != 0))
        s->rc = NO_RECOVERY;
    free(answer);
}

static void run_lookup(void *work)
{
    struct asked *s = work;
    if (s->is_service)
        ask_service(s);
    else
        ask_addresses(s);
}

static void finish_lookup(struct lookup *l, const struct address *addresses, size_t count,
                          const struct error *err)
{
    const struct lookup of = *l;
    lookup_cancel(l);
    of.done(of.arg, addresses, count, err);
}

static void explain_nothing(struct error *err, const struct asked *s)
{
    if (s->is_service)
        error_set(err, ERR_CONNECT, "DNS has no SRV records of %.255s (%s): check the name",
                  s->host, s->rc != 0 ? hstrerror(s->rc) : "no host's name");
    else
        error_set(err, ERR_CONNECT,
                  "host %.255s is not found (%s): check the part of the node's name after the @, "
                  "or give its address with --host",
                  s->host, s->rc != 0 ? gai_strerror(s->rc) : "no address");
}

static void on_found(void *arg)
{
    struct lookup *l = arg;
    struct asked *s = l->asked;
    struct error err = {0};
    const size_t count = s->rc == 0 ? s->count : 0;
    struct address *addresses = s->addresses;
    s->addresses = NULL;
    if (count == 0)
        explain_nothing(&err, s);
    finish_lookup(l, addresses, count, &err);
    free(addresses);
}

static void on_lookup_late(void *arg)
{
    struct lookup *l = arg;
    struct error err = {0};
    error_set(
        &err, ERR_TIMEOUT,
        "the lookup of host %.255s took longer than %.1f s: the name server may be unreachable. "
        "Give an address with --host",
        l->asked->host, l->timeout_ms / 1000.0);
    finish_lookup(l, NULL, 0, &err);
}

static int begin_lookup(struct lookup **out, bool is_service, uv_loop_t *loop, const char *host,
                        unsigned timeout_ms,
                        void (*done)(void *arg, const struct address *addresses, size_t count,
                                     const struct error *err),
                        void *arg, struct error *err)
{
    static const struct aside_kind kind = {
        .run = run_lookup, .done = on_found, .late = on_lookup_late, .release = release_asked};
    struct lookup *l = alloc_zero(1, sizeof *l);
    struct asked *s = alloc_zero(1, sizeof *s);
    strncpy(s->host, host, sizeof s->host - 1);
    s->is_service = is_service;
    *out = NULL;
    int rc = aside_open(&l->aside, loop, &kind, s, l);
    if (rc != 0) {
        free(l);
        return error_set(err, ERR_SYSTEM, "no lookup can be started: %s", uv_strerror(rc));
    }
    l->asked = s;
    l->timeout_ms = timeout_ms;
    l->done = done;
    l->arg = arg;
    rc = aside_run_within(l->aside, timeout_ms);
    if (rc != 0) {
        lookup_cancel(l);
        return error_set_errno(err, rc, "no thread for the lookup of %.255s", host);
    }
    *out = l;
    return 0;
}

int lookup_start(struct lookup **out, uv_loop_t *loop, const char *host, unsigned timeout_ms,
                 void (*done)(void *arg, const struct address *addresses, size_t count,
                              const struct error *err),
                 void *arg, struct error *err)
{
    return begin_lookup(out, false, loop, host, timeout_ms, done, arg, err);
}

int lookup_service(struct lookup **out, uv_loop_t *loop, const char *service, unsigned timeout_ms,
                   void (*done)(void *arg, const struct address *addresses, size_t count,
                                const struct error *err),
                   void *arg, struct error *err)
{
    return begin_lookup(out, true, loop, service, timeout_ms, done, arg, err);
}

void lookup_cancel(struct lookup *l)
{
    if (!l)
        return;
    aside_close(l->aside);
    free(l);
}

void lookup_text(char *out, size_t size, const struct address *address)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)&address->sa;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)&address->sa;
    if (*address->host) {
        snprintf(out, size, "%s", address->host);
        return;
    }
    const void *bytes = address->sa.ss_family == AF_INET6 ? (const void *)&six->sin6_addr
                                                          : (const void *)&four->sin_addr;
    if (!inet_ntop(address->sa.ss_family, bytes, out, (socklen_t)size))
        *out = '\0';
}
