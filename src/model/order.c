/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting here what the target does not rank by: names, functions, pids, ages. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/column.h"
#include "internal.h"

/* A row with what it is compared by. */
struct ordered {
    struct proc_row row;
    struct slice text;
    double number;
    bool unknown; /* always last */
    int sign;
    size_t place; /* in the answer: equal rows keep their order */
};

static double pid_number(const struct etf_pid *pid)
{
    return (double)pid->serial * 4294967296.0 + pid->id;
}

static void take_key(struct ordered *o, const struct field *column)
{
    const struct etf_pid *pid = field_pid(column, &o->row);
    if (column->type == COLUMN_TEXT)
        o->text = proc_column_text(column, &o->row);
    else
        o->number = pid ? pid_number(pid) : field_number(column, &o->row);
    o->unknown = column->type == COLUMN_TEXT ? o->text.len == 0 : isnan(o->number);
}

static int compare_ordered(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int order = 0;
    if (a->unknown != b->unknown)
        return a->unknown ? 1 : -1;
    if (a->text.s || b->text.s)
        order = slice_order(a->text, b->text);
    else if (!a->unknown)
        order = (a->number > b->number) - (a->number < b->number);
    order *= a->sign;
    return order != 0 ? order : (a->place > b->place) - (a->place < b->place);
}

static bool was_asked_for(const struct want_scan *asked, const struct etf_pid *pid)
{
    for (int i = 0; i < asked->n_pids; i++)
        if (asked->pids[i].id == pid->id && asked->pids[i].serial == pid->serial)
            return true;
    return false;
}

/* Text and pids go up by nature, numbers down. */
static bool goes_up(const struct field *column, const struct want_scan *asked)
{
    return field_is_number(column) == asked->ascending;
}

void order_rows(struct proc_scan *scan, const struct field *column, const struct want_scan *asked)
{
    size_t n = scan->n_rows, kept = 0;
    struct ordered *rows = alloc_zero(n + 1, sizeof *rows);
    scan->sorted_among = (int64_t)n < scan->matching ? (int64_t)n : -1;
    for (size_t i = 0; i < n; i++) {
        rows[i] = (struct ordered){
            .row = scan->rows[i], .place = i, .sign = goes_up(column, asked) ? 1 : -1};
        take_key(&rows[i], column);
    }
    qsort(rows, n, sizeof *rows, compare_ordered);
    for (size_t i = 0; i < n; i++)
        if (i < (size_t)asked->rows || was_asked_for(asked, &rows[i].row.pid))
            scan->rows[kept++] = rows[i].row;
    scan->n_rows = kept;
    free(rows);
}
