/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waits_internal.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/conn.h"
#include "query/scan/scan_table.h"
#include "query/who/who.h"
#include "query/scan/scan.h"

/* ---- ends */

static double take_us(struct waits_ask *a)
{
    const double us = run_take_us(a->run) + who_take_us(a->who) + a->failed_us;
    a->failed_us = 0;
    return us;
}

static void send_waits(struct waits_ask *a)
{
    struct builder *b = builder_new();
    const bool partial = a->is_partial || (!a->has_round && (a->is_part || a->next < a->n_list));
    waits_table_build(b, &a->table, a->who, run_clock_ns(a->run), a->node, partial);
    a->asking = false;
    query_reply(a->query, QUESTION_WAITS, b, take_us(a), &(struct error){0}); /* which may free a */
    builder_free(b);
}

static void on_named(void *own)
{
    struct waits_ask *a = own;
    a->who_is_out = false;
    if (a->asking)
        send_waits(a);
}

/* Those that are waited for before the others. */
static size_t choose_named(const struct waits_ask *a, struct etf_pid *out)
{
    const struct waits_table *t = &a->table;
    bool *const taken = alloc_zero(t->n + 1, sizeof *taken);
    size_t n = 0;
    for (size_t i = 0; i < t->n && n < WHO_MOST; i++) {
        const struct wait_target *to = &t->all[i].look.target;
        const struct waiter *w = to->kind == FOR_PROCESS ? waits_table_find(t, &to->pid) : NULL;
        if (w && !taken[w - t->all]) {
            taken[w - t->all] = true;
            out[n++] = w->pid;
        }
    }
    for (size_t i = 0; i < t->n && n < WHO_MOST; i++)
        if (!taken[i])
            out[n++] = t->all[i].pid;
    free(taken);
    return n;
}

static void on_looked(void *own, const struct error *err)
{
    struct waits_ask *a = own;
    struct error ignored = {0}; /* then names are those that are known */
    if (err) {
        a->asking = false;
        query_reply(a->query, QUESTION_WAITS, NULL, take_us(a), err);
        return;
    }
    const size_t n = choose_named(a, a->out);
    a->who_is_out = n > 0 && !who_is_known(a->who, a->out, n) &&
                    who_learn(a->who, a->out, n, on_named, a, &ignored) == 0;
    if (!a->who_is_out)
        send_waits(a);
}

/* ---- interface */

/* What scans have listed is not listed again. */
static void take_seen(struct waits_ask *a)
{
    struct scan_seen seen;
    if (!scan_has_seen(a->scan, &seen))
        return;
    a->n_list = a->next = 0;
    a->is_part = a->is_partial = a->has_round = false;
    a->first = 1;
    for (size_t i = 0; i < seen.table->n && a->n_list < WAITS_LIST_MOST; i++)
        if (seen.table->procs[i].listed && !seen.table->procs[i].own)
            a->list[a->n_list++] = seen.table->procs[i].pid;
}

static int ask_waits(void *own, unsigned deadline_ms, struct error *err)
{
    struct waits_ask *a = own;
    const uint64_t now_ms = uv_now(a->loop);
    if (a->who_is_out)
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    waits_begin(a, conn_peer_node(a->conn), now_ms + deadline_ms / 2);
    take_seen(a);
    const int rc =
        run_begin(a->run, waits_steps, waits_steps_count, now_ms + deadline_ms, on_looked, a, err);
    a->asking = rc == 0;
    return rc;
}

static void cancel_waits(void *own)
{
    struct waits_ask *a = own;
    a->asking = false;
    run_cancel(a->run);
}

static void free_waits(void *own)
{
    struct waits_ask *a = own;
    who_free(a->who);
    run_free(a->run);
    waits_clear(a);
    free(a);
}

struct native_way waits_way(const struct way_setup *setup)
{
    struct waits_ask *a = alloc_zero(1, sizeof *a);
    waits_init(a);
    a->conn = setup->conn;
    a->query = setup->query;
    a->scan = setup->scan;
    a->loop = setup->loop;
    a->run = run_new(setup, NATIVE_QUESTION + 4 * QUESTION_WAITS);
    a->who = who_new(setup, NATIVE_QUESTION + 4 * QUESTION_WAITS + 2);
    return (struct native_way){a, NULL, ask_waits, cancel_waits, free_waits};
}
