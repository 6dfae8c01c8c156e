/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "leaders_table.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

/* One that does nothing has not moved for so long, or does no more than 40 reductions a second, in
 * the 10 s between two answers: each read by a beamtop is one, several times a second. */
#define IDLE_MS 2000
#define IDLE_REDUCTIONS 400
/* A queue above it, and links that take so long, are walked seldom. */
#define WALKED_MESSAGES 1000
void leaders_table_clear(struct leaders_table *t)
{
    free(t->all);
    *t = (struct leaders_table){0};
}

static int find_leader(const void *pid, const void *leader)
{
    return scan_compare_pids(pid, &((const struct leader *)leader)->pid);
}

struct leader *leaders_table_find(const struct leaders_table *t, const struct etf_pid *pid)
{
    return t->n == 0 ? NULL : bsearch(pid, t->all, t->n, sizeof *t->all, find_leader);
}

static struct leader make_leader(const struct scan_proc *p)
{
    return (struct leader){.pid = p->pid,
                           .reductions =
                               p->reductions_before > 0 ? p->reductions_before : p->reductions,
                           .looked_reductions = -1,
                           .binaries = -1,
                           .distinct_bytes = -1,
                           .listed_binary_bytes = -1,
                           .ties = {-1, -1, -1},
                           .mostly = TIES};
}

static void take_seen(struct leader *l, const struct scan_proc *p, uint64_t now_ms)
{
    const bool long_queue = p->queue > WALKED_MESSAGES;
    l->queue = p->queue;
    l->did = p->reductions > l->reductions ? p->reductions - l->reductions : 0;
    l->reductions = p->reductions;
    l->is_idle = now_ms >= p->still_ms + IDLE_MS || l->did < IDLE_REDUCTIONS;
    l->is_long = long_queue;
    l->is_walked = long_queue || p->links_ns > 0;
    l->minor_gcs_per_s = 0;
    if (l->is_walked && p->walked_ms != 0)
        l->memory = p->memory; /* as the scan has read it */
    if (!long_queue && p->links_ns > 0 && p->walked_ms != 0)
        l->beside_bytes = p->memory - LEADER_WORD_BYTES * p->words;
}

void leaders_table_merge(struct leaders_table *t, const struct scan_table *seen, uint64_t now_ms)
{
    struct leader *all = alloc_zero(seen->n + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < seen->n; i++) {
        const struct scan_proc *p = &seen->procs[i];
        if (!p->listed || !p->known || p->own)
            continue;
        const struct leader *before = leaders_table_find(t, &p->pid);
        all[n] = before ? *before : make_leader(p);
        take_seen(&all[n++], p, now_ms);
    }
    free(t->all);
    *t = (struct leaders_table){all, n};
}

/* ---- the best */

int64_t leader_queue(const struct leader *l)
{
    return l->queue;
}

int64_t leader_did(const struct leader *l)
{
    return l->did;
}

int64_t leader_memory(const struct leader *l)
{
    return l->memory;
}

int64_t leader_binary_bytes(const struct leader *l)
{
    return l->binary_bytes;
}

int64_t leader_beside_bytes(const struct leader *l)
{
    return l->is_long ? 0 : l->beside_bytes;
}

size_t leaders_best(const struct leaders_table *t, leader_value_fn *value, int64_t least,
                    struct leader **out, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct leader *l = &t->all[i];
        if (value(l) < least || (n == most && value(l) <= value(out[n - 1])))
            continue;
        size_t at = n < most ? n++ : n - 1;
        for (; at > 0 && value(l) > value(out[at - 1]); at--)
            out[at] = out[at - 1];
        out[at] = l;
    }
    return n;
}
