/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <string.h>

bool want_add_pid(struct want_scan *scan, const struct etf_pid *pid)
{
    for (int i = 0; i < scan->n_pids; i++)
        if (memcmp(&scan->pids[i], pid, sizeof *pid) == 0)
            return true;
    if (scan->n_pids >= WANT_PIDS)
        return false;
    scan->pids[scan->n_pids++] = *pid;
    return true;
}

bool process_ref_same(const struct process_ref *a, const struct process_ref *b)
{
    return *a->name || *b->name ? strcmp(a->name, b->name) == 0 : pid_same(&a->pid, &b->pid);
}

static void merge_scan(struct want_scan *into, const struct want_scan *other)
{
    if (!into->sort_key) {
        into->sort_key = other->sort_key;
        into->by_delta = other->by_delta;
        into->ascending = other->ascending;
    }
    if (other->rows > into->rows)
        into->rows = other->rows;
    into->items |= other->items;
    into->own = into->own || other->own;
    into->filtered = into->filtered || other->filtered;
    for (int i = 0; i < other->n_pids; i++)
        want_add_pid(into, &other->pids[i]);
}

void want_merge(struct want *into, const struct want *other)
{
    if (other->needs & NEED(SCAN))
        merge_scan(&into->scan, &other->scan);
    if ((other->needs & NEED(PROCESS)) && !(into->needs & NEED(PROCESS)))
        into->process = other->process;
    const bool other_process = !process_ref_same(&into->process, &other->process);
    if ((other->needs & NEED(TREE)) && !(into->needs & NEED(TREE)))
        memcpy(into->tree_app, other->tree_app, sizeof into->tree_app);
    if (other->needs & NEED(HEAPS)) {
        into->heaps = other->heaps > into->heaps ? other->heaps : into->heaps;
        into->heaps_running = into->heaps_running || other->heaps_running;
    }
    if ((other->needs & NEED(ONE_TABLE)) && !(into->needs & NEED(ONE_TABLE)))
        memcpy(into->table, other->table, sizeof into->table);
    const bool other_table = strcmp(into->table, other->table) != 0;
    if ((other->needs & NEED(TABLE_KEYS)) && !other_table)
        into->keys = other->keys;
    /* Keys are of the table that was asked about, not of the one that is read now. */
    into->needs |= other->needs & ~(other_table ? NEED(TABLE_KEYS) : 0) &
                   ~(other_process ? NEED(SUSPENDERS) : 0);
}
