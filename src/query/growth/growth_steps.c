/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps of the native asks: counts, and what they have grown by. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "growth_calls.h"
#include "growth_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"

#define WAITS_MS 500
#define FIXED_MS 10 /* until each scheduler has sent its bytes */
#define LATE_MS 1   /* a timer fires so late */
#define FIXED_MS_TEXT "[true,10]"
#define ETS_BYTES 65536 /* tables that grow by less are left out */
#define SOCKETS_GROWN 25
#define SOCKETS_MOST 10000
#define ATOMS_MOST (INT64_C(1) << 24) /* what is beyond has no name in this form */

static struct slice keep_term(struct growth *g, struct slice term)
{
    return term.len > 0 ? slice_keep(&g->arena, term) : (struct slice){0};
}

/* ---- counts */

static bool ask_counts(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    run_add_text(calls, "erlang", "self", "[]");
    run_add_text(calls, "erlang", "system_info", "[otp_release]");
    run_add_text(calls, "erlang", "system_info", "[wordsize]");
    run_add_text(calls, "erlang", "system_info", "[atom_count]");
    run_add_text(calls, "erlang", "system_info", "[ets_count]");
    run_add_text(calls, "erlang", "system_info", "[port_count]");
    run_add(calls, "lists", "foldl", growth_modules_args());
    run_add_text(calls, "erlang", "function_exported", "[socket,number_of,0]");
    if (g->is_turning)
        run_add(calls, "lists", "foldl", growth_newest_port_args());
    return true;
}

static struct growth_mark *make_mark(struct growth *g)
{
    const struct growth_counts *c = &g->counts;
    struct growth_mark *mark = alloc_zero(1, sizeof *mark);
    *mark = (struct growth_mark){.ms = uv_now(g->loop),
                                 .spawned = growth_number(&c->self, c->release),
                                 .asked = native_asked(g->native),
                                 .atoms = c->atoms,
                                 .tables = c->tables,
                                 .ports = c->ports,
                                 .modules = c->modules,
                                 .ets_bytes = -1,
                                 .sockets = -1};
    arena_init(&mark->words.arena);
    buf_init(&mark->newest_port, 0);
    buf_put(&mark->newest_port, c->newest_port.s, c->newest_port.len);
    return mark;
}

/* Without our asks. */
static double spawned_per_s(const struct growth_mark *now, int64_t spawned, unsigned asked,
                            uint64_t ms)
{
    if (now->spawned < spawned || now->ms <= ms)
        return NAN;
    const double others = (double)(now->spawned - spawned) - (double)(now->asked - asked);
    return fmax(others, 0) * 1000 / (double)(now->ms - ms);
}

static void take_counts(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    if (!values || !growth_read_counts(values, n, &g->node, &g->counts)) {
        g->has_failed = true;
        return;
    }
    g->is_large = g->counts.tables > GROWTH_TABLES;
    g->has_failed = g->is_large;
    g->now = make_mark(g);
    g->counts.newest_port = (struct slice){0};
    if (!g->old)
        g->old = g->mid = g->now;
    g->fact.spawned_per_s = spawned_per_s(g->now, g->old->spawned, g->old->asked, g->old->ms);
    if (g->last_ms > 0)
        g->fact.lately_per_s = spawned_per_s(g->now, g->last_spawned, g->last_asked, g->last_ms);
    g->fact.new_ports = g->now->ports > g->old->ports ? g->now->ports - g->old->ports : 0;
    g->fact.new_modules = g->now->modules > g->old->modules ? g->now->modules - g->old->modules : 0;
}

/* ---- bytes */

static bool ask_bytes(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    run_add(calls, "erlang", "system_info", growth_fixed_args(g->node.name, g->node.creation));
    run_add_text(calls, "erlang", "memory", "[ets]");
    run_add_text(calls, "erlang", "system_info", "[schedulers]");
    run_add_text(calls, "erlang", "delay_trap", FIXED_MS_TEXT);
    run_add(calls, "lists", "foldl", args_of_messages());
    calls->waited_us = (FIXED_MS + LATE_MS) * 1000.0;
    return true;
}

static void take_bytes(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    int64_t schedulers;
    (void)n;
    if (!values)
        return;
    if (!values_read_integer(values[1], &g->now->ets_bytes))
        g->now->ets_bytes = -1;
    if (g->counts.word_bytes == 8 && values_read_integer(values[2], &schedulers))
        g->fact.kept = growth_read_kept(values[4], schedulers);
}

/* ---- tables */

