/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "apps_terms.h"

#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/etf/cursor.h"
#include "query/native/args.h"
#include "query/native/values.h"
#include "query/scan/scan_walks.h"

/* In one ask, which then takes a millisecond. */
#define READ_MOST 250
#define READ_US 10 /* of one on a slow machine */
#define SWEPT_US 3
#define WALKED_MOST 20

/* Of one that has not moved, memory may change by what others link to it. */
#define READ_EVERY_MS 15000

#define LOADED_EVERY_MS 60000
#define UNKNOWN_EVERY_MS 5000

#define PLAIN_ITEMS "[group_leader,memory,total_heap_size]"
#define SPARED_ITEMS "[group_leader,heap_size]"
#define WALKED_ITEMS "[memory,total_heap_size]"

/* ---- applications */

static bool ask_leaders(void *own, struct run_calls *calls)
{
    (void)own;
    run_add_text(calls, "ets", "match", WHO_LEADERS_ARGS);
    return true;
}

static void take_leaders(void *own, const struct slice *values, size_t n)
{
    struct apps_read *a = own;
    (void)n;
    if (values)
        who_leaders_keep(&a->leaders, values[0], &a->node);
    else
        who_leaders_clear(&a->leaders);
}

static bool ask_loaded(void *own, struct run_calls *calls)
{
    struct apps_read *a = own;
    const uint64_t every_ms = apps_has_unknown(a) ? UNKNOWN_EVERY_MS : LOADED_EVERY_MS;
    if (a->leaders.n == 0 || (a->loaded_ms != 0 && a->now_ms < a->loaded_ms + every_ms))
        return false;
    a->loaded_ms = a->now_ms;
    run_add_text(calls, "application", "loaded_applications", "[]");
    return true;
}

static void take_loaded(void *own, const struct slice *values, size_t n)
{
    struct apps_read *a = own;
    (void)n;
    buf_reset(&a->loaded);
    if (values)
        buf_put(&a->loaded, values[0].s, values[0].len);
}

/* ---- processes, where no scan has seen them */

static bool ask_list(void *own, struct run_calls *calls)
{
    const struct apps_read *a = own;
    run_add_text(calls, "erlang", "processes", "[]");
    return !a->scan;
}

static void take_list(void *own, const struct slice *values, size_t n)
{
    struct apps_read *a = own;
    struct cursor c;
    size_t count;
    (void)n;
    if (!values || !values_enter_list(values[0], &c, &count)) {
        a->end = APPS_FAILED;
    } else if (count > SCAN_SMALL_MOST) {
        a->end = APPS_MANY;
    } else {
        struct etf_pid *pids = alloc_zero(count + 1, sizeof *pids);
        size_t kept = 0;
        for (size_t i = 0; i < count && cursor_pid(&c, &pids[kept], NULL); i++)
            kept += !a->is_own(a->own, &pids[kept]);
        scan_table_list(&a->table, pids, kept);
        scan_table_drop(&a->table);
        free(pids);
    }
}

static void add_infos(const struct apps_read *a, struct run_calls *calls,
                      struct scan_proc *const *of, size_t n, const char *items, double each_us)
{
    struct etf_pid *pids = alloc_zero(n + 1, sizeof *pids);
    struct builder *keys = args_of_text(items);
    for (size_t i = 0; i < n; i++)
        pids[i] = of[i]->pid;
    run_add(calls, "lists", "zipwith", args_of_infos(a->node.name, pids, n, keys));
    calls->most_us = fmax(calls->most_us, each_us * (double)n);
    builder_free(keys);
    free(pids);
}

static bool ask_sweep(void *own, struct run_calls *calls)
{
    struct apps_read *a = own;
    struct apps_set *all = &a->plain;
    if (a->scan || a->end != APPS_READ)
        return false;
    for (all->n = 0; all->n < a->table.n && all->n < SCAN_SMALL_MOST; all->n++)
        all->of[all->n] = &a->table.procs[all->n];
    add_infos(a, calls, all->of, all->n, "[reductions,message_queue_len]", SWEPT_US);
    return all->n > 0;
}

