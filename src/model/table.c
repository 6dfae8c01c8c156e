/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/rate.h"

struct keyed {
    struct slice key;
    char *row;
    size_t at;
};

static int compare_keys(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    const int order = slice_order(x->key, y->key);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

static int compare_key(const void *key, const void *with)
{
    return slice_order(*(const struct slice *)key, ((const struct keyed *)with)->key);
}

/* In the order of their texts; the caller's to free. */
static struct keyed *sort_rows(const struct table_detail *t, const struct field_list *list,
                               const struct field *by)
{
    struct keyed *sorted = alloc_zero(t->n_rows + 1, sizeof *sorted);
    for (size_t i = 0; i < t->n_rows; i++) {
        char *row = (char *)t->rows + i * list->row_bytes;
        sorted[i] = (struct keyed){field_text(by, row), row, i};
    }
    qsort(sorted, t->n_rows, sizeof *sorted, compare_keys);
    return sorted;
}

void table_clear_row(const struct field_list *list, void *row)
{
    for (size_t i = 0; i < list->n; i++) {
        void *at = (char *)row + list->fields[i].offset;
        if (list->fields[i].form == FIELD_REAL)
            *(double *)at = NAN;
        else if (list->fields[i].form == FIELD_INT)
            *(int64_t *)at = -1;
    }
}

/* ---- rates */

static bool *flag_of(const struct field *aged, char *row)
{
    return (bool *)(void *)(row + aged[1].offset);
}

static double *age_of(const struct field *aged, char *row)
{
    return (double *)(void *)(row + aged[2].offset);
}

/* It was read earlier than the row. */
static bool is_older(const struct field_list *list, const struct field *f, char *row)
{
    const struct field *aged = f->read_with ? field_find(list, slice_of(f->read_with)) : f;
    return aged->aged && *flag_of(aged, row);
}

static double rate_of_rows(const struct field *f, const struct field_list *list, char *now,
                           char *before, double interval_s)
{
    const struct field *of = field_find(list, slice_of(f->rate_of));
    if (is_older(list, of, now) || is_older(list, of, before))
        return NAN;
    const int64_t *a = (const void *)(before + of->offset), *b = (const void *)(now + of->offset);
    return f->look == LOOK_CHANGE ? rate_gauge(*a, *b, interval_s)
                                  : rate_counter(*a, *b, interval_s);
}

static double lasts_of_rows(const struct field *f, const struct field_list *list, const char *now,
                            const char *before, double interval_s)
{
    const struct field *of = field_find(list, slice_of(f->lasts));
    const struct slice text = field_text(of, now);
    const double before_s = field_number(f, before);
    if (text.len == 0)
        return NAN;
    const bool same = slice_equal(text, field_text(of, before));
    return same ? (isnan(before_s) ? 0 : before_s) + interval_s : 0;
}

/* Which it stands for may differ from answer to answer. */
static bool is_of_several(const struct field_list *list, const char *row)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->fields[i].counts && field_number(&list->fields[i], row) > 1)
            return true;
    return false;
}

/* What has that key now is not what had it before. */
static bool is_another(const struct field_list *list, const char *a, const char *b)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct field *f = &list->fields[i];
        const struct slice x = f->tells_apart ? field_text(f, a) : (struct slice){0};
        const struct slice y = f->tells_apart ? field_text(f, b) : (struct slice){0};
        if (x.len > 0 && y.len > 0 && !slice_equal(x, y))
            return true;
    }
    return false;
}

struct slice table_key(const struct field_list *list, const void *row)
{
    const struct field *key;
    return field_columns(list, list->wire, &key, 1) > 0 ? field_text(key, row)
                                                        : (struct slice){"", 0};
}

static void rate_rows(struct table_detail *now, const struct table_detail *before,
                      const struct field_list *list, const struct field *key, bool groups)
{
    struct keyed *old = sort_rows(before, list, key);
    for (size_t i = 0; i < now->n_rows; i++) {
        char *row = (char *)now->rows + i * list->row_bytes;
        const struct slice text = field_text(key, row);
        const struct keyed *same = bsearch(&text, old, before->n_rows, sizeof *old, compare_key);
        if (!same || (!groups && (is_of_several(list, row) || is_of_several(list, same->row) ||
                                  is_another(list, row, same->row))))
            continue;
        for (size_t k = 0; k < list->n; k++) {
            const struct field *f = &list->fields[k];
            double *to = (void *)(row + f->offset);
            if (f->rate_of)
                *to = rate_of_rows(f, list, row, same->row, now->interval_s);
            else if (f->lasts && !groups)
                *to = lasts_of_rows(f, list, row, same->row, now->interval_s);
        }
    }
    free(old);
}

void table_rate(struct table_detail *now, const struct table_detail *before,
                const struct field_list *list)
{
    const struct field *key;
    if (!before || field_columns(list, list->wire, &key, 1) == 0)
        return;
    now->interval_s = rate_interval(before->mono_ns, now->mono_ns);
    now->before = before;
    rate_rows(now, before, list, key, false);
}

void table_choose(struct table_detail *table, const struct field_list *list, const struct field *of,
                  struct slice text, struct arena *arena)
{
    const char *from = table->rows;
    char *rows = arena_alloc(arena, (table->n_rows + 1) * list->row_bytes);
    size_t n = 0;
    for (size_t i = 0; i < table->n_rows; i++)
        if (slice_equal(field_text(of, from + i * list->row_bytes), text))
            memcpy(rows + n++ * list->row_bytes, from + i * list->row_bytes, list->row_bytes);
    table->rows = rows;
    table->n_rows = n;
    if (!table->before)
        return;
    struct table_detail *before = arena_alloc(arena, sizeof *before);
    *before = *table->before;
    before->before = NULL;
    table_choose(before, list, of, text, arena);
    table->before = before;
}

