/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps about processes: those that stay, those that live shortly, who starts them again. */
#include <math.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "growth_calls.h"
#include "growth_internal.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/scan/scan.h"

#define ABOVE_MOST 1000 /* who have spawned, or are linked to, the youngest */
#define ALIVE_LEAST 10  /* fewer are not sampled */
#define CHURN_PER_S 90
#define YOUNG_MS 1500 /* no round of looks begins later */
/* The sleeps of a round, and what it may take beside them. */
#define LOOKS_SLEEP_US (GROWTH_TIMES * 1500.0)
#define LOOKS_US 5000
#define RESTARTS_PER_S 10
#define YOUNGEST_MOST 100
#define WATCH_MS_TEXT "[true,40]"
#define WATCH_MS 40
#define ENDS_MS_TEXT "[true,200]"
#define ENDS_MS 200
/* Of longer ones `memory` walks the queue. */
#define QUEUE_MOST 1000

static bool has_parents(const struct growth *g)
{
    return g->counts.release >= 25;
}

static const char *row_items(const struct growth *g)
{
    return has_parents(g) ? GROWTH_ITEMS_PARENT : GROWTH_ITEMS;
}

static struct builder *info_args(const struct growth *g, const char *items)
{
    struct builder *item = args_of_text(items);
    struct builder *b = args_of_infos(g->node.name, g->pids, g->n_pids, item);
    builder_free(item);
    return b;
}

/* ---- those that stay */

static bool is_foreign(const struct scan_proc *p)
{
    return p->listed && !p->own && !p->asked;
}

/* Half of them the oldest, half the youngest. */
static void cut_pids(struct growth *g, const struct scan_table *t, int64_t from, int64_t until)
{
    size_t alive = 0, at = 0;
    g->n_pids = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < t->n; i++) {
            const int64_t number = growth_number(&t->procs[i].pid, g->counts.release);
            if (!is_foreign(&t->procs[i]) || number <= from || number >= until)
                continue;
            if (pass == 0)
                alive++;
            else if (at++ < GROWTH_LOOKED / 2 || alive - at < GROWTH_LOOKED / 2)
                g->pids[g->n_pids++] = t->procs[i].pid;
        }
    }
    g->fact.processes.alive = alive;
}

bool growth_ask_sample(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    struct scan_seen seen;
    if (g->last_ms > 0 && scan_has_seen(g->scan, &seen))
        cut_pids(g, seen.table, g->old->spawned, g->last_spawned);
    if (!(g->n_pids >= ALIVE_LEAST))
        return false;
    run_add(calls, "lists", "zipwith", info_args(g, row_items(g)));
    return true;
}

void growth_take_sample(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    struct slice infos[GROWTH_LOOKED];
    const size_t alive = g->fact.processes.alive;
    (void)n;
    if (!values || !values_read_list(values[0], infos, g->n_pids))
        return;
    for (size_t i = 0; i < g->n_pids; i++) {
        struct growth_row row = {.pid = g->pids[i], .times = 1};
        if (growth_read_row(infos[i], &g->node, &row))
            growth_rows_add(&g->sample, &row);
    }
    g->fact.processes = growth_group_of(&g->sample);
    g->fact.processes.alive = alive;
}

/* ---- those that live shortly */

bool growth_ask_newest(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->fact.lately_per_s >= CHURN_PER_S))
        return false;
    g->look_ms = uv_now(g->loop);
    run_add_text(calls, "erlang", "self", "[]");
    return true;
}

static int64_t take_newest(struct growth *g, struct slice pid)
{
    struct etf_pid newest;
    if (who_read_pid(pid, &g->node, &newest))
        g->newest = growth_number(&newest, g->counts.release);
    return g->newest;
}

/* Those that are spawned until the next ask is there are gone then. */
void growth_take_newest(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    const uint64_t way_ms = uv_now(g->loop) - g->look_ms;
    (void)n;
    g->newest = 0;
    if (values)
        (void)take_newest(g, values[0]);
    g->ahead = (int64_t)(g->fact.lately_per_s * (double)way_ms / 1000);
    g->look_ms = uv_now(g->loop);
}

bool growth_ask_looks(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    const bool begins = g->rounds < GROWTH_ROUNDS && uv_now(g->loop) < g->look_ms + YOUNG_MS;
    if (g->newest == 0 || !begins)
        return false;
    const int64_t first = g->newest + 1 + g->ahead;
    for (g->n_pids = 0; g->n_pids < GROWTH_AHEAD; g->n_pids++)
        g->pids[g->n_pids] =
            growth_pid(first + (int64_t)g->n_pids, &g->counts.self, g->counts.release);
    run_add_text(calls, "erlang", "self", "[]");
    run_add(calls, "lists", "foldl",
            growth_looks_args(g->node.name, g->pids, g->n_pids, row_items(g)));
    run_add_text(calls, "erlang", "spawn", "[erlang,self,[]]"); /* the newest then */
    calls->waited_us = LOOKS_SLEEP_US;
    calls->most_us = LOOKS_US;
    return true;
}

static bool is_own(const void *native, const struct etf_pid *pid)
{
    return native_is_own(native, pid);
}

void growth_take_looks(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    (void)n;
    g->rounds++;
    if (!values) {
        g->newest = 0;
        return;
    }
    growth_read_looks(values[1], g->pids, g->n_pids, &g->node, is_own, g->native, &g->seen);
    const int64_t before = g->newest, began = take_newest(g, values[0]),
                  ended = take_newest(g, values[2]);
    g->spawned += ended > began ? (size_t)(ended - began - 1) : 0;
    g->ahead = began > before ? (began - before) / 2 : 0;
}