/* Of a process that moves by no more than our reads of it nothing is read again. */
static void take_work(const struct apps_read *a, struct scan_proc *p, int64_t reductions,
                      int64_t queue)
{
    const struct scan_moment now = {.ms = a->now_ms};
    if (!p->known || reductions != p->reductions || queue != p->queue)
        scan_proc_take(p, reductions, queue, &now);
}

static void take_sweep(void *own, const struct slice *values, size_t n)
{
    struct apps_read *a = own;
    struct slice infos[SCAN_SMALL_MOST];
    (void)n;
    if (!values || !values_read_list(values[0], infos, a->plain.n)) {
        a->end = APPS_FAILED;
        return;
    }
    for (size_t i = 0; i < a->plain.n; i++) {
        const int64_t reductions = values_find_integer(infos[i], "reductions");
        const int64_t queue = values_find_integer(infos[i], "message_queue_len");
        if (reductions < 0 || queue < 0)
            scan_proc_end(a->plain.of[i]);
        else
            take_work(a, a->plain.of[i], reductions, queue);
    }
}

/* ---- as scans have seen them */

static bool is_foreign(const struct scan_proc *p)
{
    return p->listed && p->known && !p->own && !p->asked;
}

static void merge_scan(struct apps_read *a)
{
    struct scan_seen seen;
    struct etf_pid pids[SCAN_SMALL_MOST];
    size_t n = 0;
    if (!a->scan || !scan_has_seen(a->scan, &seen))
        return; /* given up in between: as they were */
    for (size_t i = 0; i < seen.table->n && n < SCAN_SMALL_MOST; i++)
        if (is_foreign(&seen.table->procs[i]))
            pids[n++] = seen.table->procs[i].pid;
    scan_table_list(&a->table, pids, n);
    scan_table_drop(&a->table);
    for (size_t i = 0; i < a->table.n; i++) {
        struct scan_proc *p = &a->table.procs[i];
        const struct scan_proc *now = scan_table_find(seen.table, &p->pid);
        take_work(a, p, now->reductions, now->queue);
        scan_walk_copy(p, now);
    }
}

/* ---- who is read, and how */

static void add_proc(struct apps_set *set, struct scan_proc *p)
{
    if (set->n < SCAN_SMALL_MOST)
        set->of[set->n++] = p;
}

static void choose_procs(struct apps_read *a)
{
    int64_t walks_ns = 0;
    merge_scan(a);
    a->plain.n = a->plain.next = 0;
    a->spared.n = a->spared.next = 0;
    a->walked.n = a->walked.next = 0;
    for (size_t i = 0; i < a->table.n; i++) {
        struct scan_proc *p = &a->table.procs[i];
        const bool reads = p->info.len == 0 || p->stale ||
                           (p->is_spared && !scan_walk_is_slow(p, NULL)) ||
                           a->now_ms >= p->info_ms + READ_EVERY_MS;
        if (!p->listed)
            continue;
        const bool slow = scan_walk_is_slow(p, reads ? &walks_ns : NULL);
        if (slow && scan_walk_has_turn(p, a->paid_ms, a->now_ms))
            add_proc(&a->walked, p);
        if (reads)
            add_proc(slow ? &a->spared : &a->plain, p);
    }
    a->is_chosen = true;
}

static void count_read(const struct apps_read *a, struct scan_proc *p)
{
    p->signals++;
    if (a->scan)
        scan_count_signal(a->scan, &p->pid);
}

static bool ask_part(const struct apps_read *a, struct apps_set *set, struct run_calls *calls,
                     const char *items)
{
    const size_t left = set->n - set->next;
    set->n_out = left < READ_MOST ? left : READ_MOST;
    add_infos(a, calls, set->of + set->next, set->n_out, items, READ_US);
    set->next += set->n_out;
    return set->n_out > 0;
}

