/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ports.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "ports_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define PORTS_MOST 60000
#define SLICE 4000 /* of one ask */
#define PART 2000  /* of many, that are read beside those that are shown */
#define SLICES 2   /* of sockets */
#define WAITS_MS 500
#define LIST_US 5000

/* ---- the list */

static bool ask_all_ports(void *own, struct run_calls *calls)
{
    const struct args_call inner[] = {{"erlang", "ports", 0, "[]", NULL},
                                      {"erlang", "hd", 1, "[[60001]]", NULL}};
    _Static_assert(PORTS_MOST == 60000, "as the text has it");
    (void)own;
    run_add(calls, "lists", "foldl", args_of_calls("lists", "sublist", 2, inner, ARRAY_LEN(inner)));
    run_add_text(calls, "erlang", "system_info", "[dist_ctrl]");
    run_add_text(calls, "erlang", "function_exported", "[socket,which_sockets,0]");
    run_add_text(calls, "erlang", "function_exported", "[socket,getopt_native,3]");
    calls->most_us = LIST_US;
    return true;
}

/* [{Node, Port}]; a connection by TLS has a process, and its port is one like others. */
static void take_node_links(struct ports_read *r, struct slice list)
{
    struct cursor c;
    struct slice link, parts[2];
    size_t n, known = 0;
    buf_reset(&r->links);
    buf_put(&r->links, list.s, list.len);
    for (size_t i = 0; i < r->table.n_ports; i++)
        r->table.ports[i].link = 0;
    if (!values_enter_list((struct slice){(const char *)r->links.data, r->links.len}, &c, &n))
        return;
    for (size_t i = 0; i < n && known < PORTS_LINKS && cursor_raw(&c, &link); i++) {
        struct port *p =
            values_read_tuple(link, 2, parts, 2) ? port_table_find(&r->table, parts[1]) : NULL;
        if (p) {
            r->nodes[known++] = parts[0];
            p->link = known;
        }
    }
}

static void take_all_ports(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    struct cursor c;
    size_t count = 0;
    (void)n;
    r->is_cut = !values || !port_table_list(&r->table, values[0], PORTS_MOST);
    if (!values)
        return;
    r->is_cut = r->is_cut || (values_enter_list(values[0], &c, &count) && count > PORTS_MOST);
    take_node_links(r, values[1]);
    r->socket_is_loaded = who_term_is(values[2], "true");
    r->has_native_options = who_term_is(values[3], "true");
    r->has_round = r->has_round || !r->socket_is_loaded;
}

/* ---- all ports: what is cheap */

static bool ask_port_sweep(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    for (r->n_out = 0; r->at < r->table.n_ports && r->n_out < SLICE; r->at++)
        if (!r->table.ports[r->at].is_gone)
            r->out[r->n_out++] = &r->table.ports[r->at];
    if (r->n_out == 0) {
        r->at = 0;
        return false;
    }
    ports_add_zip(r, calls, "erlang", "port_info", "queue_size");
    ports_add_zip(r, calls, "erlang", "port_info", "output");
    return true;
}

static void take_sweep(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    (void)n;
    if (!values)
        return;
    ports_take_each(r, values[0], ports_take_queue);
    ports_take_each(r, values[1], ports_take_output);
}

/* ---- those that lead, and a part of the others: what is not */

static bool is_in_part(const struct ports_read *r, const struct port *p)
{
    const size_t parts = r->table.n_ports / PART + 1;
    return p->key[1] % parts == r->look % parts;
}

/* What was not read by this question yet. */
static void mark_members(struct ports_read *r)
{
    r->n_rows = port_table_rank(&r->table, 0, r->rows, PORTS_ROWS);
    for (size_t i = 0; i < r->table.n_sockets; i++)
        r->table.sockets[i].is_old = false;
    for (size_t i = 0; i < r->table.n_ports; i++)
        r->table.ports[i].is_old =
            is_in_part(r, &r->table.ports[i]) && r->table.ports[i].look != r->look;
    for (size_t i = 0; i < r->n_rows; i++)
        r->rows[i]->is_old = r->rows[i]->look != r->look;
}

static size_t choose_old(struct ports_read *r, bool (*wants)(const struct port *p))
{
    r->n_out = 0;
    for (size_t i = 0; i < r->table.n_ports && r->n_out < SLICE; i++) {
        struct port *p = &r->table.ports[i];
        if (p->is_old && !p->is_gone && wants(p))
            r->out[r->n_out++] = p;
    }
    return r->n_out;
}

static bool has_no_name(const struct port *p)
{
    return p->kind == PORT_UNREAD;
}

