/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan_table.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"

/* One that has done nothing for some time is asked again after half of that, and in so many ms at
 * most. */
#define STILL_MOST_MS 5000

int scan_compare_pids(const struct etf_pid *a, const struct etf_pid *b)
{
    if (a->serial != b->serial)
        return a->serial < b->serial ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static int order_pids(const void *a, const void *b)
{
    return scan_compare_pids(a, b);
}

static int find_pid(const void *pid, const void *proc)
{
    return scan_compare_pids(pid, &((const struct scan_proc *)proc)->pid);
}

static void clear_proc(struct scan_proc *p)
{
    buf_clear(&p->info);
    buf_clear(&p->function);
}

void scan_table_clear(struct scan_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        clear_proc(&t->procs[i]);
    free(t->procs);
    *t = (struct scan_table){0};
}

void scan_table_forget(struct scan_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct scan_proc *p = &t->procs[i];
        p->listed = p->known = false;
        p->reductions = p->queue = 0;
        buf_reset(&p->info);
        p->has_function = false;
    }
}

struct scan_proc *scan_table_find(const struct scan_table *t, const struct etf_pid *pid)
{
    return t->n == 0 ? NULL : bsearch(pid, t->procs, t->n, sizeof *t->procs, find_pid);
}

void scan_table_list(struct scan_table *t, struct etf_pid *pids, size_t n)
{
    struct scan_proc *procs = alloc_zero(n + t->n + 1, sizeof *procs);
    size_t at = 0, from = 0;
    qsort(pids, n, sizeof *pids, order_pids);
    for (size_t i = 0; i < t->n; i++)
        t->procs[i].listed = false;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && scan_compare_pids(&pids[i - 1], &pids[i]) == 0)
            continue;
        while (from < t->n && scan_compare_pids(&t->procs[from].pid, &pids[i]) < 0)
            procs[at++] = t->procs[from++];
        if (from < t->n && scan_compare_pids(&t->procs[from].pid, &pids[i]) == 0)
            procs[at] = t->procs[from++];
        else
            procs[at] = (struct scan_proc){.pid = pids[i]};
        procs[at++].listed = true;
    }
    while (from < t->n)
        procs[at++] = t->procs[from++];
    free(t->procs);
    *t = (struct scan_table){alloc_resize(procs, at + 1, sizeof *procs), at};
}

void scan_table_begin(struct scan_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct scan_proc *p = &t->procs[i];
        p->swept = false;
        p->reductions_before = p->reductions;
        p->queue_before = p->queue;
    }
}

void scan_proc_end(struct scan_proc *p)
{
    p->listed = false;
}

/* Its part of the last interval. */
static int64_t spread(int64_t change, const struct scan_proc *p, const struct scan_moment *now)
{
    const double interval = (double)(now->ns - now->before_ns);
    const double since = (double)(now->ns - p->swept_ns);
    return interval > 0 && since > interval ? (int64_t)((double)change * interval / since) : change;
}

void scan_proc_take(struct scan_proc *p, int64_t reductions, int64_t queue,
                    const struct scan_moment *now)
{
    const bool moved = !p->known || reductions - p->reductions > p->signals || p->queue != queue;
    if (p->known) {
        p->reductions_before = reductions - spread(reductions - p->reductions, p, now);
        p->queue_before = queue - spread(queue - p->queue, p, now);
    }
    p->signals = 0;
    p->swept = p->known = true;
    p->stale |= moved;
    p->has_function &= !moved;
    p->reductions = reductions;
    p->queue = queue;
    p->swept_ns = now->ns;
    if (moved)
        p->still_ms = now->ms;
    const uint64_t still_ms = (now->ms - p->still_ms) / 2;
    p->due_ms = now->ms + (still_ms < STILL_MOST_MS ? still_ms : STILL_MOST_MS);
}

void scan_table_drop(struct scan_table *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->procs[i].listed)
            t->procs[kept++] = t->procs[i];
        else
            clear_proc(&t->procs[i]);
    t->n = kept;
}

size_t scan_table_count(const struct scan_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->procs[i].listed && !t->procs[i].own;
    return n;
}

size_t scan_table_passing(const struct scan_table *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        n += t->procs[i].listed && !t->procs[i].own && !t->procs[i].is_left_out;
    return n;
}

/* ---- ranking */

int64_t scan_value(const struct scan_proc *p, const struct scan_rank *rank)
{
    return rank->by_queue ? p->queue : p->reductions;
}

int64_t scan_delta(const struct scan_proc *p, const struct scan_rank *rank)
{
    if (rank->first)
        return 0;
    return rank->by_queue ? p->queue - p->queue_before : p->reductions - p->reductions_before;
}

struct ranked {
    int64_t key, value, delta;
    struct scan_proc *proc;
};

/* The best first: by key, value, delta and pid, as the VM orders such tuples. */
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    if (x->delta != y->delta)
        return x->delta > y->delta ? -1 : 1;
    return scan_compare_pids(&y->proc->pid, &x->proc->pid);
}

size_t scan_table_rank(const struct scan_table *t, const struct scan_rank *rank, bool own,
                       struct scan_proc **out, size_t most)
{
    struct ranked *all = alloc_zero(t->n + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct scan_proc *p = &t->procs[i];
        if (!p->listed || !p->known || p->is_left_out || (p->own && !own))
            continue;
        struct ranked *r = &all[n++];
        *r = (struct ranked){0, scan_value(p, rank), scan_delta(p, rank), p};
        r->key = rank->by_delta && !rank->first ? r->delta : r->value;
        if (rank->ascending)
            r->key = -r->key;
    }
    qsort(all, n, sizeof *all, compare_ranked);
    if (n > most)
        n = most;
    for (size_t i = 0; i < n; i++)
        out[i] = all[i].proc;
    free(all);
    return n;
}
