/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Microstate accounting: counters of the threads, their sums by type, and shares between two
 * answers. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/limits.h"

#define TYPES_MAX 16
/* Below that share of the time it was switched off for a while: reading takes only a little. */
#define COUNTED 0.8

static const char *const state_names[] = {
#define NAME(id, name, help) [MSACC_##id] = #name,
    MSACC_STATES(NAME)
#undef NAME
};

static void clear_msacc_row(struct msacc_row *row)
{
    *row = (struct msacc_row){.type = {"", 0}, .id = -1, .threads = 1, .counted = NAN};
    for (int s = 0; s < MSACC_COUNT; s++)
        row->counters[s] = row->share[s] = NAN;
}

/* States that no release so far has are left out. */
static void decode_counters(struct decoder *d, struct msacc_row *row)
{
    size_t pairs = 0;
    struct slice name;
    double value = 0;
    if (!cursor_map(&d->c, &pairs))
        return;
    for (size_t i = 0; i < pairs && !cursor_failed(&d->c); i++) {
        if (!cursor_atom(&d->c, &name) || !cursor_number(&d->c, &value))
            return;
        for (int s = 0; s < MSACC_COUNT; s++)
            if (slice_is(name, state_names[s]))
                row->counters[s] = value;
    }
}

static void decode_msacc_row(struct decoder *d, struct msacc_row *row)
{
    size_t pairs = 0;
    struct slice key;
    clear_msacc_row(row);
    if (!cursor_map(&d->c, &pairs))
        return;
    for (size_t i = 0; i < pairs && !cursor_failed(&d->c); i++) {
        if (!cursor_atom(&d->c, &key))
            return;
        if (slice_is(key, "counters"))
            decode_counters(d, row);
        else if (slice_is(key, "id"))
            cursor_int64(&d->c, &row->id);
        else if (slice_is(key, "type"))
            decode_atom(d, &row->type);
        else
            cursor_skip(&d->c);
    }
    if (!cursor_failed(&d->c) && (row->type.len == 0 || row->id < 0))
        cursor_fail(&d->c, "a thread");
}

static int by_type(const void *a, const void *b)
{
    const struct msacc_row *x = a, *y = b;
    int order = slice_order(y->type, x->type); /* schedulers before asynchronous threads */
    return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

static void sum_row(struct msacc_row *sum, const struct msacc_row *row)
{
    sum->threads++;
    for (int s = 0; s < MSACC_COUNT; s++)
        if (!isnan(row->counters[s]))
            sum->counters[s] = (isnan(sum->counters[s]) ? 0 : sum->counters[s]) + row->counters[s];
}

/* The rows have room for the types before the threads, which are there already, sorted. */
static void sum_types(struct decoder *d, struct msacc_detail *out, const struct msacc_row *threads,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct msacc_row *sum = &out->rows[out->n_types];
        if (i > 0 && slice_equal(threads[i].type, threads[i - 1].type)) {
            sum_row(sum - 1, &threads[i]);
            continue;
        }
        if (out->n_types == TYPES_MAX) {
            cursor_fail(&d->c, "fewer types of threads");
            return;
        }
        clear_msacc_row(sum);
        sum->type = threads[i].type;
        sum->threads = 0;
        sum_row(sum, &threads[i]);
        out->n_types++;
    }
}

void decode_msacc(struct decoder *d, void *to)
{
    struct msacc_detail *out = to;
    struct msacc_row *threads = NULL;
    struct cursor_list list;
    *out = (struct msacc_detail){.interval_s = NAN};
    cursor_tuple_of(&d->c, 5);
    cursor_atom_is(&d->c, "msacc");
    decode_mono(d, &out->mono_ns);
    decode_bool(d, &out->on_before);
    cursor_number(&d->c, &out->units_per_s);
    if (!decode_list(d, &list, LIMIT_SCHEDULERS, sizeof *threads, &threads))
        return;
    for (size_t i = 0; i < list.count && !cursor_failed(&d->c); i++)
        decode_msacc_row(d, &threads[i]);
    cursor_list_end(&d->c, &list);
    if (cursor_failed(&d->c) || list.count == 0)
        return;
    qsort(threads, list.count, sizeof *threads, by_type);
    out->rows = arena_alloc(d->arena, (list.count + TYPES_MAX) * sizeof *out->rows);
    sum_types(d, out, threads, list.count);
    memcpy(out->rows + out->n_types, threads, list.count * sizeof *threads);
    out->n_rows = out->n_types + list.count;
}

/* ---- rates */

static const struct msacc_row *msacc_before(const struct msacc_detail *before,
                                            const struct msacc_row *row, size_t hint)
{
    for (size_t i = 0; i < before->n_rows; i++) {
        const struct msacc_row *old = &before->rows[(hint + i) % before->n_rows];
        if (old->id == row->id && slice_equal(old->type, row->type))
            return old;
    }
    return NULL;
}

static void rate_msacc_row(struct msacc_row *row, const struct msacc_row *before, double units)
{
    double grown[MSACC_COUNT], sum = 0;
    for (int s = 0; s < MSACC_COUNT; s++) {
        grown[s] = row->counters[s] - before->counters[s];
        if (grown[s] < 0)
            return; /* somebody has reset them */
        sum += isnan(grown[s]) ? 0 : grown[s];
    }
    for (int s = 0; s < MSACC_COUNT; s++)
        row->share[s] = rate_share(grown[s], sum);
    row->counted = rate_share(sum, units * (double)row->threads);
}

void rate_msacc(struct msacc_detail *now, const struct msacc_detail *before)
{
    if (!before)
        return;
    now->interval_s = rate_interval(before->mono_ns, now->mono_ns);
    for (size_t i = 0; i < now->n_rows; i++) {
        struct msacc_row *row = &now->rows[i];
        const struct msacc_row *old = msacc_before(before, row, i);
        if (old && old->threads == row->threads)
            rate_msacc_row(row, old, now->units_per_s * now->interval_s);
        if (i < now->n_types && slice_is(row->type, "scheduler") && row->counted < COUNTED)
            now->switched_off = true;
    }
}