static bool tables_have_grown(const struct growth *g)
{
    const struct growth_mark *now = g->now, *old = g->old;
    return !old->has_words || now->tables > old->tables ||
           (now->ets_bytes >= 0 && now->ets_bytes > old->ets_bytes + ETS_BYTES);
}

static bool ask_tables(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->is_turning || tables_have_grown(g)))
        return false;
    g->reads_tables = true;
    run_add(calls, "lists", "foldl", growth_tables_args());
    return true;
}

static void take_tables(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    (void)n;
    if (!values || !growth_read_tables(values[0], &g->now->words))
        g->now->words.n = 0;
}

/* Of a table whose counters are spread over schedulers it waits for them. */
static bool ask_words(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    struct slice ids[GROWTH_TABLES];
    const struct growth_tables *t = &g->now->words;
    for (size_t i = 0; i < t->n; i++)
        ids[i] = t->all[i].id;
    if (!g->reads_tables || t->n == 0)
        return false;
    run_add(calls, "lists", "zipwith", args_of_zip("ets", "info", ids, t->n, "memory"));
    const size_t named = growth_named_tables(t, ids);
    run_add(calls, "lists", "zipwith", args_of_zip("ets", "info", ids, named, "id"));
    return true;
}

static void take_words(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    g->now->has_words = values && growth_take_words(&g->now->words, values[0]);
    if (g->now->has_words && n == 2)
        growth_take_tids(&g->now->words, values[1]);
}

#define GROWN_CALLS 4

static void add_grown(struct run_calls *calls, const struct growth_table *table)
{
    struct cursor c = values_cursor(table->id);
    run_add(calls, "ets", "info", growth_term_args(table->id, "name"));
    run_add(calls, "ets", "info", growth_term_args(table->id, "owner"));
    run_add(calls, "ets", "info", growth_term_args(table->id, "size"));
    if (cursor_kind(&c) == ETF_KIND_REF)
        run_add(calls, "erlang", "ref_to_list", growth_term_args(table->id, NULL));
    else
        run_add_text(calls, "erlang", "hd", "[[undefined]]");
}

static bool ask_grown(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    struct growth_ets *e = &g->fact.ets;
    const bool compares = g->now->has_words && g->old->has_words;
    e->known = g->reads_tables ? compares : g->now->ets_bytes >= 0;
    if (compares)
        growth_compare_tables(&g->now->words, &g->old->words, e);
    if (!(e->n_growing + e->n_sampled > 0))
        return false;
    for (size_t i = 0; i < e->n_growing; i++)
        add_grown(calls, e->growing[i].table);
    run_add(calls, "lists", "zipwith",
            args_of_zip("ets", "info", e->new_ids, e->n_sampled, "name"));
    run_add(calls, "lists", "zipwith",
            args_of_zip("ets", "info", e->new_ids, e->n_sampled, "owner"));
    return true;
}

static void take_most(struct growth *g, struct slice names, struct slice owners,
                      struct growth_most *out)
{
    growth_read_most(names, owners, out);
    out->name = keep_term(g, out->name);
    out->owner = keep_term(g, out->owner);
}

static void take_grown(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    struct growth_ets *e = &g->fact.ets;
    (void)n;
    for (size_t i = 0; values && i < e->n_growing; i++) {
        const struct slice *of = values + i * GROWN_CALLS;
        struct growth_grown *grown = &e->growing[i];
        if (who_term_is(of[1], "undefined"))
            continue; /* it is gone */
        grown->name = keep_term(g, of[0]);
        grown->owner = keep_term(g, of[1]);
        grown->objects = keep_term(g, of[2]);
        grown->id = keep_term(g, of[3]);
    }
    if (!values)
        return;
    values += e->n_growing * GROWN_CALLS;
    take_most(g, values[0], values[1], &e->made);
}

/* ---- sockets */

static bool ask_sockets(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->counts.has_sockets))
        return false;
    run_add_text(calls, "socket", "number_of", "[]");
    return true;
}

static void take_sockets(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    int64_t count;
    (void)n;
    if (values && values_read_integer(values[0], &count) && count >= 0)
        g->now->sockets = count;
}

static bool ask_owners(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!g->counts.has_sockets)
        g->now->sockets = 0;
    if (g->now->sockets >= 0 && g->old->sockets >= 0) {
        g->fact.sockets = g->now->sockets;
        g->fact.sockets_grown = g->now->sockets - g->old->sockets;
    }
    if (!(g->fact.sockets_grown >= SOCKETS_GROWN && g->fact.sockets <= SOCKETS_MOST))
        return false;
    run_add(calls, "lists", "foldl", growth_socket_owners_args());
    return true;
}