static bool ask_port_names(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    mark_members(r);
    if (choose_old(r, has_no_name) == 0)
        return false;
    ports_add_zip(r, calls, "erlang", "port_info", "name");
    return true;
}

static void take_port_names(void *own, const struct slice *values, size_t n)
{
    (void)n;
    if (values)
        ports_take_each(own, values[0], ports_take_name);
}

static bool ask_counts(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    if (choose_old(r, ports_is_inet) == 0)
        return false;
    ports_begin_looks(r);
    ports_add_zip(r, calls, "prim_inet", "getstat", "[recv_oct,send_oct,recv_cnt,send_cnt]");
    ports_add_each(r, calls, "prim_inet", "getstatus");
    ports_add_zip(r, calls, "erlang", "port_info", "connected");
    return true;
}

static void take_counts(void *own, const struct slice *values, size_t n)
{
    (void)n;
    if (!values)
        return;
    ports_take_each(own, values[0], ports_take_counts);
    ports_take_each(own, values[1], ports_take_flags);
    ports_take_each(own, values[2], ports_take_owner);
}

/* What the kernel says of a connection: the first 60 bytes of struct tcp_info of Linux. */
static bool has_kernel(const struct port *p)
{
    return ports_is_inet(p) && p->kind == PORT_TCP && !p->is_local;
}

static bool ask_kernel(void *own, struct run_calls *calls)
{
    if (choose_old(own, has_kernel) == 0)
        return false;
    ports_add_zip(own, calls, "prim_inet", "getopts", "[{raw,6,11,60}]");
    return true;
}

static bool is_plain(const struct port *p)
{
    return !ports_is_inet(p);
}

static bool ask_plain(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    if (choose_old(r, is_plain) == 0)
        return false;
    ports_begin_looks(r);
    ports_add_zip(r, calls, "erlang", "port_info", "input");
    ports_add_zip(r, calls, "erlang", "port_info", "os_pid");
    ports_add_zip(r, calls, "erlang", "port_info", "connected");
    return true;
}

static void take_plain(void *own, const struct slice *values, size_t n)
{
    (void)n;
    if (!values)
        return;
    ports_take_each(own, values[0], ports_take_input);
    ports_take_each(own, values[1], ports_take_os_pid);
    ports_take_each(own, values[2], ports_take_owner);
}

/* ---- all */

/* Of a large node those that lead by then are read after the others. */
static const struct run_step ports_steps[] = {
    {ask_all_ports, take_all_ports, 0, false},
    {ask_port_sweep, take_sweep, 0, true},
    {ports_ask_sockets, ports_take_sockets, WAITS_MS, true},
    {ask_port_names, take_port_names, 0, false},
    {ask_counts, take_counts, 0, false},
    {ask_kernel, ports_take_kernel, 0, false},
    {ask_plain, take_plain, 0, false},
    {ask_port_names, take_port_names, 0, false},
    {ask_counts, take_counts, 0, false},
    {ask_kernel, ports_take_kernel, 0, false},
    {ask_plain, take_plain, 0, false},
    {ports_ask_infos, ports_take_infos, 0, true},
    {ports_ask_addresses, ports_take_addresses, 0, false},
    {ports_ask_socket_kernel, ports_take_kernel, 0, true},
    {ports_ask_monitors, ports_take_monitors, 0, false},
    {ports_ask_processes, ports_take_processes, 0, false},
    {ports_ask_statuses, ports_take_statuses, 0, false},
    {ports_ask_functions, ports_take_functions, WAITS_MS, false},
};

static void init_ports(void *read)
{
    struct ports_read *r = read;
    port_table_init(&r->table);
    r->sockets_from = 1;
    r->round = 1;
    r->out = alloc_zero(SLICE, sizeof(struct port *));
    buf_init(&r->links, 0);
}

static void begin_ports(void *read, const struct stepped_now *now)
{
    struct ports_read *r = read;
    r->node = now->node;
    r->now_ms = now->ms;
    r->look++;
    r->at = r->n_rows = r->n_held = 0;
    r->slices = SLICES;
    r->is_cut = false;
}

static void clear_ports(void *read)
{
    struct ports_read *r = read;
    port_table_clear(&r->table);
    buf_clear(&r->links);
    free(r->out);
}

const struct stepped ports_question = {
    .question = QUESTION_PORTS,
    .bytes = sizeof(struct ports_read),
    .steps = ports_steps,
    .n_steps = ARRAY_LEN(ports_steps),
    .init = init_ports,
    .begin = begin_ports,
    .whom = ports_whom,
    .build = ports_build,
    .clear = clear_ports,
};
