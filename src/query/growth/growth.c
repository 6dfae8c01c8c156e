/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "growth_internal.h"
#include "query/native/values.h"
#include "beamtop/link/conn.h"
#include "query/scan/scan.h"

#define PROCESSES_MOST 1000

/* ---- marks */

static void free_mark(struct growth *g, struct growth_mark *mark)
{
    if (!mark || mark == g->old || mark == g->mid || mark == g->now)
        return;
    arena_clear(&mark->words.arena);
    buf_clear(&mark->newest_port);
    free(mark);
}

static void drop_mark(struct growth *g, struct growth_mark **place)
{
    struct growth_mark *mark = *place;
    *place = NULL;
    free_mark(g, mark);
}

/* Growth is since a mark of GROWTH_WINDOW_MS to twice that ago. */
static void turn_marks(struct growth *g)
{
    g->last_ms = g->now->ms;
    g->last_spawned = g->now->spawned;
    g->last_asked = g->now->asked;
    if (!g->old->has_words && g->now->has_words && !g->is_turning) {
        const struct growth_tables words = g->old->words;
        g->old->words = g->now->words;
        g->now->words = words;
        g->old->has_words = true;
    }
    if (g->is_turning && g->now != g->mid) {
        drop_mark(g, &g->old);
        g->old = g->mid;
        g->mid = g->now;
    }
    drop_mark(g, &g->now);
}

/* ---- the answer */

static void clear_answer(struct growth *g)
{
    drop_mark(g, &g->now);
    arena_clear(&g->arena);
    growth_rows_clear(&g->sample);
    growth_rows_clear(&g->seen);
    growth_rows_init(&g->sample, GROWTH_LOOKED);
    growth_rows_init(&g->seen, GROWTH_ROUNDS * GROWTH_AHEAD);
    g->counts = (struct growth_counts){0};
    g->fact = (struct growth_fact){
        .node = &g->node, .sockets = -1, .over_s = NAN, .spawned_per_s = NAN, .lately_per_s = NAN};
    g->has_failed = g->reads_tables = false;
    g->rounds = g->spawned = 0;
    g->n_pids = g->n_suspects = g->n_ports = g->n_children = 0;
}

static void send_growth(struct growth *g, const struct builder *value, const struct error *err)
{
    const double us = run_take_us(g->run) + who_take_us(g->who);
    g->asking = false;
    query_reply(g->query, QUESTION_GROWTH, value, us, err); /* which may free g */
}

static void fail_growth(struct growth *g)
{
    struct error err = {0};
    if (g->is_large) {
        g->asking = false;
        query_pass(g->query, QUESTION_GROWTH);
        return;
    }
    native_explain(&(struct native_answer){.end = NATIVE_RETURNED}, question_name(QUESTION_GROWTH),
                   &err);
    send_growth(g, NULL, &err);
}

/* Of those that were seen in the last while; the newest first. */
static void keep_young(struct growth *g)
{
    struct growth_rows young;
    growth_rows_init(&young, GROWTH_LOOKED);
    growth_add_brief(&g->seen, (double)g->spawned, &young);
    for (size_t i = 0; i < young.n; i++)
        young.all[i].ms = g->now->ms;
    for (size_t i = 0; i < g->young.n; i++)
        if (g->now->ms - g->young.all[i].ms < GROWTH_WINDOW_MS)
            growth_rows_add(&young, &g->young.all[i]);
    growth_rows_clear(&g->young);
    g->young = young;
}

static const struct who_entry *find_who(const void *arg, const struct etf_pid *pid)
{
    return who_find(arg, pid);
}

static void finish_answer(struct growth *g)
{
    struct growth_fact *f = &g->fact;
    struct builder *b = builder_new();
    f->who = find_who;
    f->who_arg = g->who;
    f->mono_ns = run_clock_ns(g->run);
    f->word_bytes = g->counts.word_bytes;
    f->over_s = (double)(g->now->ms - g->old->ms) / 1000;
    f->ets.tables = g->counts.tables;
    if (!g->reads_tables)
        f->ets.measured = f->ets.tables;
    f->modules = g->counts.modules;
    growth_build(b, f);
    turn_marks(g);
    send_growth(g, b, &(struct error){0});
    builder_free(b);
}

/* ---- who they are */

static void add_pid(struct growth *g, const struct etf_pid *pid)
{
    if (pid && g->n_pids < ARRAY_LEN(g->pids))
        g->pids[g->n_pids++] = *pid;
}

static void add_owner(struct growth *g, struct slice owner)
{
    struct etf_pid pid;
    if (owner.len > 0 && who_read_pid(owner, &g->node, &pid))
        add_pid(g, &pid);
}

