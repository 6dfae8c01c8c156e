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
    unsigned timeout_ms;
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

static void finish_load(struct tls_load *l, struct tls_context *context, const struct error *err)
{
    tls_load_fn *const done = l->done;
    void *const arg = l->arg;
    tls_load_cancel(l);
    done(arg, context, err);
}

static void on_loaded(void *arg)
{
    struct tls_load *l = arg;
    const struct error err = l->loading->err;
    finish_load(l, tls_context_hold(l->loading->context), &err);
}

static void on_load_late(void *arg)
{
    struct tls_load *l = arg;
    struct error err = {0};
    error_set(&err, ERR_TIMEOUT,
              "the files of certificates were not read within %.1f s: probably their file system "
              "does not answer. Put them on a local one",
              l->timeout_ms / 1000.0);
    finish_load(l, NULL, &err);
}

static int run_aside_load(struct tls_load *l, struct error *err)
{
    int rc = 0;
    if (atomic_fetch_add(&loads_running, 1) >= LIMIT_TLS_LOADS)
        rc = error_set(err, ERR_LIMIT,
                       "%d files of certificates are being read and have not come: probably their "
                       "file system does not answer. Put them on a local one",
                       LIMIT_TLS_LOADS);
    const int none = rc == 0 ? aside_run_within(l->aside, l->timeout_ms) : 0;
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
        .run = run_loading, .done = on_loaded, .late = on_load_late, .release = release_loading};
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
    rc = run_aside_load(l, err);
    if (rc != 0)
        tls_load_cancel(l);
    else
        *out = l;
    return rc;
}

void tls_load_cancel(struct tls_load *l)
{
    if (!l)
        return;
    aside_close(l->aside);
    free(l);
}
