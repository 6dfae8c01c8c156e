/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "own.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "beamtop/link/conn.h"
#include "query/native/price.h"
#include "query/native/native.h"

/* Keepers, what they started, what that started. */
enum { LEVEL_KEEPER, LEVEL_CHILD, LEVEL_LAST };

/* Some 15 of a beamtop; one with a trace on a large node has some hundred. */
#define MEMBERS_MOST 8192
#define ROUNDS_MOST 5
#define NODES_MOST (LIMIT_NAME_POOL + 1)
#define PREFIX "beamtop"

struct member {
    struct etf_pid pid;
    int level;
    bool asked; /* for its links, in the round that is out */
};

struct members {
    struct member *all;
    size_t n;
};

struct own {
    struct query *query;
    const struct price *price;
    struct native *native;
    unsigned place;
    struct conn *conn;
    uv_loop_t *loop;
    char nodes[NODES_MOST][LIMIT_NODE_NAME_BYTES + 1]; /* ours, and those of other beamtops */
    size_t n_nodes, asked_nodes;
    struct members known;
    struct etf_pid *news; /* in the first round */
    bool *asked;
    size_t n_news;
    unsigned rounds;
    uint64_t due_ms;
    double us;
    own_fn *fn;
    void *arg;
};

/* ---- asking: one batch, which cannot fail */

static struct builder *node_arguments(const char *table, const char *node)
{
    struct builder *b = builder_new();
    build_list(b, table ? 2 : 1);
    if (table)
        build_atom(b, table);
    build_atom(b, node);
    build_nil(b);
    return b;
}

static struct builder *leaders_arguments(const char *node, const struct etf_pid *pids, size_t n)
{
    struct builder *item = builder_new();
    build_atom(item, "group_leader");
    struct builder *b = args_of_infos(node, pids, n, item);
    builder_free(item);
    return b;
}

/* Clock, hidden nodes, group leaders of news, connection and keeper of each node, links of those
 * whose level asks for them, clock. */
static void make_round(struct own *o, struct native_call *call)
{
    const size_t most = 4 + 2 * o->n_nodes + o->known.n;
    struct native_step *steps = alloc_zero(most, sizeof *steps);
    struct builder **args = alloc_zero(most, sizeof *args);
    size_t n = 0;
    steps[n++] = (struct native_step)NATIVE_CLOCK;
    steps[n++] = (struct native_step){"erlang", "nodes", "[hidden]", NULL};
    args[n] = leaders_arguments(conn_peer_node(o->conn), o->news, o->rounds == 0 ? o->n_news : 0);
    steps[n] = (struct native_step){"lists", "zipwith", NULL, args[n]};
    n++;
    for (size_t i = 0; i < o->n_nodes; i++) {
        args[n] = node_arguments("sys_dist", o->nodes[i]);
        steps[n] = (struct native_step){"ets", "lookup", NULL, args[n]};
        n++;
        args[n] = node_arguments(NULL, o->nodes[i]);
        steps[n] = (struct native_step){"erlang", "whereis", NULL, args[n]};
        n++;
    }
    o->asked_nodes = o->n_nodes;
    for (size_t i = 0; i < o->known.n; i++) {
        struct member *m = &o->known.all[i];
        m->asked = m->level < LEVEL_LAST;
        if (!m->asked)
            continue;
        args[n] = args_of_info(conn_peer_node(o->conn), &m->pid, "links");
        steps[n] = (struct native_step){"erlang", "process_info", NULL, args[n]};
        n++;
    }
    steps[n++] = (struct native_step)NATIVE_CLOCK;
    native_batch_init(call, steps, n, !native_has_erpc(o->native));
    call->priority = "high";
    for (size_t i = 0; i < n; i++)
        builder_free(args[i]);
    free(args);
    free(steps);
}

static void on_round(void *arg, const struct native_answer *answer);

static int ask_round(struct own *o, struct error *err)
{
    struct native_call call;
    const uint64_t now = uv_now(o->loop);
    make_round(o, &call);
    const int rc = native_ask(o->native, o->place, &call, now, native_left_ms(o->due_ms, now),
                              on_round, o, err);
    native_call_clear(&call);
    query_arm(o->query);
    o->rounds++;
    return rc;
}

/* ---- what comes */