/* ---- groups */

/* That of one is older, or not known: so is the sum. */
static void add_age(const struct field *f, char *sum, char *row)
{
    const bool unknown = isnan(field_number(f, row));
    const double age_s = unknown ? NAN : *flag_of(f, row) ? *age_of(f, row) : 0;
    if (!unknown && !*flag_of(f, row))
        return;
    const double before_s = *flag_of(f, sum) ? *age_of(f, sum) : 0;
    *age_of(f, sum) = isnan(age_s) || isnan(before_s) ? NAN : fmax(age_s, before_s);
    *flag_of(f, sum) = true;
}

/* It adds up, or its growth does, which is made of the sums. */
static bool is_summed(const struct field_list *list, const struct field *f)
{
    for (size_t i = 0; !f->adds && i < list->n; i++)
        if (list->fields[i].adds && list->fields[i].rate_of &&
            strcmp(list->fields[i].rate_of, f->key) == 0)
            return true;
    return f->adds && !f->rate_of;
}

#define MOST 9e18 /* that an int64_t holds */

static size_t field_bytes(const struct field *f)
{
    return f->form == FIELD_SLICE ? sizeof(struct slice)
           : f->form == FIELD_PID ? sizeof(struct etf_pid)
                                  : sizeof(int64_t);
}

/* That of the largest, and what it is. */
static void lead_row(const struct field *f, char *sum, const char *row)
{
    const double n = field_number(f, row), before = field_number(f, sum);
    if (isnan(n) || n <= before)
        return;
    for (size_t i = 0; i <= f->leads; i++) {
        memcpy(sum + f[i].offset, row + f[i].offset, field_bytes(&f[i]));
        if (f[i].known > 0)
            *(bool *)(void *)(sum + f[i].known) = *(const bool *)(const void *)(row + f[i].known);
    }
}

static void add_row(const struct field_list *list, char *sum, char *row)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct field *f = &list->fields[i];
        if (f->leads > 0) {
            lead_row(f, sum, row);
            continue;
        }
        const double n = is_summed(list, f) ? field_number(f, row) : NAN;
        const double before = field_number(f, sum), all = isnan(before) ? n : before + n;
        if (f->adds && f->aged)
            add_age(f, sum, row);
        if (isnan(n))
            continue;
        if (f->form == FIELD_REAL)
            *(double *)(void *)(sum + f->offset) = all;
        else
            *(int64_t *)(void *)(sum + f->offset) = all < MOST ? (int64_t)all : INT64_MAX;
    }
}

static const struct field *find_weight(const struct field_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->fields[i].adds && list->fields[i].type == COLUMN_BYTES)
            return &list->fields[i];
    return &list->fields[0];
}

struct weighed {
    const char *row;
    double weight;
    size_t at;
};

static int compare_weights(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    const int order = (y->weight > x->weight) - (y->weight < x->weight);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

void table_order(struct table_detail *table, const struct field_list *list, const struct field *by,
                 struct arena *arena)
{
    const size_t n = table->n_rows;
    struct weighed *order = alloc_zero(n + 1, sizeof *order);
    char *rows = arena_alloc(arena, (n + 1) * list->row_bytes);
    for (size_t i = 0; i < n; i++) {
        const char *row = (const char *)table->rows + i * list->row_bytes;
        const double weight = field_number(by, row);
        order[i] = (struct weighed){row, isnan(weight) ? -INFINITY : weight, i};
    }
    qsort(order, n, sizeof *order, compare_weights);
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * list->row_bytes, order[i].row, list->row_bytes);
    table->rows = rows;
    free(order);
}

/* Their rows are the caller's to free. */
static struct table_detail add_up(const struct table_detail *table, const struct field_list *list,
                                  const struct field *by)
{
    struct table_detail out = *table;
    struct keyed *sorted = sort_rows(table, list, by);
    char *sums = alloc_zero(table->n_rows + 1, list->row_bytes);
    out.n_rows = 0;
    out.rows = sums;
    for (size_t i = 0; i < table->n_rows; i++) {
        if (i == 0 || slice_order(sorted[i].key, sorted[i - 1].key) != 0) {
            char *row = sums + out.n_rows++ * list->row_bytes;
            table_clear_row(list, row);
            *(struct slice *)(void *)(row + by->offset) = sorted[i].key;
        }
        add_row(list, sums + (out.n_rows - 1) * list->row_bytes, sorted[i].row);
    }
    free(sorted);
    return out;
}

void table_group(struct table_detail *out, const struct table_detail *table,
                 const struct field_list *list, const struct field *by, struct arena *arena)
{
    *out = add_up(table, list, by);
    void *sums = out->rows;
    if (table->before && !table->partial && !table->before->partial) {
        const struct table_detail before = add_up(table->before, list, by);
        rate_rows(out, &before, list, by, true);
        free(before.rows);
    }
    table_order(out, list, find_weight(list), arena);
    free(sums);
}

size_t table_group_columns(const struct field_list *list, const struct field *by, bool data,
                           const struct field *out[], size_t most)
{
    size_t n = 0;
    out[n++] = by;
    for (size_t i = 0; i < list->n; i++) {
        const struct field *f = &list->fields[i];
        const size_t more = f->adds ? (f->aged && data ? 3 : 1 + (size_t)f->leads) : 0;
        for (size_t k = 0; k < more && n < most; k++)
            out[n++] = &f[k];
    }
    return n;
}

bool table_adds(const struct field_list *list)
{
    const struct field *columns[2];
    return table_group_columns(list, &list->fields[0], false, columns, 2) > 1;
}
