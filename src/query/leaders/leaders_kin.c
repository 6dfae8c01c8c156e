/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What leaders have to do with others: who has started them, who they wait for; and who waits in a
 * send to another node. */
#include "leaders_internal.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "query/who/who_terms.h"
#include "beamtop/link/conn.h"

#define NEAR_BYTES (INT64_C(8) << 20)

/* Its lists may be read. */
static bool is_small(const struct leader *l)
{
    return l->memory > 0 && l->memory < NEAR_BYTES;
}

/* Of those that are out only those stay out of which that is so; {Key, Value} is of each. */
static void keep_out(struct leaders_ask *a, const struct slice *values, const char *key,
                     bool (*is)(struct slice value))
{
    struct cursor c;
    struct slice pair;
    size_t kept = 0, n = 0;
    if (!values || !values_enter_list(values[0], &c, &n) || n != a->n_out)
        n = 0;
    for (size_t i = 0; i < n && cursor_raw(&c, &pair); i++)
        if (is(values_of_pair(pair, key)))
            a->out[kept++] = a->out[i];
    a->n_out = kept;
}

/* ---- kin */

static void show_list(struct leader_list *to, const struct leader_list *from, size_t most)
{
    for (size_t i = 0; i < from->n && i < most && to->n < LEADERS_SHOWN; i++) {
        bool has = false;
        for (size_t k = 0; k < to->n; k++)
            has |= to->of[k] == from->of[i];
        if (!has)
            to->of[to->n++] = from->of[i];
    }
}

static void choose_shown(struct leaders_ask *a)
{
    struct leaders_answer *to = &a->answer;
    to->shown.n = 0;
    show_list(&to->shown, &to->longest, to->longest.n);
    show_list(&to->shown, &to->busy, to->busy.n);
    show_list(&to->shown, &to->large, to->large.n);
    show_list(&to->shown, &to->holders, to->most);
}

/* Fails before OTP 25. */
static bool ask_parents(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    choose_shown(a);
    a->n_out = 0;
    for (size_t i = 0; i < a->answer.shown.n && a->n_out < NEAR_MOST; i++)
        if (!a->answer.shown.of[i]->is_near_known)
            a->out[a->n_out++] = a->answer.shown.of[i];
    memset(a->n_near, 0, sizeof a->n_near);
    if (a->n_out > 0)
        leaders_ask_infos(a, calls, "parent");
    return a->n_out > 0;
}

static void add_near(struct leaders_ask *a, size_t i, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct slice node;
    if (cursor_kind(&c) == ETF_KIND_PID && cursor_pid(&c, &a->near[i][0], &node) &&
        slice_is(node, conn_peer_node(a->conn)))
        a->n_near[i] = 1;
}

static void take_parents(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice each[NEAR_MOST];
    (void)n;
    for (size_t i = 0; i < a->n_out; i++)
        a->out[i]->is_near_known = true;
    if (!values || !leaders_read_each(a, values[0], each))
        return;
    for (size_t i = 0; i < a->n_out; i++) {
        add_near(a, i, values_of_pair(each[i], "parent"));
        a->out[i]->is_spawned = a->n_near[i] > 0;
    }
}

/* Links of large ones may be very many. */
static bool ask_links(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    size_t n = 0;
    for (size_t i = 0; i < a->n_out; i++) {
        if (!is_small(a->out[i]) && a->n_near[i] == 0)
            continue;
        a->near[n][0] = a->near[i][0];
        a->n_near[n] = a->n_near[i];
        a->out[n++] = a->out[i];
    }
    a->n_out = n;
    if (n > 0)
        run_add(calls, "lists", "foldl", leaders_links(conn_peer_node(a->conn), a->out, n));
    calls->heap_words = LEADERS_LISTS_WORDS;
    return n > 0;
}

static void take_links(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice each[NEAR_MOST];
    (void)n;
    if (!values || !leaders_read_each(a, values[0], each))
        return;
    for (size_t i = 0; i < a->n_out; i++)
        a->n_near[i] += leaders_read_pids(values_of_pair(each[i], "links"), conn_peer_node(a->conn),
                                          &a->near[i][a->n_near[i]], NEAR_MOST);
}

static bool ask_names(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    struct builder *item = args_of_text("registered_name");
    for (size_t i = 0; i < a->n_out; i++)
        run_add(calls, "lists", "zipwith",
                args_of_infos(conn_peer_node(a->conn), a->near[i], a->n_near[i], item));
    builder_free(item);
    return a->n_out > 0;
}

static void take_names(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice each[NEAR_MOST + 1];
    for (size_t i = 0; values && i < n; i++) {
        struct leader *l = a->out[i];
        if (!values_read_list(values[i], each, a->n_near[i]))
            continue;
        for (size_t k = 0; k < a->n_near[i] && !l->has_near; k++)
            if (values_of_pair(each[k], "registered_name").len > 0) {
                l->has_near = true;
                l->near = a->near[i][k];
                l->is_spawned &= k == 0;
            }
    }
}

/* Who those wait for that have long message queues and are in a call: the one that they monitor.
 * Of several nobody knows which. */
static bool ask_callers(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    a->n_out = 0;
    for (size_t i = 0; i < a->answer.longest.n; i++)
        if (is_small(a->answer.longest.of[i]))
            a->out[a->n_out++] = a->answer.longest.of[i];
    if (a->n_out > 0)
        leaders_ask_infos(a, calls, "current_function");
    return a->n_out > 0;
}

static bool is_calling(struct slice function)
{
    return leaders_is_in(function, "gen", "do_call");
}

static void take_callers(void *own, const struct slice *values, size_t n)
{
    (void)n;
    keep_out(own, values, "current_function", is_calling);
}

