/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/aside.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"

/* Shared by the loop and the thread; the last of the two frees it. */
struct shared {
    pthread_mutex_t lock;
    unsigned holders;
    struct aside *owner; /* NULL: it is closed */
    const struct aside_kind *kind;
    void *work;
};

struct aside {
    struct shared *shared;
    uv_async_t async;
    uv_timer_t limit;
    bool runs;
    void *arg;
};

static void hold_shared(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    s->holders++;
    pthread_mutex_unlock(&s->lock);
}

static void release_shared(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    const unsigned left = --s->holders;
    pthread_mutex_unlock(&s->lock);
    if (left > 0)
        return;
    pthread_mutex_destroy(&s->lock);
    s->kind->release(s->work);
    free(s);
}

static void *run_aside(void *arg)
{
    struct shared *s = arg;
    s->kind->run(s->work);
    pthread_mutex_lock(&s->lock);
    if (s->owner)
        uv_async_send(&s->owner->async);
    pthread_mutex_unlock(&s->lock);
    release_shared(s);
    return NULL;
}

static void on_aside_run(uv_async_t *async)
{
    struct aside *a = async->data;
    if (!a->shared)
        return; /* closed, with a signal on its way */
    a->runs = false;
    uv_timer_stop(&a->limit);
    a->shared->kind->done(a->arg);
}

static void on_aside_late(uv_timer_t *limit)
{
    struct aside *a = limit->data;
    a->shared->kind->late(a->arg);
}

static void on_aside_closed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_limit_closed(uv_handle_t *handle)
{
    struct aside *a = handle->data;
    uv_close((uv_handle_t *)&a->async, on_aside_closed);
}

int aside_open(struct aside **out, uv_loop_t *loop, const struct aside_kind *kind, void *work,
               void *arg)
{
    struct aside *a = alloc_zero(1, sizeof *a);
    const int rc = uv_async_init(loop, &a->async, on_aside_run);
    *out = NULL;
    if (rc != 0) {
        kind->release(work);
        free(a);
        return rc;
    }
    struct shared *s = alloc_zero(1, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    s->holders = 1;
    s->owner = a;
    s->kind = kind;
    s->work = work;
    a->shared = s;
    a->async.data = a;
    uv_timer_init(loop, &a->limit);
    a->limit.data = a;
    a->arg = arg;
    *out = a;
    return 0;
}

int aside_run(struct aside *a)
{
    pthread_attr_t attr;
    pthread_t thread;
    if (a->runs)
        return EBUSY;
    hold_shared(a->shared);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    const int rc = pthread_create(&thread, &attr, run_aside, a->shared);
    pthread_attr_destroy(&attr);
    a->runs = rc == 0;
    if (rc != 0)
        release_shared(a->shared);
    return rc;
}

int aside_run_within(struct aside *a, unsigned timeout_ms)
{
    const int rc = aside_run(a);
    if (rc == 0)
        uv_timer_start(&a->limit, on_aside_late, timeout_ms, 0);
    return rc;
}

bool aside_runs(const struct aside *a)
{
    return a->runs;
}

void aside_close(struct aside *a)
{
    if (!a)
        return;
    struct shared *s = a->shared;
    pthread_mutex_lock(&s->lock);
    s->owner = NULL;
    pthread_mutex_unlock(&s->lock);
    release_shared(s);
    a->shared = NULL;
    uv_close((uv_handle_t *)&a->limit, on_limit_closed);
}
