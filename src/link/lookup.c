/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

/*
 * Shared by the loop and the thread; the last of the two frees it. getaddrinfo can take far longer
 * than any deadline, and a thread of libuv's pool would hold up the end of the program with it. */
struct shared {
    pthread_mutex_t lock;
    unsigned holders;
    struct lookup *owner; /* NULL: cancelled */
    char host[LIMIT_NODE_NAME_BYTES + 1];
    int rc;
    struct address *addresses;
    size_t count;
};

struct lookup {
    struct shared *shared;
    uv_async_t async;
    uv_timer_t timer;
    unsigned open_handles;
    unsigned timeout_ms;
    bool finished;
    char host[LIMIT_NODE_NAME_BYTES + 1];
    void (*done)(void *arg, const struct address *addresses, size_t count, const struct error *err);
    void *arg;
};

static void shared_release(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    unsigned left = --s->holders;
    pthread_mutex_unlock(&s->lock);
    if (left == 0) {
        pthread_mutex_destroy(&s->lock);
        free(s->addresses);
        free(s);
    }
}

static void *run_lookup(void *arg)
{
    struct shared *s = arg;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int rc = getaddrinfo(s->host, NULL, &hints, &found);

    pthread_mutex_lock(&s->lock);
    s->rc = rc;
    for (const struct addrinfo *a = found; rc == 0 && a && s->count < LOOKUP_MOST; a = a->ai_next) {
        if (a->ai_addrlen > sizeof s->addresses[0].sa)
            continue;
        s->addresses = alloc_grow(s->addresses, s->count, sizeof *s->addresses);
        memcpy(&s->addresses[s->count].sa, a->ai_addr, a->ai_addrlen);
        s->addresses[s->count++].len = a->ai_addrlen;
    }
    if (s->owner)
        uv_async_send(&s->owner->async);
    pthread_mutex_unlock(&s->lock);
    if (found)
        freeaddrinfo(found);
    shared_release(s);
    return NULL;
}

static void on_lookup_closed(uv_handle_t *h)
{
    struct lookup *l = h->data;
    if (--l->open_handles == 0)
        free(l);
}

static void end_lookup(struct lookup *l)
{
    l->finished = true;
    pthread_mutex_lock(&l->shared->lock);
    l->shared->owner = NULL;
    pthread_mutex_unlock(&l->shared->lock);
    shared_release(l->shared);
    uv_close((uv_handle_t *)&l->async, on_lookup_closed);
    uv_close((uv_handle_t *)&l->timer, on_lookup_closed);
}

static void on_found(uv_async_t *async)
{
    struct lookup *l = async->data;
    struct error err = {0};
    if (l->finished)
        return;
    pthread_mutex_lock(&l->shared->lock);
    size_t count = l->shared->count;
    int rc = l->shared->rc;
    struct address *addresses = l->shared->addresses;
    l->shared->addresses = NULL;
    pthread_mutex_unlock(&l->shared->lock);
    if (rc != 0 || count == 0) {
        count = 0;
        error_set(&err, ERR_CONNECT,
                  "host %.255s is not found (%s): check the part of the node's name after the @, "
                  "or give its address with --host",
                  l->host, rc != 0 ? gai_strerror(rc) : "no address");
    }
    end_lookup(l);
    l->done(l->arg, addresses, count, &err);
    free(addresses);
}

static void on_lookup_timeout(uv_timer_t *timer)
{
    struct lookup *l = timer->data;
    struct error err = {0};
    error_set(
        &err, ERR_TIMEOUT,
        "the lookup of host %.255s took longer than %.1f s: the name server may be unreachable. "
        "Give an address with --host",
        l->host, l->timeout_ms / 1000.0);
    end_lookup(l);
    l->done(l->arg, NULL, 0, &err);
}

static int start_thread(struct shared *s)
{
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&thread, &attr, run_lookup, s);
    pthread_attr_destroy(&attr);
    return rc;
}

int lookup_start(struct lookup **out, uv_loop_t *loop, const char *host, unsigned timeout_ms,
                 void (*done)(void *arg, const struct address *addresses, size_t count,
                              const struct error *err),
                 void *arg, struct error *err)
{
    struct lookup *l = alloc_zero(1, sizeof *l);
    struct shared *s = alloc_zero(1, sizeof *s);
    *out = NULL;
    int rc = uv_async_init(loop, &l->async, on_found);
    if (rc != 0) {
        free(l);
        free(s);
        return error_set(err, ERR_SYSTEM, "no lookup can be started: %s", uv_strerror(rc));
    }
    uv_timer_init(loop, &l->timer);
    pthread_mutex_init(&s->lock, NULL);
    s->holders = 2;
    s->owner = l;
    strncpy(s->host, host, sizeof s->host - 1);
    strncpy(l->host, host, sizeof l->host - 1);
    l->shared = s;
    l->async.data = l->timer.data = l;
    l->open_handles = 2;
    l->timeout_ms = timeout_ms;
    l->done = done;
    l->arg = arg;
    rc = start_thread(s);
    if (rc != 0) {
        s->holders = 1;
        end_lookup(l);
        return error_set_errno(err, rc, "no thread for the lookup of %.255s", host);
    }
    uv_timer_start(&l->timer, on_lookup_timeout, timeout_ms, 0);
    *out = l;
    return 0;
}

void lookup_cancel(struct lookup *l)
{
    if (l && !l->finished)
        end_lookup(l);
}

void lookup_text(char *out, size_t size, const struct address *address)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)&address->sa;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)&address->sa;
    const void *bytes = address->sa.ss_family == AF_INET6 ? (const void *)&six->sin6_addr
                                                          : (const void *)&four->sin_addr;
    if (!inet_ntop(address->sa.ss_family, bytes, out, (socklen_t)size))
        *out = '\0';
}
