/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sockets of the module `socket`. A call with one that was collected as garbage fails, so they are
 * listed and read in one call. */
#include <stdio.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "ports_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/who/who_terms.h"

#define SOCKETS_MOST 20000
#define SOCKET_SLICE 1000
#define FEW 100
#define LIST_US 5000
#define SOCKET_US 30.0

/* Specifications: each as it is; of socket:info/1 what is needed, OTP 23 says `ctrl`. */
#define ALL "[{'$1',[],['$1']}]"
#define KEYS(owner)                                                                                \
    "{#{" owner " => '$1', domain => '$2', type => '$3', protocol => '$4', num_writers => '$5', "  \
    "num_acceptors => '$6', counters => #{read_byte => '$7', write_byte => '$8', read_pkg => "     \
    "'$9', write_pkg => '$10'}}, [], "                                                             \
    "[{{'$1','$2','$3','$4','$5','$6','$7','$8','$9','$10'}}]}"
#define INFO "[" KEYS("owner") "," KEYS("ctrl") ",{'_',[],[[]]}]"

static struct args_call call_composed(struct builder *composed)
{
    return (struct args_call){"lists", "foldl", 3, NULL, composed};
}

#define SOCKET_READS 4

/* lists:sublist(socket:which_sockets(), From, SOCKET_SLICE) */
static struct builder *slice_args(size_t from)
{
    char text[32];
    snprintf(text, sizeof text, "[%zu]", from);
    const struct args_call inner[] = {{"socket", "which_sockets", 0, "[]", NULL},
                                      {"erlang", "abs", 1, text, NULL},
                                      {"erlang", "abs", 1, "[1000]", NULL}};
    _Static_assert(SOCKET_SLICE == 1000, "as the text has it");
    return args_of_calls("lists", "sublist", 3, inner, ARRAY_LEN(inner));
}

/* Of hd/1, which hands [fun M:F/1, …] on. */
static struct builder *reads_args(void)
{
    static const char *const reads[SOCKET_READS][2] = {{"erlang", "tuple_to_list"},
                                                       {"socket", "info"},
                                                       {"socket", "sockname"},
                                                       {"socket", "peername"}};
    struct builder *b = builder_new();
    build_list(b, 1);
    build_list(b, 1);
    build_list(b, SOCKET_READS);
    for (size_t i = 0; i < SOCKET_READS; i++)
        build_export(b, reads[i][0], reads[i][1], 1);
    build_nil(b);
    build_nil(b);
    build_nil(b);
    return b;
}

/* [fun ets:match_spec_compile/1, [Specification of each read]] */
static struct builder *specifications_args(void)
{
    struct builder *b = builder_new();
    build_list(b, 2);
    build_export(b, "ets", "match_spec_compile", 1);
    args_build_text(b,
                    "[" ALL ",[" KEYS("owner") "," KEYS("ctrl") ",{'_',[],[[]]}]," ALL "," ALL "]");
    build_nil(b);
    return b;
}

/* What each read says of each: all of zipwith(fun lists:map/2, Reads, duplicate(4, Sockets)), by
 * zipwith(fun ets:match_spec_run/2, …, Specifications). */
static struct builder *sockets_args(size_t from)
{
    const struct args_call copies[] = {{"erlang", "abs", 1, "[4]", NULL},
                                       call_composed(slice_args(from))};
    const struct args_call reads[] = {
        args_fun_call("lists", "map", 2),
        {"erlang", "hd", 1, NULL, reads_args()},
        call_composed(args_of_calls("lists", "duplicate", 2, copies, ARRAY_LEN(copies)))};
    const struct args_call all[] = {
        args_fun_call("ets", "match_spec_run", 2),
        call_composed(args_of_calls("lists", "zipwith", 3, reads, ARRAY_LEN(reads))),
        {"lists", "map", 2, NULL, specifications_args()}};
    _Static_assert(SOCKET_READS == 4, "as the text has it");
    return args_of_calls("lists", "zipwith", 3, all, ARRAY_LEN(all));
}