static void take_owners(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    struct growth_fact *f = &g->fact;
    (void)n;
    if (!values)
        return;
    take_most(g, values[0], values[0], &f->owners);
}

/* ---- atoms */

static bool ask_atoms(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    int64_t places[GROWTH_NAMES], n = 0;
    const int64_t old = g->old->atoms, grown = g->now->atoms - old;
    for (int64_t i = 0; i < GROWTH_NAMES; i++)
        if (old + grown * i / GROWTH_NAMES < ATOMS_MOST)
            places[n++] = old + grown * i / GROWTH_NAMES;
    if (!(grown >= GROWTH_NAMES && n > 0))
        return false;
    run_add(calls, "lists", "map", growth_atoms_args(places, (size_t)n));
    return true;
}

static void take_atoms(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    (void)n;
    if (values)
        g->fact.has_atoms = growth_read_texts(keep_term(g, values[0]), &g->fact.atoms);
}

/* ---- ports, code */

static bool ask_ports(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->fact.new_ports > 0 && g->old->newest_port.len > 0))
        return false;
    struct builder *newest = builder_new();
    build_raw(newest, g->old->newest_port.data, g->old->newest_port.len);
    run_add(calls, "lists", "foldl", growth_later_args("ports", newest));
    return true;
}

/* Of a list: as many as there are. */
static size_t keep_terms(struct growth *g, struct slice list, struct slice *out, int64_t most)
{
    struct cursor c;
    struct slice term;
    size_t count;
    int64_t n = 0;
    if (!values_enter_list(list, &c, &count))
        return 0;
    while (n < (int64_t)count && n < most && cursor_raw(&c, &term))
        out[n++] = keep_term(g, term);
    return (size_t)n;
}

static void take_ports(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    (void)n;
    if (!values)
        return;
    g->n_ports = keep_terms(g, values[0], g->ports, GROWTH_LOOKED);
    if (g->n_ports < GROWTH_LOOKED)
        g->fact.new_ports = (int64_t)g->n_ports;
}

static bool ask_names(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->n_ports > 0))
        return false;
    run_add(calls, "lists", "zipwith",
            args_of_zip("erlang", "port_info", g->ports, g->n_ports, "name"));
    run_add(calls, "lists", "zipwith",
            args_of_zip("erlang", "port_info", g->ports, g->n_ports, "connected"));
    return true;
}

static void take_names(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    struct growth_fact *f = &g->fact;
    (void)n;
    if (!values)
        return;
    take_most(g, values[0], values[1], &f->ports);
}

static bool ask_code(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->fact.new_modules > 0))
        return false;
    run_add(calls, "lists", "foldl", growth_newest_modules_args());
    return true;
}

static void take_code(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    const int64_t new = g->fact.new_modules;
    (void)n;
    if (values)
        g->fact.n_new_names = keep_terms(g, values[0], g->fact.new_names,
                                         new < GROWTH_EXAMPLES ? new : GROWTH_EXAMPLES);
}

static const struct run_step count_steps[] = {{ask_counts, take_counts, 0, false}};
static const struct run_step steps[] = {
    {ask_bytes, take_bytes, WAITS_MS, false},
    {ask_tables, take_tables, WAITS_MS, false},
    {ask_words, take_words, WAITS_MS, false},
    {ask_grown, take_grown, WAITS_MS, false},
    {ask_sockets, take_sockets, WAITS_MS, false},
    {ask_owners, take_owners, WAITS_MS, false},
    {ask_atoms, take_atoms, 0, false},
    {ask_ports, take_ports, 0, false},
    {ask_names, take_names, 0, false},
    {ask_code, take_code, 0, false},
    {growth_ask_sample, growth_take_sample, 0, false},
    {growth_ask_newest, growth_take_newest, 0, false},
    {growth_ask_looks, growth_take_looks, 0, true},
    {growth_ask_fresh, growth_take_fresh, 0, false},
    {growth_ask_youngest, growth_take_youngest, 0, false},
    {growth_ask_suspects, growth_take_suspects, 0, false},
};
static const struct run_step watch_steps[] = {
    {growth_ask_watch, growth_take_watch, 0, false},
    {growth_ask_ends, growth_take_ends, 0, false},
};

const struct growth_run growth_runs[] = {{count_steps, ARRAY_LEN(count_steps)},
                                         {steps, ARRAY_LEN(steps)},
                                         {watch_steps, ARRAY_LEN(watch_steps)}};
