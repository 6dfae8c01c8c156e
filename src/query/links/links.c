/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is asked: a table of the node's own, its ports, and names of nodes; no other node. */
#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "links_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define LIST_US 3000
#define ITEM_US 4.0 /* at most, of one connection, on a slow machine */

/* Of sys_dist: name, state, controller, address, type, {Number of the connection, Ref}. */
#define CONNECTIONS                                                                                \
    "[sys_dist,[{{connection,'$1','$6','$2','_','$3','_','$4','_','$5','_','_','_'},[],"           \
    "[{{'$1','$2','$3','$4','$5','$6'}}]}],1001]"

static const struct {
    const char *module, *function, *args;
} facts[LINKS_FACTS] = {
    [LINKS_BUSY_LIMIT] = {"erlang", "system_info", "[dist_buf_busy_limit]"},
    [LINKS_TICK] = {"application", "get_env", "[kernel,net_ticktime]"},
    [LINKS_OVERLAP] = {"application", "get_env", "[kernel,prevent_overlapping_partitions]"},
    [LINKS_GLOBAL] = {"ets", "info", "[global_names,size]"},
    [LINKS_GROUPS] = {"ets", "info", "[pg,size]"},
};

bool links_is_other(const struct links_read *r, struct slice name)
{
    return name.len > 0 && !slice_begins(name, "beamtop") && !slice_is(name, "nonode@nohost") &&
           !slice_is(name, r->node);
}

/* ---- connections and names */

static bool ask_connections(void *own, struct run_calls *calls)
{
    const struct args_call known = {"erlang", "nodes", 1, "[known]", NULL};
    _Static_assert(LINKS_MOST == 1000, "as the texts have it");
    (void)own;
    run_add_text(calls, "ets", "select", CONNECTIONS);
    run_add(calls, "lists", "foldl", args_of_cut(known, "[[1001]]"));
    for (size_t i = 0; i < LINKS_FACTS; i++)
        run_add_text(calls, facts[i].module, facts[i].function, facts[i].args);
    calls->most_us = LIST_US;
    return true;
}

/* {net_address, Address, Host, Protocol, Family}. */
static void read_address(struct links_read *r, struct link *l, struct slice term)
{
    struct slice parts[4];
    struct buf host;
    if (!values_read_tuple(term, 5, parts, 4))
        return;
    buf_init(&host, 0);
    if (values_put_chars(&host, parts[2]))
        l->address = slice_keep(&r->arena, (struct slice){(const char *)host.data, host.len});
    buf_clear(&host);
    l->protocol = slice_keep(&r->arena, who_atom_of(parts[3]));
}

static struct link *add_link(struct links_read *r, struct slice name)
{
    struct link *l = &r->links[r->n++];
    *l = (struct link){.name = slice_keep(&r->arena, name),
                       .in_bytes = -1,
                       .out_bytes = -1,
                       .queue_bytes = -1,
                       .queue_len = -1,
                       .connection = -1};
    return l;
}

static void read_connection(struct links_read *r, struct slice row)
{
    struct slice v[6], number[1];
    if (!values_read_tuple(row, 6, v, 6) || !links_is_other(r, who_atom_of(v[0])))
        return;
    struct link *l = add_link(r, who_atom_of(v[0]));
    struct cursor controller = values_cursor(v[2]);
    l->is_connected = true;
    l->state = slice_keep(&r->arena, who_atom_of(v[1]));
    l->is_hidden = who_term_is(v[4], "hidden");
    if (cursor_kind(&controller) == ETF_KIND_PORT)
        l->port = slice_keep(&r->arena, v[2]);
    else if (cursor_kind(&controller) == ETF_KIND_PID)
        l->has_owner = cursor_pid(&controller, &l->owner, NULL);
    read_address(r, l, v[3]);
    if (values_read_tuple(v[5], 2, number, 1))
        l->connection = values_count(number[0]);
}

static int order_by_name(const void *a, const void *b)
{
    return slice_order(((const struct link *)a)->name, ((const struct link *)b)->name);
}

/* Enters a list; how many of it are read: none of another term. */
static size_t enter_most(struct links_read *r, struct slice list, struct cursor *c)
{
    size_t n;
    if (!values_enter_list(list, c, &n))
        return 0;
    r->is_cut = r->is_cut || n > LINKS_MOST;
    return n < LINKS_MOST ? n : LINKS_MOST;
}

static void take_rows(struct links_read *r, struct cursor *c, size_t n)
{
    struct slice row;
    for (size_t i = 0; i < n && cursor_raw(c, &row); i++)
        read_connection(r, row);
    qsort(r->links, r->n, sizeof *r->links, order_by_name);
    r->n_connected = r->n;
}

