/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of processes: their rows, those that looks have seen, their largest group. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "growth_terms.h"
#include "query/native/values.h"

#define BRIEF_TIMES 4 /* those of a kind that are seen more often, on average, last */

void growth_rows_init(struct growth_rows *rows, size_t room)
{
    *rows = (struct growth_rows){.room = room};
    arena_init(&rows->arena);
    rows->all = arena_alloc(&rows->arena, room * sizeof *rows->all);
}

void growth_rows_clear(struct growth_rows *rows)
{
    arena_clear(&rows->arena);
    *rows = (struct growth_rows){0};
}

void growth_rows_add(struct growth_rows *rows, const struct growth_row *row)
{
    if (rows->n == rows->room)
        return;
    struct growth_row *to = &rows->all[rows->n++];
    *to = *row;
    to->function = slice_keep(&rows->arena, row->function);
}

static bool is_generic(const struct who_mfa *mfa)
{
    return slice_is(mfa->module, "proc_lib") ||
           (slice_is(mfa->module, "erlang") && slice_is(mfa->function, "apply"));
}

bool growth_read_row(struct slice info, const struct who_node *node, struct growth_row *out)
{
    struct who_mfa mfa;
    struct cursor c = values_cursor(info);
    if (info.len == 0 || cursor_kind(&c) != ETF_KIND_LIST)
        return false; /* `undefined`: it has ended */
    const struct slice parent = values_find(info, "parent");
    out->function = values_find(info, "initial_call");
    if (!who_read_mfa(out->function, &mfa))
        return false;
    if (is_generic(&mfa))
        out->function = values_find(info, "current_function");
    out->has_parent = parent.len > 0 && who_read_pid(parent, node, &out->parent);
    /* The keeper's begin so. */
    return who_read_mfa(out->function, &mfa) &&
           !(slice_is(mfa.module, "erlang") && slice_is(mfa.function, "hibernate"));
}

/* ---- looks */

static struct growth_row *find_row(const struct growth_rows *rows, const struct etf_pid *pid)
{
    for (size_t i = rows->n; i > 0; i--)
        if (pid_same(&rows->all[i - 1].pid, pid))
            return &rows->all[i - 1];
    return NULL;
}

static void note_seen(struct growth_rows *out, struct slice info, const struct etf_pid *pid,
                      const struct who_node *node)
{
    struct growth_row row = {.pid = *pid, .times = 1}, *known;
    if (!growth_read_row(info, node, &row))
        return;
    if (!(known = find_row(out, pid))) {
        growth_rows_add(out, &row);
        return;
    }
    known->times++;
    if (!slice_equal(known->function, row.function)) /* it had not begun */
        known->function = slice_keep(&out->arena, row.function);
}

void growth_read_looks(struct slice value, const struct etf_pid *pids, size_t n,
                       const struct who_node *node, growth_skip_fn *skip, const void *arg,
                       struct growth_rows *out)
{
    struct slice times[GROWTH_TIMES], parts[6], infos[GROWTH_AHEAD];
    if (n > GROWTH_AHEAD || !values_read_list(value, times, GROWTH_TIMES))
        return;
    for (size_t i = 0; i < GROWTH_TIMES; i++) {
        if (!values_read_list(times[i], parts, 6))
            return;
        for (size_t k = 1; k < 6; k += 2)
            for (size_t at = 0; values_read_list(parts[k], infos, n) && at < n; at++)
                if (!skip(arg, &pids[at]))
                    note_seen(out, infos[at], &pids[at], node);
    }
}

/* Looks come three at a time. */
static bool is_lasting(const struct growth_rows *rows, struct slice function)
{
    size_t kin = 0, times = 0;
    for (size_t i = 0; i < rows->n; i++)
        if (slice_equal(rows->all[i].function, function)) {
            kin++;
            times += rows->all[i].times;
        }
    return times > BRIEF_TIMES * kin;
}

void growth_add_brief(const struct growth_rows *seen, double spawned, struct growth_rows *out)
{
    bool *lasts = alloc_zero(seen->n + 1, sizeof *lasts);
    size_t lasting = 0, at = 0;
    for (size_t i = 0; i < seen->n; i++)
        lasting += lasts[i] = is_lasting(seen, seen->all[i].function);
    const double n = (double)lasting, brief = (double)(seen->n - lasting);
    const double share = n * 2 >= spawned ? 1 : fmin(1, (brief + 1) / (spawned - n + 1));
    for (size_t i = 0; i < seen->n; i++)
        if (!lasts[i] || (double)at++ < round(n * share))
            growth_rows_add(out, &seen->all[i]);
    free(lasts);
}

/* ---- groups */

static size_t count_function(const struct growth_rows *rows, struct slice function)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        n += slice_equal(rows->all[i].function, function);
    return n;
}

static size_t count_spawned(const struct growth_rows *rows, struct slice function,
                            const struct etf_pid *by)
{
    size_t n = 0;
    for (size_t i = 0; i < rows->n; i++)
        n += rows->all[i].has_parent && slice_equal(rows->all[i].function, function) &&
             pid_same(&rows->all[i].parent, by);
    return n;
}

struct growth_group growth_group_of(const struct growth_rows *rows)
{
    struct growth_group group = {.sampled = rows->n};
    for (size_t i = 0; i < rows->n; i++) {
        const size_t n = count_function(rows, rows->all[i].function);
        if (n > group.seen) {
            group.seen = n;
            group.function = rows->all[i].function;
        }
    }
    for (size_t i = 0; i < rows->n; i++) {
        const struct growth_row *row = &rows->all[i];
        if (!slice_equal(row->function, group.function))
            continue;
        group.example = &row->pid;
        const size_t n = row->has_parent ? count_spawned(rows, group.function, &row->parent) : 0;
        if (n > group.spawned) {
            group.spawned = n;
            group.spawner = &row->parent;
        }
    }
    return group;
}
