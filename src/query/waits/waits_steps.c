/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who stands in a function that waits; how each of these waits, and for which; who these are; and
 * whether they have moved since. */
#include "waits_internal.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"

#define LIST_US 20000
#define LIST_HEAP_WORDS (UINT64_C(6) << 20) /* 48 MiB: two lists of a million and more */
#define SWEEP_MS 2000                       /* it waits for who does not yield */
#define HELD_MS 500                         /* so it does for one that others wait for */
#define SWEPT_US 10                         /* each */
#define LOOKED_US 20
#define COPIED_US 100000     /* monitors or links: as many as the heap of an ask holds */
#define FAILED_US 1500000    /* a million of one process, for each ask that it was part of */
#define SPARED_MS 60000      /* as long as one with very many is not asked for them */
#define STEADY_REDUCTIONS 10 /* each read is one, a call 15 and more on every release */

void waits_init(struct waits_ask *a)
{
    a->first = 1;
    a->list = alloc_zero(WAITS_LIST_MOST, sizeof *a->list);
    a->some = alloc_zero(LIMIT_TABLE_ROWS, sizeof *a->some);
    waits_table_init(&a->table);
}

void waits_clear(struct waits_ask *a)
{
    waits_table_clear(&a->table);
    free(a->list);
    free(a->some);
}

void waits_begin(struct waits_ask *a, const char *node, uint64_t due_ms)
{
    a->node = node;
    a->due_ms = due_ms;
    const bool goes_on = a->next < a->n_list;
    a->is_still = false;
    a->part_of = PART_NONE;
    if (a->is_part || a->is_partial || goes_on)
        waits_table_again(&a->table);
    else
        waits_table_reset(&a->table);
    a->has_round |= a->is_part && !goes_on && a->n_list > 0 && a->first == 1;
    a->is_partial = goes_on && !a->has_round;
}

/* ---- all processes */

/* lists:sublist(processes(), First, WAITS_LIST_MOST); abs/1 hands numbers on. Fails beyond the
 * last. */
static bool ask_list(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    char first[40], most[40];
    if (a->next < a->n_list)
        return false;
    snprintf(first, sizeof first, "[%lld]", (long long)a->first);
    snprintf(most, sizeof most, "[%d]", WAITS_LIST_MOST);
    const struct args_call inner[] = {{"erlang", "processes", 0, "[]", NULL},
                                      {"erlang", "abs", 1, first, NULL},
                                      {"erlang", "abs", 1, most, NULL}};
    run_add(calls, "lists", "foldl", args_of_calls("lists", "sublist", 3, inner, ARRAY_LEN(inner)));
    calls->most_us = LIST_US;
    calls->heap_words = LIST_HEAP_WORDS;
    return true;
}

static void take_list(void *own, const struct slice *values, size_t n)
{
    struct waits_ask *a = own;
    struct cursor c;
    struct slice of;
    size_t count = 0;
    (void)n;
    a->n_list = a->next = 0;
    const bool ok = values && values_enter_list(values[0], &c, &count);
    a->is_partial |= !ok;
    for (size_t i = 0; ok && i < count && a->n_list < WAITS_LIST_MOST; i++)
        if (cursor_pid(&c, &a->list[a->n_list], &of) && slice_is(of, a->node))
            a->n_list++;
    a->is_part = !ok || a->first > 1 || count == WAITS_LIST_MOST;
    a->has_round &= a->is_part;
    a->first = ok && count == WAITS_LIST_MOST ? a->first + WAITS_LIST_MOST : 1;
}

/* ---- who stands in such a function */

/* The status needs no signal: so one that runs is not asked where it is, and one that does not
 * yield is not waited for. */
static bool ask_sweep(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    const bool goes_on = a->is_still && a->n_out > 0;
    if (!goes_on && (a->next == a->n_list || (a->loop && uv_now(a->loop) >= a->due_ms)))
        return false;
    if (!goes_on) {
        a->n_out = a->n_list - a->next < WAITS_SLICE ? a->n_list - a->next : WAITS_SLICE;
        memcpy(a->out, &a->list[a->next], a->n_out * sizeof *a->out);
        a->next += a->n_out;
    }
    a->is_still = goes_on;
    run_add(calls, "lists", "foldl",
            (goes_on ? waits_sweep : waits_still)(a->node, a->out, a->n_out));
    calls->most_us = SWEPT_US * (double)a->n_out;
    return true;
}