static void take_part(struct apps_read *a, const struct apps_set *set, const struct slice *values,
                      bool spared)
{
    struct slice infos[READ_MOST];
    struct scan_proc *const *of = set->of + set->next - set->n_out;
    if (!values || !values_read_list(values[0], infos, set->n_out)) {
        a->end = APPS_FAILED;
        return;
    }
    for (size_t i = 0; i < set->n_out; i++) {
        struct scan_proc *p = of[i];
        if (values_find(infos[i], "group_leader").len == 0) {
            scan_proc_end(p);
            continue;
        }
        buf_reset(&p->info);
        buf_put(&p->info, infos[i].s, infos[i].len);
        p->info_ms = a->now_ms;
        p->stale = false;
        p->is_spared = spared;
        count_read(a, p);
        if (!spared)
            scan_walk_suspect(p);
    }
}

static bool ask_plain(void *own, struct run_calls *calls)
{
    struct apps_read *a = own;
    if (!a->is_chosen && a->end == APPS_READ)
        choose_procs(a);
    return a->end == APPS_READ && ask_part(a, &a->plain, calls, PLAIN_ITEMS);
}

static void take_plain(void *own, const struct slice *values, size_t n)
{
    struct apps_read *a = own;
    (void)n;
    take_part(a, &a->plain, values, false);
}

static bool ask_spared(void *own, struct run_calls *calls)
{
    struct apps_read *a = own;
    return a->end == APPS_READ && ask_part(a, &a->spared, calls, SPARED_ITEMS);
}

static void take_spared(void *own, const struct slice *values, size_t n)
{
    struct apps_read *a = own;
    (void)n;
    take_part(a, &a->spared, values, true);
}

/* ---- what walks what is long: a clock between two */

static void add_clock(struct run_calls *calls)
{
    run_add_text(calls, "erlang", "monotonic_time", "[nanosecond]");
}

static bool ask_walked(void *own, struct run_calls *calls)
{
    struct apps_read *a = own;
    struct apps_set *set = &a->walked;
    add_clock(calls);
    for (set->n_out = 0; set->next < set->n && set->n_out < WALKED_MOST; set->n_out++) {
        run_add(calls, "erlang", "process_info",
                args_of_info(a->node.name, &set->of[set->next++]->pid, WALKED_ITEMS));
        add_clock(calls);
    }
    calls->most_us = HUGE_VAL; /* all of it is work */
    return a->end == APPS_READ && set->n_out > 0;
}

static void take_walked(void *own, const struct slice *values, size_t n)
{
    struct apps_read *a = own;
    const struct apps_set *set = &a->walked;
    int64_t before, now;
    for (size_t i = 0; values && 2 * i + 2 < n; i++) {
        struct scan_proc *p = set->of[set->next - set->n_out + i];
        if (!values_read_integer(values[2 * i], &before) ||
            !values_read_integer(values[2 * i + 2], &now) || now < before)
            return;
        scan_walk_take(p, values[2 * i + 1], now - before, a->now_ms);
        if (a->scan)
            scan_count_signal(a->scan, &p->pid);
    }
}

const struct run_step apps_steps[APPS_STEPS] = {
    {ask_leaders, take_leaders, 0, false}, {ask_loaded, take_loaded, 0, false},
    {ask_list, take_list, 0, false},       {ask_sweep, take_sweep, 0, false},
    {ask_plain, take_plain, 0, true},      {ask_spared, take_spared, 0, true},
    {ask_walked, take_walked, 0, true},
};

/* ---- life */

void apps_init(struct apps_read *a)
{
    who_leaders_init(&a->leaders);
    buf_init(&a->loaded, 0);
}

void apps_begin(struct apps_read *a, uint64_t now_ms)
{
    a->now_ms = now_ms;
    a->end = APPS_READ;
    a->is_chosen = false;
}

void apps_clear(struct apps_read *a)
{
    scan_table_clear(&a->table);
    who_leaders_clear(&a->leaders);
    buf_clear(&a->loaded);
    a->loaded_ms = 0;
}