static void collect_pids(struct growth *g)
{
    const struct growth_fact *f = &g->fact;
    g->n_pids = 0;
    add_pid(g, f->processes.example);
    add_pid(g, f->processes.spawner);
    add_pid(g, f->brief.example);
    add_pid(g, f->brief.spawner);
    for (size_t i = 0; i < g->n_suspects; i++)
        add_pid(g, &g->suspects[i]);
    for (size_t i = 0; i < f->ets.n_growing; i++)
        add_owner(g, f->ets.growing[i].owner);
    add_owner(g, f->ets.made.owner);
    add_owner(g, f->owners.owner);
    add_owner(g, f->ports.owner);
}

static void begin_phase(struct growth *g);

static void on_learned(void *arg)
{
    struct growth *g = arg;
    g->who_is_out = false;
    if (g->asking)
        begin_phase(g);
}

/* false: there is nothing to wait for. */
static bool learn_who(struct growth *g, const struct etf_pid *pids, size_t n)
{
    struct error ignored = {0};
    if (n == 0 || who_is_known(g->who, pids, n))
        return false;
    g->who_is_out = who_learn(g->who, pids, n, on_learned, g, &ignored) == 0;
    return g->who_is_out;
}

/* ---- phases */

static void keep_supervisors(struct growth *g)
{
    const struct who_node *node = who_learned_node(g->who);
    size_t n = 0;
    for (size_t i = 0; i < g->n_suspects; i++) {
        const struct who_entry *who = who_find(g->who, &g->suspects[i]);
        if (node && who && growth_is_supervisor(who->call, node->way == WHO_BY_KEYS))
            g->suspects[n++] = g->suspects[i];
    }
    g->n_suspects = n;
}

static void on_run(void *own, const struct error *err)
{
    struct growth *g = own;
    if (err)
        send_growth(g, NULL, err);
    else if (g->has_failed)
        fail_growth(g);
    else
        begin_phase(g);
}

static bool begin_run(struct growth *g, int run, struct error *err)
{
    return run_begin(g->run, growth_runs[run].steps, growth_runs[run].n, g->due_ms, on_run, g,
                     err) == 0;
}

static bool begin_names(struct growth *g)
{
    keep_young(g);
    g->fact.brief = growth_group_of(&g->young);
    collect_pids(g);
    return learn_who(g, g->pids, g->n_pids);
}

static void begin_phase(struct growth *g)
{
    struct error ignored = {0};
    bool waits = false;
    while (!waits && g->phase < PHASE_END)
        switch (g->phase++) {
        case PHASE_COUNTS:
            waits = begin_run(g, RUN_STEPS, &ignored);
            break;
        case PHASE_SUSPECTS:
            waits = learn_who(g, g->suspects, g->n_suspects);
            break;
        case PHASE_WATCH:
            keep_supervisors(g);
            waits = g->n_suspects > 0 && begin_run(g, RUN_WATCH, &ignored);
            break;
        case PHASE_NAMES:
            waits = begin_names(g);
            break;
        case PHASE_END:
            break;
        }
    if (!waits)
        finish_answer(g);
}

/* ---- interface */

static bool take_growth(void *own, const uint8_t *arg, size_t len)
{
    const struct growth *g = own;
    const int64_t processes = query_processes(g->query);
    struct scan_seen seen;
    (void)arg;
    (void)len;
    return !g->is_large && processes >= 0 && processes <= PROCESSES_MOST &&
           (scan_has_seen(g->scan, &seen) || !query_keeper(g->query));
}

static int ask_growth(void *own, unsigned deadline_ms, struct error *err)
{
    struct growth *g = own;
    if (g->who_is_out)
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    const uint64_t now = uv_now(g->loop);
    clear_answer(g);
    g->node =
        (struct who_node){.name = conn_peer_node(g->conn), .creation = native_creation(g->native)};
    g->is_turning = !g->mid || now - g->mid->ms >= GROWTH_WINDOW_MS;
    g->due_ms = now + deadline_ms;
    g->phase = PHASE_COUNTS;
    g->asking = begin_run(g, RUN_COUNTS, err);
    return g->asking ? 0 : (int)err->code;
}

static void cancel_growth(void *own)
{
    struct growth *g = own;
    run_cancel(g->run);
    g->asking = false;
}

static void free_growth(void *own)
{
    struct growth *g = own;
    clear_answer(g);
    drop_mark(g, &g->old);
    drop_mark(g, &g->mid);
    growth_rows_clear(&g->sample);
    growth_rows_clear(&g->seen);
    growth_rows_clear(&g->young);
    run_free(g->run);
    who_free(g->who);
    free(g);
}

struct native_way growth_way(const struct way_setup *setup)
{
    struct growth *g = alloc_zero(1, sizeof *g);
    g->query = setup->query;
    g->native = setup->native;
    g->scan = setup->scan;
    g->conn = setup->conn;
    g->loop = setup->loop;
    arena_init(&g->arena);
    growth_rows_init(&g->young, 1);
    g->run = run_new(setup, NATIVE_GROWTH);
    g->who = who_new(setup, NATIVE_GROWTH_WHO);
    return (struct native_way){g, take_growth, ask_growth, cancel_growth, free_growth};
}