/* Leaves those in a->out of which it is true. */
static bool keep_true(struct waits_ask *a, const struct slice *values)
{
    struct cursor c;
    struct slice is;
    size_t count, n = 0;
    if (!values || !values_enter_list(values[0], &c, &count) || count != a->n_out)
        return false;
    for (size_t i = 0; i < count && cursor_raw(&c, &is); i++)
        if (who_term_is(is, "true"))
            a->out[n++] = a->out[i];
    a->n_out = n;
    return true;
}

static void take_sweep(void *own, const struct slice *values, size_t n)
{
    struct waits_ask *a = own;
    const bool is_last = a->is_still, ok = keep_true(a, values);
    (void)n;
    a->is_partial |= !ok;
    for (size_t i = 0; ok && is_last && i < a->n_out; i++)
        waits_table_add(&a->table, &a->out[i]);
    a->is_still = ok && !is_last;
}

/* ---- parts of the table */

typedef bool choose_fn(const struct waits_ask *a, const struct waiter *w);

/* Those of the table that a step is about, when it begins. */
static void begin_part(struct waits_ask *a, enum waits_part step, choose_fn *choose)
{
    size_t n = 0;
    if (a->part_of == step)
        return;
    a->part_of = step;
    for (size_t i = 0; i < a->table.n; i++)
        if (!choose || choose(a, &a->table.all[i]))
            a->some[n++] = i;
    who_span_start(&a->span, n);
}

/* The next of them. */
static bool next_part(struct waits_ask *a)
{
    for (a->n_out = 0; a->n_out < a->span.len && a->span.at + a->n_out < a->span.n; a->n_out++)
        a->out[a->n_out] = a->table.all[a->some[a->span.at + a->n_out]].pid;
    return a->n_out > 0;
}

static struct waiter *part_of(struct waits_ask *a, size_t i)
{
    return &a->table.all[a->some[a->span.at + i]];
}

static bool
ask_part(struct waits_ask *a, struct run_calls *calls, const char *module, const char *function,
         struct builder *(*args)(const char *node, const struct etf_pid *pids, size_t n))
{
    if (!next_part(a))
        return false;
    run_add(calls, module, function, args(a->node, a->out, a->n_out));
    calls->most_us = LOOKED_US * (double)a->n_out + 1000;
    return true;
}

/* ---- those that are spared */

static uint64_t now_of(const struct waits_ask *a)
{
    return a->loop ? uv_now(a->loop) : 0;
}

static const struct waits_spared *find_spared(const struct waits_ask *a, const struct etf_pid *pid,
                                              bool by_links)
{
    for (size_t i = 0; i < a->n_spared; i++)
        if (a->spared[i].by_links == by_links && pid_same(&a->spared[i].pid, pid) &&
            a->spared[i].until_ms > now_of(a))
            return &a->spared[i];
    return NULL;
}

static void spare(struct waits_ask *a, const struct etf_pid *pid, bool by_links, int64_t among)
{
    a->spared[a->next_spared] = (struct waits_spared){*pid, by_links, among, now_of(a) + SPARED_MS};
    a->next_spared = (a->next_spared + 1) % WAITS_SPARED_MOST;
    a->n_spared += a->n_spared < WAITS_SPARED_MOST;
}

/* The values of a part, each for one; where it fails, it is asked again in smaller ones. */
static bool enter_part(struct waits_ask *a, const struct slice *values, struct cursor *c)
{
    size_t count;
    const bool ok = values && values_enter_list(values[0], c, &count) && count == a->n_out;
    const bool copies = a->part_of == PART_LOOKS || a->part_of == PART_LINKS;
    if (ok || who_span_cut(&a->span))
        return ok;
    if (copies) { /* it has very many */
        spare(a, &part_of(a, 0)->pid, a->part_of == PART_LINKS, 0);
        a->failed_us += FAILED_US;
    } else {
        a->is_partial = true;
    }
    (void)who_span_pass(&a->span);
    return false;
}

typedef void take_fn(struct waits_ask *a, struct waiter *w, struct slice each);

