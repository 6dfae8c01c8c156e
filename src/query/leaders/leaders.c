/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "leaders_internal.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/link/conn.h"
#include "query/scan/scan.h"

/* ---- ends */

static void send_leaders(struct leaders_ask *a)
{
    struct builder *b = builder_new();
    a->answer.mono_ns = run_clock_ns(a->run);
    a->answer.node = conn_peer_node(a->conn);
    a->answer.table = &a->table;
    a->answer.who = a->who;
    leaders_build(b, &a->answer);
    a->asking = false;
    query_reply(a->query, QUESTION_LEADERS, b, run_take_us(a->run) + who_take_us(a->who),
                &(struct error){0}); /* which may free a */
    builder_free(b);
}

static void on_who(void *own)
{
    struct leaders_ask *a = own;
    a->who_is_out = false;
    if (a->asking)
        send_leaders(a);
}

/* ---- who they are */

struct pid_list {
    struct etf_pid of[WHO_MOST];
    size_t n;
};

static void add_pid(struct pid_list *to, const struct etf_pid *pid)
{
    for (size_t i = 0; i < to->n; i++)
        if (pid_same(&to->of[i], pid))
            return;
    if (to->n < ARRAY_LEN(to->of))
        to->of[to->n++] = *pid;
}

static void add_leaders(struct pid_list *to, const struct leader_list *from)
{
    for (size_t i = 0; i < from->n; i++) {
        add_pid(to, &from->of[i]->pid);
        if (from->of[i]->has_near)
            add_pid(to, &from->of[i]->near);
    }
}

static void find_named_leaders(const struct leaders_ask *a, struct pid_list *to)
{
    const struct leaders_answer *of = &a->answer;
    add_leaders(to, &of->shown);
    add_leaders(to, &of->holders);
    add_leaders(to, &of->tied);
    for (size_t i = 0; i < of->n_senders; i++)
        if (leaders_table_find(&a->table, &of->senders[i]))
            add_pid(to, &of->senders[i]);
    for (size_t i = 0; i < of->n_calls; i++)
        if (!of->calls[i].is_named && slice_is(of->calls[i].node, conn_peer_node(a->conn)))
            add_pid(to, &of->calls[i].pid);
}

static void on_run(void *own, const struct error *err)
{
    struct leaders_ask *a = own;
    struct error ignored = {0}; /* then names are those that are known */
    struct pid_list *named = alloc_zero(1, sizeof *named);
    if (err) {
        a->asking = false;
        query_reply(a->query, QUESTION_LEADERS, NULL, run_take_us(a->run), err);
        free(named);
        return;
    }
    find_named_leaders(a, named);
    a->who_is_out = named->n > 0 && !who_is_known(a->who, named->of, named->n) &&
                    who_learn(a->who, named->of, named->n, on_who, a, &ignored) == 0;
    free(named);
    if (!a->who_is_out)
        send_leaders(a);
}

/* ---- interface */

/* #{most => N, first => true}: what is wanted soon of a large node is not of a small one. */
static bool take_leaders_argument(void *own, const uint8_t *arg, size_t len)
{
    struct leaders_ask *a = own;
    struct scan_seen seen;
    struct cursor c;
    struct slice key;
    size_t pairs = 0;
    int64_t most = LEADERS_LONGEST;
    cursor_init(&c, arg, len);
    bool ok = cursor_map(&c, &pairs);
    for (size_t i = 0; ok && i < pairs; i++) {
        ok = cursor_atom(&c, &key) && !slice_is(key, "first");
        ok = ok && (slice_is(key, "most") ? cursor_int64(&c, &most) : cursor_skip(&c));
    }
    a->answer.most = most > 0 && most < LEADERS_LONGEST ? (size_t)most : LEADERS_LONGEST;
    return ok && scan_has_seen(a->scan, &seen);
}

static int ask_leaders(void *own, unsigned deadline_ms, struct error *err)
{
    struct leaders_ask *a = own;
    struct scan_seen seen;
    if (a->who_is_out)
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    (void)scan_has_seen(a->scan, &seen);
    leaders_table_merge(&a->table, seen.table, uv_now(a->loop));
    a->answer.reductions = seen.reductions;
    a->answer.of_ended = seen.of_ended;
    a->answers++;
    a->next = 0;
    a->is_heavy = false;
    leaders_choose_busy(a);
    const int rc = run_begin(a->run, a->steps, leaders_look_count + leaders_kin_count,
                             uv_now(a->loop) + deadline_ms, on_run, a, err);
    a->asking = rc == 0;
    return rc;
}

static void cancel_leaders(void *own)
{
    struct leaders_ask *a = own;
    a->asking = false;
    run_cancel(a->run);
}

static void free_leaders(void *own)
{
    struct leaders_ask *a = own;
    who_free(a->who);
    run_free(a->run);
    leaders_table_clear(&a->table);
    buf_clear(&a->connections);
    buf_clear(&a->congested);
    buf_clear(&a->sender_nodes);
    buf_clear(&a->names);
    free(a);
}

struct native_way leaders_way(const struct way_setup *setup)
{
    struct leaders_ask *a = alloc_zero(1, sizeof *a);
    a->query = setup->query;
    a->scan = setup->scan;
    a->conn = setup->conn;
    a->loop = setup->loop;
    a->run = run_new(setup, NATIVE_LEADERS);
    a->who = who_new(setup, NATIVE_LEADERS_WHO);
    memcpy(a->steps, leaders_look_steps, leaders_look_count * sizeof *a->steps);
    memcpy(a->steps + leaders_look_count, leaders_kin_steps, leaders_kin_count * sizeof *a->steps);
    buf_init(&a->connections, 0);
    buf_init(&a->congested, 0);
    buf_init(&a->sender_nodes, 0);
    buf_init(&a->names, 0);
    return (struct native_way){a, take_leaders_argument, ask_leaders, cancel_leaders, free_leaders};
}
