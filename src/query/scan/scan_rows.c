/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan_internal.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "scan_walks.h"
#include "beamtop/link/conn.h"
#include "query/native/price.h"

/* What is shown of one that has not moved, such as its status. */
#define INFO_EVERY_MS 15000

/* The most that one takes on a slow machine; what it walks is SLOW_NS of all at most. */
#define INFO_US 20

/* ---- the answer */

/* Ours say who they are on OTP 26.2 and later, and what holds a connection does not. */
static struct who_entry find_who(const void *arg, const struct scan_proc *p)
{
    static const char own_call[] = "\x68\x03\x77\x07"
                                   "beamtop\x77\x06keeper\x61\x00";
    const struct scan *s = arg;
    const struct who_entry *e = who_find(s->who, &p->pid);
    struct who_entry who = e ? *e : (struct who_entry){0};
    if (p->own)
        who.call = (struct slice){own_call, sizeof own_call - 1};
    return who;
}

static struct scan_rank rank_of(const struct scan *s)
{
    struct scan_rank rank = s->ask.rank;
    rank.first = !s->had_sweep || s->by_queue != rank.by_queue;
    return rank;
}

static size_t count_own(const struct scan *s)
{
    size_t n = own_count(s->own);
    for (size_t i = 0; i < s->table.n; i++) {
        const struct scan_proc *p = &s->table.procs[i];
        n += p->asked && p->listed && !own_has(s->own, &p->pid);
    }
    return n;
}

static void finish_scan(struct scan *s)
{
    const struct scan_rank rank = rank_of(s);
    const struct scan_answer answer = {
        .ask = &s->ask,
        .node = conn_peer_node(s->conn),
        .rank = rank,
        .mono_ns = s->swept_ns,
        .interval_ns = rank.first ? 0 : s->swept_ns - s->before_ns,
        .sweep_us = s->sweep_us,
        .total = (int64_t)scan_table_count(&s->table),
        .passing = (int64_t)scan_table_passing(&s->table),
        .filter = &s->filter,
        .own = (int64_t)count_own(s),
        .rows = s->rows,
        .n_rows = s->n_rows,
        .watched = s->watched,
        .n_watched = s->n_watched,
        .now_ms = uv_now(s->loop),
        .who = find_who,
        .who_arg = s,
    };
    struct builder *b = builder_new();
    scan_build(b, &answer);
    scan_forget_rows(s);
    scan_count_work(s);
    s->listed -= scan_count_ended(s);
    scan_table_drop(&s->table);
    s->had_sweep = true;
    s->by_queue = rank.by_queue;
    scan_send(s, b, &(struct error){0});
    builder_free(b);
}

/* ---- the rows */

static void ask_ranked(struct scan *s);

/* With a filter twice: all is known that it looks at, then all that rows show. */
static void close_one(struct scan *s)
{
    if (--s->open > 0 || !s->asking)
        return;
    if (s->is_ranked)
        finish_scan(s);
    else
        ask_ranked(s);
}

static void on_who(void *arg)
{
    struct scan *s = arg;
    s->who_is_out = false;
    if (s->asking && s->waits_for_who)
        close_one(s);
}

static void take_info(struct scan *s, const struct native_answer *answer, struct scan_set *set,
                      bool spared)
{
    struct scan_clock clock;
    if (!s->asking)
        return;
    if (answer->end != NATIVE_RETURNED ||
        !scan_read_info(answer->value, &clock, spared, set->procs, set->n, uv_now(s->loop))) {
        scan_fail_answer(s, answer);
        return;
    }
    for (size_t i = 0; i < set->n && !spared && s->ask.walks; i++)
        scan_walk_suspect(set->procs[i]);
    scan_add_price(s, &clock, set->n, INFO_US);
    close_one(s);
}

static void on_info(void *arg, const struct native_answer *answer)
{
    struct scan *s = arg;
    take_info(s, answer, &s->out, false);
}

static void on_spared(void *arg, const struct native_answer *answer)
{
    struct scan *s = arg;
    take_info(s, answer, &s->spared, true);
}

static void on_walks(void *arg, const struct native_answer *answer)
{
    struct scan *s = arg;
    double us;
    if (!s->asking)
        return;
    if (answer->end != NATIVE_RETURNED ||
        !scan_walk_read(answer->value, s->walked.procs, s->walked.n, uv_now(s->loop), &us)) {
        scan_fail_answer(s, answer);
        return;
    }
    s->us += price_of_ask(s->price, 0) + us;
    close_one(s);
}

static bool has_row(struct scan_proc *const *rows, size_t n, const struct scan_proc *p)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i] == p)
            return true;
    return false;
}

/* Those that are there, and are not among the rows yet, behind them. */
static size_t add_pids(const struct scan *s, struct scan_proc **rows, size_t n,
                       const struct etf_pid *pids, size_t n_pids, bool among_rows)
{
    for (size_t i = 0; i < n_pids; i++) {
        struct scan_proc *p = scan_table_find(&s->table, &pids[i]);
        if (p && p->listed && p->known && !has_row(rows, n, p) &&
            !(among_rows && has_row(s->rows, s->n_rows, p)))
            rows[n++] = p;
    }
    return n;
}

static void rank_rows(struct scan *s)
{
    const struct scan_rank rank = rank_of(s);
    scan_forget_rows(s);
    s->rows = alloc_zero(s->table.n + 1, sizeof *s->rows);
    s->watched = alloc_zero(s->table.n + 1, sizeof *s->watched);
    s->n_rows = scan_table_rank(&s->table, &rank, s->ask.own, s->rows, s->ask.rows);
    s->n_rows = add_pids(s, s->rows, s->n_rows, s->ask.pids, s->ask.n_pids, false);
    s->n_watched = add_pids(s, s->watched, 0, s->ask.watch, s->ask.n_watch, true);
}