static void take_part(struct waits_ask *a, const struct slice *values, take_fn *take)
{
    struct cursor c;
    struct slice each;
    if (!enter_part(a, values, &c))
        return;
    for (size_t i = 0; i < a->n_out && cursor_raw(&c, &each); i++)
        take(a, part_of(a, i), each);
    (void)who_span_pass(&a->span);
}

/* ---- how they wait */

static bool has_few_monitors(const struct waits_ask *a, const struct waiter *w)
{
    return !find_spared(a, &w->pid, false);
}

static bool ask_looks(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    if (a->part_of == PART_NONE)
        waits_table_sort(&a->table, false);
    begin_part(a, PART_LOOKS, has_few_monitors);
    const bool asks = ask_part(a, calls, "lists", "foldl", waits_looks);
    calls->most_us += COPIED_US;
    return asks;
}

static void take_look(struct waits_ask *a, struct waiter *w, struct slice each)
{
    struct wait_look look;
    if (!waits_read_look(each, a->node, &look))
        return;
    waits_table_take(&a->table, w, &look);
    if (look.monitors > 0)
        spare(a, &w->pid, false, look.monitors);
}

static void take_looks(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_part(own, values, take_look);
}

/* Those of very many monitors, also those of which that has just been seen: without these. */
static bool has_many_monitors(const struct waits_ask *a, const struct waiter *w)
{
    return !w->known && find_spared(a, &w->pid, false);
}

static bool ask_spared(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    begin_part(a, PART_SPARED, has_many_monitors);
    return ask_part(a, calls, "lists", "foldl", waits_spared_looks);
}

static void take_spared_look(struct waits_ask *a, struct waiter *w, struct slice each)
{
    const struct waits_spared *of = find_spared(a, &w->pid, false);
    struct wait_look look;
    if (!waits_read_look(each, a->node, &look))
        return;
    if (of && look.target.kind == FOR_NOBODY && look.place->way == WAIT_BY_MONITOR)
        look.among = of->among;
    waits_table_take(&a->table, w, &look);
}

static void take_spared(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_part(own, values, take_spared_look);
}

static bool needs_links(const struct waits_ask *a, const struct waiter *w)
{
    const bool is_of_links =
        w->look.place->way == WAIT_BY_CHILD ||
        (w->look.place->way == WAIT_BY_PORT && w->look.target.kind == FOR_NOBODY);
    return is_of_links && !find_spared(a, &w->pid, true);
}

static bool ask_linked(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    if (a->part_of == PART_SPARED)
        waits_table_sort(&a->table, true);
    begin_part(a, PART_LINKS, needs_links);
    const bool asks = ask_part(a, calls, "lists", "foldl", waits_links);
    calls->most_us += COPIED_US;
    return asks;
}

/* One that waits for its parent is not the child that this one waits for. */
struct parent {
    const struct waits_table *table;
    const struct waiter *of;
};

static bool may_be_child(void *own, const struct etf_pid *pid)
{
    const struct parent *parent = own;
    const struct waiter *child = waits_table_find(parent->table, pid);
    return !child || child->look.target.kind != FOR_PROCESS ||
           !pid_same(&child->look.target.pid, &parent->of->pid);
}

static void take_link(struct waits_ask *a, struct waiter *w, struct slice each)
{
    struct parent parent = {&a->table, w};
    if (who_term_is(each, "undefined"))
        spare(a, &w->pid, true, 0);
    waits_read_links(each, a->node, may_be_child, &parent, &w->look);
    w->look.target.name = waits_table_keep(&a->table, w->look.target.name);
}

static void take_linked(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_part(own, values, take_link);
}

/* ---- who has those names */

static bool is_named(const struct waits_ask *a, const struct waiter *w)
{
    (void)a;
    return w->look.target.kind == FOR_NAME;
}

/* lists:map(fun erlang:whereis/1, Names) */
static bool ask_named(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    begin_part(a, PART_NAMES, is_named);
    if (!next_part(a))
        return false;
    struct builder *b = builder_new();
    build_list(b, 2);
    build_export(b, "erlang", "whereis", 1);
    build_list(b, a->n_out);
    for (size_t i = 0; i < a->n_out; i++) {
        const struct slice name = part_of(a, i)->look.target.name;
        build_atom_n(b, name.s, name.len);
    }
    build_nil(b);
    build_nil(b);
    run_add(calls, "lists", "map", b);
    return true;
}