static void take_known(struct links_read *r, struct cursor *c, size_t n)
{
    struct slice name;
    for (size_t i = 0; i < n && cursor_raw(c, &name); i++) {
        const struct link key = {.name = who_atom_of(name)};
        if (links_is_other(r, key.name) &&
            !bsearch(&key, r->links, r->n_connected, sizeof key, order_by_name))
            add_link(r, key.name);
    }
    qsort(r->links + r->n_connected, r->n - r->n_connected, sizeof *r->links, order_by_name);
}

static void take_connections(void *own, const struct slice *values, size_t n)
{
    struct links_read *r = own;
    struct cursor connected, known;
    struct slice rows = {0};
    if (!values || n != 2 + LINKS_FACTS)
        return;
    /* {Rows, Continuation}, or '$end_of_table' */
    (void)values_read_tuple(values[0], 2, &rows, 1);
    const size_t n_rows = enter_most(r, rows, &connected);
    const size_t n_known = enter_most(r, values[1], &known);
    r->links = arena_alloc(&r->arena, (n_rows + n_known) * sizeof *r->links);
    r->out = arena_alloc(&r->arena, n_rows * sizeof(struct link *));
    take_rows(r, &connected, n_rows);
    take_known(r, &known, n_known);
    for (size_t i = 0; i < LINKS_FACTS; i++)
        r->facts[i] = slice_keep(&r->arena, values[2 + i]);
    r->is_read = true;
}

/* ---- numbers of each */

static bool ask_ports(void *own, struct run_calls *calls)
{
    struct links_read *r = own;
    struct slice ports[LINKS_MOST];
    for (size_t i = r->n_out = 0; i < r->n_connected; i++)
        if (r->links[i].port.len > 0) {
            ports[r->n_out] = r->links[i].port;
            r->out[r->n_out++] = &r->links[i];
        }
    if (r->n_out == 0)
        return false;
    run_add(calls, "lists", "zipwith",
            args_of_zip("prim_inet", "getstat", ports, r->n_out, "[recv_oct,send_oct,send_pend]"));
    calls->most_us = ITEM_US * (double)r->n_out;
    return true;
}

/* A list of one for each link that was asked about. */
static bool enter_answers(const struct links_read *r, const struct slice *values, size_t n,
                          struct cursor *c)
{
    size_t count;
    return values && n == 1 && values_enter_list(values[0], c, &count) && count == r->n_out;
}

static void take_ports(void *own, const struct slice *values, size_t n)
{
    struct links_read *r = own;
    struct cursor c;
    struct slice value;
    if (!enter_answers(r, values, n, &c))
        return;
    for (size_t i = 0; i < r->n_out && cursor_raw(&c, &value); i++) {
        const struct slice list = values_of_pair(value, "ok");
        r->out[i]->in_bytes = values_find_integer(list, "recv_oct");
        r->out[i]->out_bytes = values_find_integer(list, "send_oct");
        r->out[i]->queue_bytes = values_find_integer(list, "send_pend");
    }
}

static bool ask_controllers(void *own, struct run_calls *calls)
{
    struct links_read *r = own;
    struct etf_pid *pids = alloc_zero(LINKS_MOST, sizeof *pids);
    for (size_t i = r->n_out = 0; i < r->n_connected; i++)
        if (r->links[i].has_owner) {
            pids[r->n_out] = r->links[i].owner;
            r->out[r->n_out++] = &r->links[i];
        }
    if (r->n_out > 0) {
        struct builder *items = args_of_text("[message_queue_len]");
        run_add(calls, "lists", "zipwith", args_of_infos(r->node, pids, r->n_out, items));
        calls->most_us = ITEM_US * (double)r->n_out;
        builder_free(items);
    }
    free(pids);
    return r->n_out > 0;
}

static void take_controllers(void *own, const struct slice *values, size_t n)
{
    struct links_read *r = own;
    struct cursor c;
    struct slice value;
    if (!enter_answers(r, values, n, &c))
        return;
    for (size_t i = 0; i < r->n_out && cursor_raw(&c, &value); i++)
        r->out[i]->queue_len = values_find_integer(value, "message_queue_len");
}

/* ---- the question */

static const struct run_step steps[] = {
    {ask_connections, take_connections, 0, false},
    {ask_ports, take_ports, 0, false},
    {ask_controllers, take_controllers, 0, false},
};

static void init_links(void *read)
{
    struct links_read *r = read;
    arena_init(&r->arena);
}

static void begin_links(void *read, const struct stepped_now *now)
{
    struct links_read *r = read;
    arena_reset(&r->arena);
    memset(r->facts, 0, sizeof r->facts);
    r->node = now->node;
    r->n = r->n_connected = 0;
    r->is_read = r->is_cut = false;
}

static void clear_links(void *read)
{
    struct links_read *r = read;
    arena_clear(&r->arena);
}

const struct stepped links_question = {
    .question = QUESTION_LINKS,
    .bytes = sizeof(struct links_read),
    .forgets = true,
    .steps = steps,
    .n_steps = ARRAY_LEN(steps),
    .init = init_links,
    .begin = begin_links,
    .build = links_build,
    .clear = clear_links,
};