static bool is_old(const struct scan *s, const struct scan_proc *p)
{
    return p->info.len == 0 || p->stale || uv_now(s->loop) - p->info_ms >= INFO_EVERY_MS;
}

/* Those whose items have changed, or may have. */
static void choose_info(struct scan *s)
{
    const size_t most = s->n_rows + s->n_watched;
    scan_set_make(&s->out, most);
    scan_set_make(&s->spared, most);
    scan_set_make(&s->walked, most);
    int64_t walks_ns = 0;
    for (size_t i = 0; s->ask.wants_info && i < most; i++) {
        struct scan_proc *p = i < s->n_rows ? s->rows[i] : s->watched[i - s->n_rows];
        const bool reads = is_old(s, p);
        const bool slow = s->ask.walks && scan_walk_is_slow(p, reads ? &walks_ns : NULL);
        if (slow && scan_walk_has_turn(p, &s->paid_ms, uv_now(s->loop)))
            s->walked.procs[s->walked.n++] = p;
        if (!reads)
            continue;
        struct scan_set *set = slow ? &s->spared : &s->out;
        set->procs[set->n++] = p;
    }
}

static int ask_set(struct scan *s, unsigned place, const struct scan_set *set, native_fn *fn,
                   struct error *err)
{
    const char *node = conn_peer_node(s->conn);
    const bool sure = !native_has_erpc(s->native);
    struct native_call call;
    if (set->n == 0)
        return 0;
    if (place == NATIVE_WALKS)
        scan_walk_call(&call, node, set->procs, set->n, sure);
    else
        scan_call_info(&call, node, &s->ask, place == NATIVE_SPARED, set->procs, set->n, sure);
    s->open++;
    return scan_ask_call(s, place, &call, fn, err);
}

static int ask_info(struct scan *s, struct error *err)
{
    choose_info(s);
    int rc = ask_set(s, NATIVE_WALKS, &s->walked, on_walks, err);
    if (rc == 0)
        rc = ask_set(s, NATIVE_INFO, &s->out, on_info, err);
    if (rc == 0)
        rc = ask_set(s, NATIVE_SPARED, &s->spared, on_spared, err);
    return rc;
}

static int ask_who(struct scan *s, struct error *err)
{
    size_t n = 0;
    int rc = 0;
    if ((!s->ask.wants_id && !s->filter.on) || s->who_is_out) /* it takes long: rows go without */
        return 0;
    struct etf_pid *pids = alloc_zero(s->table.n + s->n_rows + s->n_watched + 1, sizeof *pids);
    for (size_t i = 0; s->filter.on && i < s->table.n; i++)
        if (s->table.procs[i].listed && s->table.procs[i].known)
            pids[n++] = s->table.procs[i].pid;
    for (size_t i = 0; !s->filter.on && i < s->n_rows + s->n_watched; i++)
        pids[n++] = i < s->n_rows ? s->rows[i]->pid : s->watched[i - s->n_rows]->pid;
    if (!who_is_known(s->who, pids, n)) {
        s->open++;
        s->who_is_out = s->waits_for_who = true;
        rc = who_learn(s->who, pids, n, on_who, s, err);
    }
    free(pids);
    return rc;
}

/* ---- the filter: who all are, and their current functions */

static bool is_passing(struct scan *s, const struct scan_proc *p)
{
    const struct who_entry who = find_who(s, p);
    const struct scan_filtered of = {{who.name,
                                      who.label,
                                      who.call,
                                      who.application,
                                      {(const char *)p->function.data, p->function.len}}};
    return scan_filter_passes(&s->filter, &of);
}

static void leave_out(struct scan *s)
{
    for (size_t i = 0; i < s->table.n; i++) {
        struct scan_proc *p = &s->table.procs[i];
        p->is_left_out = s->filter.on && !is_passing(s, p);
    }
}

static void ask_ranked(struct scan *s)
{
    struct error err = {0};
    leave_out(s);
    rank_rows(s);
    s->is_ranked = true;
    s->open = 1;
    if (scan_go_on(s, ask_info(s, &err), &err) && scan_go_on(s, ask_who(s, &err), &err))
        close_one(s);
}

static void on_functions(void *arg, const struct native_answer *answer)
{
    struct scan *s = arg;
    struct scan_clock clock;
    if (!s->asking)
        return;
    if (answer->end != NATIVE_RETURNED ||
        !scan_read_functions(answer->value, &clock, s->out.procs, s->out.n)) {
        scan_fail_answer(s, answer);
        return;
    }
    scan_add_price(s, &clock, s->out.n, INFO_US);
    close_one(s);
}

static int ask_functions(struct scan *s, struct error *err)
{
    struct native_call call;
    scan_set_make(&s->out, s->table.n);
    for (size_t i = 0; i < s->table.n; i++) {
        struct scan_proc *p = &s->table.procs[i];
        if (p->listed && p->known && !p->has_function)
            s->out.procs[s->out.n++] = p;
    }
    if (s->out.n == 0 || !scan_filter_has(&s->filter, SCAN_CURRENT_FUNCTION))
        return 0;
    scan_call_functions(&call, conn_peer_node(s->conn), s->out.procs, s->out.n,
                        !native_has_erpc(s->native));
    s->open++;
    return scan_ask_call(s, NATIVE_INFO, &call, on_functions, err);
}

void scan_ask_rows(struct scan *s)
{
    struct error err = {0};
    s->is_ranked = false;
    s->open = 1;
    if (!s->filter.on ||
        (scan_go_on(s, ask_functions(s, &err), &err) && scan_go_on(s, ask_who(s, &err), &err)))
        close_one(s);
}