static struct member *find_member(const struct members *set, const struct etf_pid *pid)
{
    for (size_t i = 0; i < set->n; i++)
        if (pid_same(&set->all[i].pid, pid))
            return &set->all[i];
    return NULL;
}

static void add_member(struct members *set, const struct etf_pid *pid, int level)
{
    struct member *m = find_member(set, pid);
    if (m) {
        m->level = level < m->level ? level : m->level;
    } else if (set->n < MEMBERS_MOST) {
        set->all = alloc_grow(set->all, set->n, sizeof *set->all);
        set->all[set->n++] = (struct member){.pid = *pid, .level = level};
    }
}

/* One of this node; others are ports, or remote. */
static bool read_local(struct cursor *c, const char *peer, struct etf_pid *pid)
{
    struct slice node;
    if (cursor_kind(c) != ETF_KIND_PID) {
        cursor_skip(c);
        return false;
    }
    return cursor_pid(c, pid, &node) && slice_is(node, peer);
}

static void take_node(struct own *o, struct slice name)
{
    if (!slice_begins(name, PREFIX) || name.len > LIMIT_NODE_NAME_BYTES ||
        o->n_nodes == NODES_MOST || slice_is(name, conn_own_node(o->conn)))
        return;
    memcpy(o->nodes[o->n_nodes], name.s, name.len);
    o->nodes[o->n_nodes++][name.len] = '\0';
}

static bool take_nodes(struct own *o, struct cursor *c)
{
    struct cursor_list list;
    struct slice name;
    if (!cursor_list(c, &list) || list.string)
        return false;
    o->n_nodes = 0;
    memcpy(o->nodes[o->n_nodes++], conn_own_node(o->conn), strlen(conn_own_node(o->conn)) + 1);
    for (size_t i = 0; i < list.count; i++) {
        if (!cursor_atom(c, &name))
            return false;
        take_node(o, name);
    }
    return cursor_list_end(c, &list);
}

/* The process of an ask has the pid of its asker for its group leader. */
static bool take_leaders(struct own *o, struct cursor *c)
{
    struct cursor_list list;
    struct etf_pid pid;
    struct slice node;
    if (!cursor_list(c, &list) || list.string ||
        (list.count > 0 && (list.count != o->n_news || o->rounds != 1)))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (cursor_peek_atom(c, "undefined")) {
            cursor_skip(c);
            continue;
        }
        if (!cursor_tuple_of(c, 2) || !cursor_atom_is(c, "group_leader") ||
            !cursor_pid(c, &pid, &node))
            return false;
        o->asked[i] = slice_begins(node, PREFIX) && !slice_is(node, conn_peer_node(o->conn));
    }
    return cursor_list_end(c, &list);
}

/* [{connection, Node, Id, State, Owner, …}] of net_kernel's table, or []; Owner holds it. */
static bool take_connection(struct own *o, struct cursor *c, struct members *to)
{
    struct cursor_list list;
    struct cursor row;
    struct etf_pid pid;
    size_t arity = 0;
    if (!cursor_list(c, &list) || list.string)
        return false;
    for (size_t i = 0; i < list.count && cursor_apart(c, &row); i++)
        if (cursor_tuple(&row, &arity) && arity > 4 && cursor_skip(&row) && cursor_skip(&row) &&
            cursor_skip(&row) && cursor_skip(&row) &&
            read_local(&row, conn_peer_node(o->conn), &pid))
            add_member(to, &pid, LEVEL_LAST);
    return cursor_list_end(c, &list);
}

/* {links, List}; undefined: it has ended. */
static bool take_links(struct own *o, struct cursor *c, struct members *to, int level)
{
    struct cursor_list list;
    struct etf_pid pid;
    if (cursor_peek_atom(c, "undefined"))
        return cursor_skip(c);
    if (!cursor_tuple_of(c, 2) || !cursor_atom_is(c, "links") || !cursor_list(c, &list) ||
        list.string || list.count > MEMBERS_MOST)
        return false;
    for (size_t i = 0; i < list.count && !cursor_failed(c); i++)
        if (read_local(c, conn_peer_node(o->conn), &pid))
            add_member(to, &pid, level);
    return cursor_list_end(c, &list);
}