/* The process that has the list may be busy. */
bool ports_ask_sockets(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    const bool asks = r->socket_is_loaded && r->slices > 0;
    if (asks)
        run_add(calls, "lists", "foldl", sockets_args(r->sockets_from));
    calls->most_us = LIST_US + SOCKET_US * SOCKET_SLICE;
    return asks;
}

static void go_on_socket(struct ports_read *r, size_t count)
{
    r->slices--;
    r->sockets_from += SOCKET_SLICE;
    if (count == SOCKET_SLICE && r->sockets_from < SOCKETS_MOST)
        return;
    r->is_cut = r->is_cut || count == SOCKET_SLICE;
    port_table_drop_sockets(&r->table, r->round);
    r->round = r->look + 1;
    r->sockets_from = 1;
    r->slices = 0;
    r->has_round = true;
}

void ports_take_sockets(void *own, const struct slice *values, size_t n)
{
    struct ports_read *r = own;
    struct slice reads[SOCKET_READS], terms[SOCKET_SLICE];
    struct cursor c;
    size_t count;
    (void)n;
    r->n_out = 0;
    if (!values || !values_read_list(values[0], reads, SOCKET_READS) ||
        !values_enter_list(reads[0], &c, &count) || count > SOCKET_SLICE) {
        r->slices = 0;
        r->is_cut = true;
        return;
    }
    while (r->n_out < count && cursor_raw(&c, &terms[r->n_out]))
        r->n_out++;
    port_table_add_sockets(&r->table, terms, r->n_out, r->out);
    ports_begin_looks(r);
    ports_take_each(r, reads[1], ports_take_socket);
    ports_take_each(r, reads[2], ports_take_local);
    ports_take_each(r, reads[3], ports_take_remote);
    go_on_socket(r, count);
}

/* ---- sockets of the answer: a few at a time, since one that was collected as garbage fails the
 * ask, and nothing is known of the others */

static bool is_old(const struct port *p)
{
    return p->is_socket && p->is_old;
}

/* match_spec_run(map(fun socket:info/1, Sockets), Specification) */
bool ports_ask_infos(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    if (!r->socket_is_loaded || ports_choose_rows(r, FEW, is_old) == 0)
        return false;
    calls->most_us = SOCKET_US * (double)r->n_out;
    struct builder *infos = ports_build_terms(r, "socket", "info", 1);
    build_nil(infos);
    ports_begin_looks(r);
    const struct args_call inner[] = {{"lists", "map", 2, NULL, infos},
                                      {"ets", "match_spec_compile", 1, "[" INFO "]", NULL}};
    run_add(calls, "lists", "foldl",
            args_of_calls("ets", "match_spec_run", 2, inner, ARRAY_LEN(inner)));
    return true;
}

void ports_take_infos(void *own, const struct slice *values, size_t n)
{
    (void)n;
    if (values)
        ports_take_each(own, values[0], ports_take_socket);
}

static bool has_socket_kernel(const struct port *p)
{
    return p->is_socket && p->kind == PORT_TCP && !p->is_local;
}

/* lists:zipwith3(fun socket:getopt_native/3, Sockets, [{6, 11}, …], [60, …]): it fails where one of
 * them has gone; then nothing is known of the others. */
bool ports_ask_socket_kernel(void *own, struct run_calls *calls)
{
    struct ports_read *r = own;
    if (!r->has_native_options || ports_choose_rows(r, FEW, has_socket_kernel) == 0)
        return false;
    calls->most_us = SOCKET_US * (double)r->n_out;
    struct builder *b = ports_build_terms(r, "socket", "getopt_native", 3);
    ports_build_same(b, "{6,11}", r->n_out);
    ports_build_same(b, "60", r->n_out);
    build_nil(b);
    run_add(calls, "lists", "zipwith3", b);
    return true;
}

void ports_take_kernel(void *own, const struct slice *values, size_t n)
{
    (void)n;
    if (values)
        ports_take_each(own, values[0], ports_take_tcp);
}
