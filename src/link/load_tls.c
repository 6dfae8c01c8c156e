/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/link/aside.h"

/* Of the program: of a file system that hangs, each read keeps its thread. */
static atomic_uint loads_running;

/* The thread's, and then that of `done`. */
struct loading {
    struct tls_source *source;
    struct tls_context *context;
    struct error err;
};

struct tls_load {
    struct loading *loading;
    struct aside *aside;
    uv_timer_t timer;
    unsigned timeout_ms;
    bool finished;
    tls_load_fn *done;
    void *arg;
};

static void run_loading(void *work)
{
    struct loading *w = work;
    (void)w->source->class->load(w->source, &w->context, &w->err);
    atomic_fetch_sub(&loads_running, 1);
}

static void release_loading(void *work)
{
    struct loading *w = work;
    tls_context_drop(w->context);
    tls_source_drop(w->source);
    free(w);
}

static void on_load_closed(uv_handle_t *h)
{
    free(h->data);
}

static void end_load(struct tls_load *l)
{
    l->finished = true;
    aside_close(l->aside);
    uv_close((uv_handle_t *)&l->timer, on_load_closed);
}

static void on_loaded(void *arg)
{
    struct tls_load *l = arg;
    struct tls_context *context = tls_context_hold(l->loading->context);
    const struct error err = l->loading->err;
    end_load(l);
    l->done(l->arg, context, &err);
}

static void on_load_timeout(uv_timer_t *timer)
{
    struct tls_load *l = timer->data;
    struct error err = {0};
    error_set(&err, ERR_TIMEOUT,
              "the files of certificates were not read within %.1f s: probably their file system "
              "does not answer. Put them on a local one",
              l->timeout_ms / 1000.0);
    end_load(l);
    l->done(l->arg, NULL, &err);
}

static int run_aside_load(struct tls_load *l, struct error *err)
{
    int rc = 0;
    if (atomic_fetch_add(&loads_running, 1) >= LIMIT_TLS_LOADS)
        rc = error_set(err, ERR_LIMIT,
                       "%d files of certificates are being read and have not come: probably their "
                       "file system does not answer. Put them on a local one",
                       LIMIT_TLS_LOADS);
    const int none = rc == 0 ? aside_run(l->aside) : 0;
    if (none != 0)
        rc = error_set_errno(err, none, "no thread to read certificates");
    if (rc != 0)
        atomic_fetch_sub(&loads_running, 1);
    return rc;
}

int tls_load_start(struct tls_load **out, uv_loop_t *loop, struct tls_source *source,
                   unsigned timeout_ms, tls_load_fn *done, void *arg, struct error *err)
{
    static const struct aside_kind kind = {
        .run = run_loading, .done = on_loaded, .release = release_loading};
    struct tls_load *l = alloc_zero(1, sizeof *l);
    *out = NULL;
    l->loading = alloc_zero(1, sizeof *l->loading);
    l->loading->source = tls_source_hold(source);
    l->timeout_ms = timeout_ms;
    l->done = done;
    l->arg = arg;
    int rc = aside_open(&l->aside, loop, &kind, l->loading, l);
    if (rc != 0) {
        free(l);
        return error_set(err, ERR_SYSTEM, "certificates cannot be read: %s", uv_strerror(rc));
    }
    uv_timer_init(loop, &l->timer);
    l->timer.data = l;
    rc = run_aside_load(l, err);
    if (rc != 0) {
        end_load(l);
        return rc;
    }
    uv_timer_start(&l->timer, on_load_timeout, timeout_ms, 0);
    *out = l;
    return 0;
}

void tls_load_cancel(struct tls_load *l)
{
    if (l && !l->finished)
        end_load(l);
}