/* A name that nobody has stays one. */
static void take_name(struct waits_ask *a, struct waiter *w, struct slice each)
{
    struct cursor pid = values_cursor(each);
    struct slice of;
    if (cursor_pid(&pid, &w->look.target.pid, &of) && slice_is(of, a->node))
        w->look.target.kind = FOR_PROCESS;
}

static void take_named(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_part(own, values, take_name);
}

/* ---- who is waited for, and waits for nobody */

static void add_held(struct waits_ask *a)
{
    struct waits_table held; /* each of them once */
    waits_table_init(&held);
    for (size_t i = 0; i < a->table.n; i++) {
        const struct wait_target *target = &a->table.all[i].look.target;
        if (target->kind == FOR_PROCESS && !waits_table_find(&a->table, &target->pid))
            waits_table_add(&held, &target->pid);
    }
    waits_table_sort(&held, false);
    for (size_t i = 0; i < held.n; i++)
        waits_table_add(&a->table, &held.all[i].pid);
    waits_table_clear(&held);
    waits_table_sort(&a->table, false);
}

static bool is_held(const struct waits_ask *a, const struct waiter *w)
{
    (void)a;
    return !w->known;
}

static bool ask_held(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    if (a->part_of == PART_NAMES)
        add_held(a);
    begin_part(a, PART_HELD, is_held);
    return ask_part(a, calls, "lists", "zipwith", waits_infos);
}

static void take_info(struct waits_ask *a, struct waiter *w, struct slice each)
{
    struct wait_look look;
    if (waits_read_info(each, &look))
        waits_table_take(&a->table, w, &look);
}

/* One that does not yield makes its part late, and a smaller one would be. */
static void take_held(void *own, const struct slice *values, size_t n)
{
    struct waits_ask *a = own;
    (void)n;
    if (values) {
        take_part(a, values, take_info);
    } else {
        a->is_partial = true;
        (void)who_span_pass(&a->span);
    }
}

/* ---- who has moved since: a cycle of those that have not is one */

/* Who waits for a child waits for what is only likely to be it, and makes no deadlock. */
static bool is_chained(const struct waits_ask *a, const struct waiter *w)
{
    if (!w->look.place || w->look.target.kind != FOR_PROCESS || w->look.place->way == WAIT_BY_CHILD)
        return false;
    const struct waiter *to = waits_table_find(&a->table, &w->look.target.pid);
    return to && to->look.place;
}

static bool ask_again(void *own, struct run_calls *calls)
{
    struct waits_ask *a = own;
    if (a->part_of == PART_HELD)
        waits_table_sort(&a->table, true);
    begin_part(a, PART_AGAIN, is_chained);
    return ask_part(a, calls, "lists", "zipwith", waits_infos);
}

static void take_once_more(struct waits_ask *a, struct waiter *w, struct slice each)
{
    struct wait_look look;
    (void)a;
    w->steady = waits_read_info(each, &look) &&
                look.reductions - w->look.reductions < STEADY_REDUCTIONS &&
                slice_equal(look.function, w->look.function);
}

static void take_again(void *own, const struct slice *values, size_t n)
{
    (void)n;
    take_part(own, values, take_once_more);
}

/* ---- in this order */

const struct run_step waits_steps[] = {
    {.ask = ask_list, .take = take_list, .waits_ms = SWEEP_MS},
    {.ask = ask_sweep, .take = take_sweep, .waits_ms = SWEEP_MS, .repeats = true},
    {.ask = ask_looks, .take = take_looks, .repeats = true},
    {.ask = ask_spared, .take = take_spared, .repeats = true},
    {.ask = ask_linked, .take = take_linked, .repeats = true},
    {.ask = ask_named, .take = take_named, .repeats = true},
    {.ask = ask_held, .take = take_held, .waits_ms = HELD_MS, .repeats = true},
    {.ask = ask_again, .take = take_again, .repeats = true},
};
const size_t waits_steps_count = ARRAY_LEN(waits_steps);
