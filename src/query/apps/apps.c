/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "apps.h"

#include <stdlib.h>

#include "apps_terms.h"
#include "beamtop/base/alloc.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/link/conn.h"
#include "query/native/run.h"
#include "query/scan/own.h"

/* Of the run, and behind its two of what is ours. */
#define PLACE_RUN (NATIVE_QUESTION + 4 * QUESTION_APPS)
#define PLACE_OWN (PLACE_RUN + 2)

struct apps {
    struct apps_read read; /* the run's own: the first */
    struct query *query;
    struct native *native;
    struct run *run;
    struct own *own; /* asked where no scan has seen which are beamtops' */
    struct scan *scan;
    struct conn *conn;
    uv_loop_t *loop;
    bool large;
    bool asking, own_is_out;
    uint64_t due_ms;
};

static void fail_apps(struct apps *a, const struct error *err)
{
    a->asking = false;
    query_reply(a->query, QUESTION_APPS, NULL, run_take_us(a->run) + own_take_us(a->own), err);
}

static void send_apps(struct apps *a)
{
    struct builder *b = builder_new();
    a->read.mono_ns = run_clock_ns(a->run);
    apps_build(b, &a->read);
    a->asking = false;
    query_reply(a->query, QUESTION_APPS, b, run_take_us(a->run) + own_take_us(a->own),
                &(struct error){0}); /* which may free a */
    builder_free(b);
}

static void on_run(void *own, const struct error *err)
{
    struct apps *a = own;
    struct error failed = {0};
    if (err) {
        fail_apps(a, err);
    } else if (a->read.end == APPS_MANY) {
        a->large = true;
        a->asking = false;
        query_pass(a->query, QUESTION_APPS);
    } else if (a->read.end == APPS_FAILED) {
        error_set(&failed, ERR_TARGET, "“%s” failed on the node: its processes could not be read",
                  question_name(QUESTION_APPS));
        fail_apps(a, &failed);
    } else {
        send_apps(a);
    }
}

static int begin_apps(struct apps *a, struct error *err)
{
    return run_begin(a->run, apps_steps, APPS_STEPS, a->due_ms, on_run, a, err);
}

static void on_own(void *arg, bool ok)
{
    struct apps *a = arg;
    struct error err = {0};
    (void)ok; /* then those are left out that were known before */
    a->own_is_out = false;
    if (a->asking && begin_apps(a, &err) != 0)
        fail_apps(a, &err);
}

/* ---- interface */

/* #{}; with `ms` it is for the keeper. */
static bool take_apps(void *own, const uint8_t *arg, size_t len)
{
    struct apps *a = own;
    struct cursor c;
    size_t pairs = 1;
    cursor_init(&c, arg, len);
    if (scan_is_small(query_processes(a->query), &a->large) && cursor_map(&c, &pairs) && pairs == 0)
        return true;
    apps_clear(&a->read);
    return false;
}

static int ask_apps(void *own, unsigned deadline_ms, struct error *err)
{
    static const struct etf_pid nobody = {0};
    struct apps *a = own;
    struct scan_seen seen;
    if (a->own_is_out || native_is_out(a->native, PLACE_OWN))
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    a->due_ms = uv_now(a->loop) + deadline_ms;
    a->read.scan = scan_has_seen(a->scan, &seen) ? a->scan : NULL;
    a->read.node.creation = native_creation(a->native);
    apps_begin(&a->read, uv_now(a->loop));
    const int rc = a->read.scan ? begin_apps(a, err)
                                : own_learn(a->own, &nobody, 0, a->due_ms, on_own, a, err);
    a->asking = rc == 0;
    a->own_is_out = rc == 0 && !a->read.scan;
    return rc;
}

static void cancel_apps(void *own)
{
    struct apps *a = own;
    a->asking = false;
    run_cancel(a->run);
}

static void free_apps(void *own)
{
    struct apps *a = own;
    run_free(a->run);
    own_free(a->own);
    apps_clear(&a->read);
    free(a);
}

static bool has_own(const void *arg, const struct etf_pid *pid)
{
    const struct apps *a = arg;
    return own_has(a->own, pid);
}

struct native_way apps_way(const struct way_setup *setup)
{
    struct apps *a = alloc_zero(1, sizeof *a);
    a->query = setup->query;
    a->native = setup->native;
    a->scan = setup->scan;
    a->conn = setup->conn;
    a->loop = setup->loop;
    a->run = run_new(setup, PLACE_RUN);
    a->own = own_new(setup, PLACE_OWN);
    a->read.node.name = conn_peer_node(setup->conn);
    a->read.paid_ms = scan_paid_ms(setup->scan);
    a->read.is_own = has_own;
    a->read.own = a;
    apps_init(&a->read);
    return (struct native_way){a, take_apps, ask_apps, cancel_apps, free_apps};
}