static bool ask_called(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    a->answer.n_calls = 0;
    buf_reset(&a->names);
    if (a->answer.longest.n == 0 || a->n_out == 0)
        return false;
    leaders_ask_infos(a, calls, "monitors");
    return true;
}

/* [{process, Pid | {Name, Node}}]; what it borrows is of `names`. */
static bool read_called(struct slice monitors, struct leader_call *call)
{
    struct cursor c = values_cursor(monitors);
    struct cursor_list list;
    if (monitors.len == 0 || !cursor_list(&c, &list) || list.count != 1 || list.string ||
        !cursor_tuple_of(&c, 2) || !cursor_atom_is(&c, "process"))
        return false;
    call->is_named = cursor_kind(&c) == ETF_KIND_TUPLE;
    if (!call->is_named)
        return cursor_pid(&c, &call->pid, &call->node);
    return cursor_tuple_of(&c, 2) && cursor_atom(&c, &call->name) && cursor_atom(&c, &call->node);
}

static void take_called(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice each[LEADERS_SHOWN];
    (void)n;
    if (!values)
        return;
    buf_put(&a->names, values[0].s, values[0].len);
    const struct slice kept = {(const char *)a->names.data, a->names.len};
    if (!leaders_read_each(a, kept, each))
        return;
    for (size_t i = 0; i < a->n_out && a->answer.n_calls < LEADERS_LONGEST; i++) {
        struct leader_call call = {.caller = a->out[i]};
        if (read_called(values_of_pair(each[i], "monitors"), &call))
            a->answer.calls[a->answer.n_calls++] = call;
    }
}

/* ---- senders to other nodes */

static size_t read_ports(const struct leaders_ask *a, struct slice *nodes, struct slice *ports)
{
    const struct slice connections = {(const char *)a->connections.data, a->connections.len};
    return values_read_ports(connections, nodes, ports, PORTS_MOST);
}

static bool ask_queues(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    struct slice nodes[PORTS_MOST], ports[PORTS_MOST];
    const size_t n = read_ports(a, nodes, ports);
    a->is_congested = false;
    if (n > 0)
        run_add(calls, "lists", "zipwith",
                args_of_zip("erlang", "port_info", ports, n, "queue_size"));
    return n > 0;
}

static void keep_congested(struct leaders_ask *a, const struct slice *nodes, size_t n)
{
    size_t len;
    struct builder *b = builder_new();
    build_list(b, n);
    for (size_t i = 0; i < n; i++)
        values_build(b, nodes[i]);
    build_nil(b);
    const uint8_t *term = builder_bytes(b, &len);
    buf_reset(&a->congested);
    buf_put(&a->congested, (const char *)term + 1, len - 1); /* without its version byte */
    builder_free(b);
}

/* Nodes for which data is queued behind a full socket: only then senders can be suspended. */
static void take_queues(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct slice nodes[PORTS_MOST], ports[PORTS_MOST], each[PORTS_MOST];
    const size_t n_ports = read_ports(a, nodes, ports);
    size_t kept = 0;
    int64_t bytes;
    (void)n;
    if (!values || !values_read_list(values[0], each, n_ports))
        return;
    for (size_t i = 0; i < n_ports; i++) {
        const struct slice size = values_of_pair(each[i], "queue_size");
        if (size.len > 0 && values_read_integer(size, &bytes) && bytes > 0)
            nodes[kept++] = nodes[i];
    }
    a->is_congested = kept > 0;
    if (kept > 0)
        keep_congested(a, nodes, kept);
}

static bool ask_statuses(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    a->answer.looks++;
    a->answer.suspended = 0;
    if (!a->is_congested || a->table.n == 0)
        return false;
    for (a->n_out = 0; a->n_out < a->table.n && a->n_out < ASKED_MOST; a->n_out++)
        a->out[a->n_out] = &a->table.all[a->n_out];
    leaders_ask_infos(a, calls, "status");
    return true;
}

static bool is_suspended(struct slice status)
{
    return who_term_is(status, "suspended");
}

static void take_statuses(void *own, const struct slice *values, size_t n)
{
    (void)n;
    keep_out(own, values, "status", is_suspended);
}

static bool ask_suspended(void *own, struct run_calls *calls)
{
    struct leaders_ask *a = own;
    if (!a->is_congested || a->n_out == 0)
        return false;
    leaders_ask_infos(a, calls, "current_function");
    return true;
}

static void take_suspended(void *own, const struct slice *values, size_t n)
{
    struct leaders_ask *a = own;
    struct leaders_answer *to = &a->answer;
    (void)n;
    keep_out(a, values, "current_function", leaders_is_sending);
    to->suspended = (int64_t)a->n_out;
    if (a->n_out == 0)
        return;
    to->suspended_looks++;
    to->n_senders = a->n_out < LEADERS_SENDERS ? a->n_out : LEADERS_SENDERS;
    for (size_t i = 0; i < to->n_senders; i++)
        to->senders[i] = a->out[i]->pid;
    buf_reset(&a->sender_nodes);
    buf_put(&a->sender_nodes, a->congested.data, a->congested.len);
    to->sender_nodes = (struct slice){(const char *)a->sender_nodes.data, a->sender_nodes.len};
}

/* ---- in this order */

const struct run_step leaders_kin_steps[] = {
    {.ask = ask_parents, .take = take_parents},   {.ask = ask_links, .take = take_links},
    {.ask = ask_names, .take = take_names},       {.ask = ask_callers, .take = take_callers},
    {.ask = ask_called, .take = take_called},     {.ask = ask_queues, .take = take_queues},
    {.ask = ask_statuses, .take = take_statuses}, {.ask = ask_suspended, .take = take_suspended},
};
const size_t leaders_kin_count = ARRAY_LEN(leaders_kin_steps);