/* What is as far from a keeper as it was asked for, of those that are still there. */
static bool take_round(struct own *o, struct slice value, struct members *to)
{
    struct cursor c = values_cursor(value);
    struct cursor_list list;
    struct etf_pid pid;
    int64_t began = 0, ended = 0;
    const size_t asked = o->asked_nodes;
    if (value.len == 0 || !cursor_list(&c, &list) || list.string || !cursor_int64(&c, &began) ||
        !take_nodes(o, &c) || !take_leaders(o, &c))
        return false;
    for (size_t i = 0; i < asked; i++) {
        if (!take_connection(o, &c, to))
            return false;
        if (cursor_kind(&c) == ETF_KIND_PID) {
            if (read_local(&c, conn_peer_node(o->conn), &pid))
                add_member(to, &pid, LEVEL_KEEPER);
        } else if (!cursor_skip(&c)) {
            return false;
        }
    }
    for (int level = LEVEL_KEEPER; level < LEVEL_LAST; level++) {
        struct cursor again = c;
        for (size_t i = 0; i < o->known.n; i++) {
            const struct member *m = &o->known.all[i], *now = find_member(to, &m->pid);
            if (!m->asked)
                continue;
            if (now && now->level == level ? !take_links(o, &again, to, level + 1)
                                           : !cursor_skip(&again))
                return false;
        }
        if (level == LEVEL_LAST - 1)
            c = again;
    }
    if (!cursor_int64(&c, &ended))
        return false;
    if (native_pid(o->native, NATIVE_FLAG))
        add_member(to, native_pid(o->native, NATIVE_FLAG), LEVEL_LAST);
    o->us += price_of_ask(o->price, values_between_us(began, ended));
    return true;
}

/* Whether there is one, or a node, that was not asked about. */
static bool has_news(const struct own *o, const struct members *now)
{
    for (size_t i = 0; i < now->n; i++) {
        const struct member *m = find_member(&o->known, &now->all[i].pid);
        if (now->all[i].level < LEVEL_LAST && (!m || !m->asked))
            return true;
    }
    return o->n_nodes > o->asked_nodes;
}

static void on_round(void *arg, const struct native_answer *answer)
{
    struct own *o = arg;
    struct members now = {0};
    struct error ignored = {0}; /* of a lost connection */
    const bool ok = answer->end == NATIVE_RETURNED && take_round(o, answer->value, &now);
    const bool again = ok && has_news(o, &now) && o->rounds < ROUNDS_MOST;
    if (ok) {
        free(o->known.all);
        o->known = now;
    } else {
        free(now.all);
    }
    if (!again || ask_round(o, &ignored) != 0)
        o->fn(o->arg, ok);
}

/* ---- interface */

static void forget_news(struct own *o)
{
    free(o->news);
    free(o->asked);
    o->news = NULL;
    o->asked = NULL;
    o->n_news = 0;
}

int own_learn(struct own *o, const struct etf_pid *news, size_t n, uint64_t due_ms, own_fn *fn,
              void *arg, struct error *err)
{
    forget_news(o);
    o->n_news = n;
    o->news = alloc_zero(n + 1, sizeof *o->news);
    o->asked = alloc_zero(n + 1, sizeof *o->asked);
    memcpy(o->news, news, n * sizeof *news);
    o->fn = fn;
    o->arg = arg;
    o->rounds = 0;
    o->due_ms = due_ms;
    if (o->n_nodes == 0) {
        const char *node = conn_own_node(o->conn);
        memcpy(o->nodes[o->n_nodes++], node, strlen(node) + 1);
    }
    return ask_round(o, err);
}

bool own_is_asked(const struct own *o, size_t i)
{
    return i < o->n_news && o->asked[i];
}

bool own_has(const struct own *o, const struct etf_pid *pid)
{
    return find_member(&o->known, pid) || native_is_own(o->native, pid);
}

size_t own_count(const struct own *o)
{
    return o->known.n;
}

double own_take_us(struct own *o)
{
    const double us = o->us;
    o->us = 0;
    return us;
}

struct own *own_new(const struct way_setup *setup, unsigned place)
{
    struct own *o = alloc_zero(1, sizeof *o);
    o->query = setup->query;
    o->price = setup->price;
    o->native = setup->native;
    o->place = place;
    o->conn = setup->conn;
    o->loop = setup->loop;
    return o;
}

void own_free(struct own *o)
{
    if (!o)
        return;
    forget_news(o);
    free(o->known.all);
    free(o);
}
