/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reading.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/local/outside.h"

/* Shared by the loop and the thread of a look; the last of the two frees it. */
struct shared {
    pthread_mutex_t lock;
    unsigned holders;
    struct reading *owner; /* NULL: it is closed */
    struct outside_reader *reader;
    struct outside now; /* the thread's while a look runs */
    uid_t uid;
};

struct reading {
    struct shared *shared;
    uv_async_t async;
    bool runs; /* a look does */
    void (*looked)(void *arg);
    void *arg;
};

static void hold(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    s->holders++;
    pthread_mutex_unlock(&s->lock);
}

static void release(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    const unsigned left = --s->holders;
    pthread_mutex_unlock(&s->lock);
    if (left > 0)
        return;
    pthread_mutex_destroy(&s->lock);
    outside_close(s->reader);
    outside_clear(&s->now);
    free(s);
}

/* ---- the thread */

static void read_sockets(struct outside *o, uid_t uid)
{
    struct discover_socket found[LIMIT_OUTSIDE_SOCKETS];
    const long n = discover_sockets(found, LIMIT_OUTSIDE_SOCKETS, NULL, (pid_t)o->os_pid, uid);
    free(o->sockets);
    o->sockets = NULL;
    o->n_sockets = 0;
    o->why_no_sockets[0] = '\0';
    if (n < 0)
        snprintf(o->why_no_sockets, sizeof o->why_no_sockets,
                 "its descriptors cannot be read (%s). Run beamtop as root, or as user %s",
                 strerror(errno), o->user[0] ? o->user : "of the VM");
    if (n <= 0)
        return;
    o->sockets = alloc_zero((size_t)n, sizeof *o->sockets);
    o->n_sockets = (size_t)n;
    for (long i = 0; i < n; i++) {
        memcpy(o->sockets[i].address, found[i].address, sizeof o->sockets[i].address);
        o->sockets[i].port = found[i].port;
    }
}

static void *run_look(void *arg)
{
    struct shared *s = arg;
    if (outside_read(s->reader, &s->now, clock_mono_ns()))
        read_sockets(&s->now, s->uid);
    s->now.wall_us = clock_wall_us();
    pthread_mutex_lock(&s->lock);
    if (s->owner)
        uv_async_send(&s->owner->async);
    pthread_mutex_unlock(&s->lock);
    release(s);
    return NULL;
}

/* ---- the loop */

static void on_looked(uv_async_t *async)
{
    struct reading *r = async->data;
    r->runs = false;
    r->looked(r->arg);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

int reading_open(struct reading **out, uv_loop_t *loop, const struct discover_vm *vm,
                 void (*looked)(void *arg), void *arg, struct error *err)
{
    const struct outside_places places = {NULL, NULL};
    struct outside_reader *reader = NULL;
    *out = NULL;
    if (outside_open(&reader, vm->pid, &places, err) != 0)
        return err->code;
    struct reading *r = alloc_zero(1, sizeof *r);
    const int rc = uv_async_init(loop, &r->async, on_looked);
    if (rc != 0) {
        outside_close(reader);
        free(r);
        return error_set(err, ERR_SYSTEM, "no look can be taken: %s", uv_strerror(rc));
    }
    struct shared *s = alloc_zero(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->holders = 1;
    s->owner = r;
    s->reader = reader;
    s->uid = vm->uid;
    s->now = (struct outside){.os_pid = vm->pid,
                              .state = '?',
                              .cpu = NAN,
                              .kernel = NAN,
                              .uptime_s = NAN,
                              .resident_bytes = -1,
                              .limit_bytes = -1,
                              .dump = OUTSIDE_DUMP_UNKNOWN,
                              .dump_per_s = NAN,
                              .written_bytes = -1};
    snprintf(s->now.why_no_sockets, sizeof s->now.why_no_sockets, "/proc has not answered");
    snprintf(s->now.node, sizeof s->now.node, "%s", vm->node);
    snprintf(s->now.command, sizeof s->now.command, "%s", vm->command);
    snprintf(s->now.user, sizeof s->now.user, "%s", vm->user);
    snprintf(s->now.otp, sizeof s->now.otp, "%s", vm->otp);
    r->shared = s;
    r->looked = looked;
    r->arg = arg;
    r->async.data = r;
    *out = r;
    return 0;
}

void reading_close(struct reading *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->shared->lock);
    r->shared->owner = NULL;
    pthread_mutex_unlock(&r->shared->lock);
    release(r->shared);
    uv_close((uv_handle_t *)&r->async, on_closed);
}

bool reading_ask(struct reading *r)
{
    pthread_attr_t attr;
    pthread_t thread;
    if (r->runs)
        return false;
    hold(r->shared);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    r->runs = pthread_create(&thread, &attr, run_look, r->shared) == 0;
    pthread_attr_destroy(&attr);
    if (!r->runs)
        release(r->shared);
    return r->runs;
}

static void *copy_rows(const void *rows, size_t n, size_t bytes)
{
    void *out = n > 0 ? alloc_zero(n, bytes) : NULL;
    if (out)
        memcpy(out, rows, n * bytes);
    return out;
}

void reading_take(const struct reading *r, struct outside *o)
{
    const struct outside before = *o, *now = &r->shared->now;
    if (r->runs)
        return;
    free(o->threads);
    free(o->sockets);
    *o = *now;
    o->threads = copy_rows(now->threads, now->n_threads, sizeof *now->threads);
    o->sockets = copy_rows(now->sockets, now->n_sockets, sizeof *now->sockets);
    o->stacks = before.stacks;
    o->n_stacks = before.n_stacks;
    memcpy(o->why_no_stacks, before.why_no_stacks, sizeof o->why_no_stacks);
    memcpy(o->trouble, before.trouble, sizeof o->trouble);
}