/* ---- who starts them again */

bool growth_ask_fresh(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->fact.lately_per_s >= RESTARTS_PER_S))
        return false;
    const struct etf_pid last = growth_pid(g->last_spawned, &g->counts.self, g->counts.release);
    struct builder *than = builder_new();
    build_pid(than, g->node.name, &last);
    run_add(calls, "lists", "foldl", growth_later_args("processes", than));
    g->n_pids = 0;
    return true;
}

void growth_take_fresh(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    (void)n;
    g->n_pids = values ? growth_read_youngest(values[0], &g->node, is_own, g->native, g->pids,
                                              YOUNGEST_MOST)
                       : 0;
}

bool growth_ask_youngest(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->fact.lately_per_s >= RESTARTS_PER_S && g->n_pids > 0))
        return false;
    if (has_parents(g))
        run_add(calls, "lists", "zipwith", info_args(g, "parent"));
    else
        run_add(calls, "lists", "foldl", growth_links_args(g->node.name, g->pids, g->n_pids));
    return true;
}

/* Others' processes that may be read. */
static void add_above(struct growth *g, struct slice term, struct etf_pid *above, size_t *n)
{
    struct scan_seen seen;
    struct etf_pid pid;
    const struct scan_proc *p;
    if (*n < ABOVE_MOST && scan_has_seen(g->scan, &seen) && who_read_pid(term, &g->node, &pid) &&
        (p = scan_table_find(seen.table, &pid)) && is_foreign(p) && p->queue <= QUEUE_MOST)
        above[(*n)++] = pid;
}

void growth_take_youngest(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    struct slice infos[YOUNGEST_MOST], pair[2];
    struct etf_pid above[ABOVE_MOST];
    size_t found = 0;
    (void)n;
    if (!values || !values_read_list(values[0], infos, g->n_pids))
        return;
    for (size_t i = 0; i < g->n_pids; i++) {
        struct cursor c = values_cursor(infos[i]);
        struct cursor_list list;
        struct slice link;
        if (values_read_tuple(infos[i], 2, pair, 2))
            add_above(g, pair[1], above, &found);
        else if (cursor_kind(&c) == ETF_KIND_LIST && cursor_list(&c, &list))
            for (size_t k = 0; k < list.count && cursor_raw(&c, &link); k++)
                add_above(g, link, above, &found);
    }
    g->n_suspects = growth_most_frequent(above, found, g->suspects);
}

bool growth_ask_suspects(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->n_suspects > 0))
        return false;
    struct builder *item = args_of_text(GROWTH_SUSPECT_ITEMS);
    run_add(calls, "lists", "zipwith",
            args_of_infos(g->node.name, g->suspects, g->n_suspects, item));
    builder_free(item);
    return true;
}

void growth_take_suspects(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    (void)n;
    g->n_suspects = values ? growth_read_suspects(values[0], g->suspects, g->n_suspects) : 0;
}

/* ---- what they do */

bool growth_ask_watch(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->n_suspects > 0))
        return false;
    g->watch_ms = uv_now(g->loop);
    for (size_t i = 0; i < GROWTH_WATCHES; i++) {
        run_add_text(calls, "erlang", "delay_trap", WATCH_MS_TEXT);
        run_add(calls, "lists", "foldl",
                growth_links_args(g->node.name, g->suspects, g->n_suspects));
    }
    calls->waited_us = GROWTH_WATCHES * (WATCH_MS + 1) * 1000.0;
    return true;
}

/* Links of one suspect at each look. */
static bool read_looks(const struct growth *g, const struct slice *values, size_t suspect,
                       struct slice looks[GROWTH_WATCHES])
{
    struct slice of[GROWTH_SUSPECTS];
    for (size_t i = 0; i < GROWTH_WATCHES; i++) {
        if (!values_read_list(values[2 * i + 1], of, g->n_suspects))
            return false;
        looks[i] = of[suspect];
    }
    return true;
}

void growth_take_watch(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    const double seconds = fmax(1, (double)(uv_now(g->loop) - g->watch_ms)) / 1000;
    (void)n;
    for (size_t i = 0; values && i < g->n_suspects; i++) {
        struct slice looks[GROWTH_WATCHES];
        struct growth_restarts is = {.supervisor = &g->suspects[i]};
        if (!read_looks(g, values, i, looks) ||
            !growth_read_restarts(looks, seconds, &g->node, &is) || is.per_s < RESTARTS_PER_S ||
            is.per_s <= g->fact.restarts.per_s)
            continue;
        g->fact.restarts = is;
        g->n_children = growth_read_children(looks[GROWTH_WATCHES - 1], &g->node, g->children,
                                             ARRAY_LEN(g->children));
    }
}

/* What ends next brings what it ended with. */
bool growth_ask_ends(void *own, struct run_calls *calls)
{
    struct growth *g = own;
    if (!(g->n_children > 0))
        return false;
    for (size_t i = 0; i < g->n_children; i++)
        run_add(calls, "erlang", "monitor", growth_monitor_args(g->node.name, &g->children[i]));
    run_add_text(calls, "erlang", "delay_trap", ENDS_MS_TEXT);
    run_add(calls, "lists", "foldl", args_of_messages());
    calls->waited_us = ENDS_MS * 1000.0;
    return true;
}

void growth_take_ends(void *own, const struct slice *values, size_t n)
{
    struct growth *g = own;
    if (values)
        growth_read_ends(values[n - 1], &g->fact.restarts);
}
