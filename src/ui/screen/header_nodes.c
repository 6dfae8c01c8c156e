/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "header_nodes.h"

#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/model/fields.h"
#include "header_first.h"

#define LABEL_COLUMNS 10
#define VALUE_COLUMNS 9
#define NAME_LEAST 12 /* columns, of the node with the most */

/* The more important ones first: a low terminal has room for one or two. */
static const struct {
    const char *label, *low_label, *key;
    bool adds;
} measures[] = {{"memory", "memory", "memory_bytes", true},
                {"sched util", "highest util", "utilisation", false},
                {"run queue", "run queue", "run_queue", true},
                {"processes", "processes", "processes", true}};

struct spread {
    const struct field *field;
    double sum, least, median, most; /* NaN: of none it is known */
    struct slice most_name;
};

const struct table_detail *header_nodes(const struct model *m, const struct header_state *state)
{
    const struct table_detail *nodes = model_fleet(m);
    const bool is_one_open = !isnan(state->frozen_s) || model_recorded(m);
    const bool is_meant = state->several || !is_one_open;
    return is_meant && nodes && nodes->n_rows > 0 ? nodes : NULL;
}

static bool is_answering(const struct fleet_row *row)
{
    return row->up > 0;
}

static bool is_recorded(const struct fleet_row *row)
{
    return slice_is(row->state, "recorded");
}

void header_count_nodes(struct nodes_counts *out, const struct table_detail *nodes)
{
    const struct fleet_row *rows = nodes->rows;
    *out = (struct nodes_counts){.cost_share = NAN};
    for (size_t i = 0; i < nodes->n_rows; i++) {
        const bool is_opening =
            slice_is(rows[i].state, "waiting") || slice_is(rows[i].state, "connecting");
        if (is_answering(&rows[i]))
            out->answer++;
        else if (is_recorded(&rows[i]))
            out->recorded += rows[i].nodes;
        else if (is_opening)
            out->connecting += rows[i].nodes;
        else
            out->silent += rows[i].nodes;
        out->cost_share = fmax(out->cost_share, rows[i].cost_share);
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *all, size_t n)
{
    qsort(all, n, sizeof *all, compare_numbers);
    return n == 0 ? NAN : (all[n / 2] + all[(n - 1) / 2]) / 2;
}

static struct spread measure_nodes(const struct table_detail *nodes, const char *key)
{
    const struct fleet_row *rows = nodes->rows;
    struct spread s = {
        .field = field_find(&fleet_fields, slice_of(key)), .sum = NAN, .least = NAN, .most = NAN};
    double *known = alloc_zero(nodes->n_rows + 1, sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < nodes->n_rows; i++) {
        const bool counts = is_answering(&rows[i]) || is_recorded(&rows[i]);
        const double number = counts ? field_number(s.field, &rows[i]) : NAN;
        if (isnan(number))
            continue;
        if (n == 0 || number > s.most)
            s.most_name = rows[i].node;
        s.sum = n == 0 ? number : s.sum + number;
        s.least = fmin(s.least, number);
        s.most = fmax(s.most, number);
        known[n++] = number;
    }
    s.median = median_of(known, n);
    free(known);
    return s;
}

static const char *number_text(const struct spread *s, double n, bool ascii, char out[32])
{
    if (isnan(n))
        return text_count(out, 32, n);
    return field_number_text(s->field, n, ascii, out, 32);
}

/* With its label before it, to the right; false: there is no room for it. */
static bool put_number(struct canvas *c, struct rect r, int row, int *at, const char *label,
                       const char *value, int label_columns)
{
    const int width = label_columns + 1 + VALUE_COLUMNS;
    if (*at + width > r.columns)
        return false;
    canvas_puts(c, r, row, *at, STYLE_LABEL, label);
    canvas_puts(c, r, row, *at + width - text_columns(value), STYLE_VALUE, value);
    *at += width + HEADER_GAP;
    return true;
}

static void draw_spread(const struct spread *s, size_t measure, struct canvas *c, struct rect r,
                        int row)
{
    const struct {
        const char *label;
        double n;
    } parts[] = {{"least", s->least}, {"median", s->median}, {"most", s->most}};
    char text[32];
    int at = 1;
    bool fits = put_number(c, r, row, &at, measures[measure].label,
                           measures[measure].adds ? number_text(s, s->sum, c->ascii, text) : "",
                           LABEL_COLUMNS);
    for (size_t i = 0; fits && i < ARRAY_LEN(parts); i++)
        fits = put_number(c, r, row, &at, parts[i].label,
                          number_text(s, parts[i].n, c->ascii, text), text_columns(parts[i].label));
    if (fits && s->most > s->least && r.columns - at >= NAME_LEAST)
        canvas_put(c, r, row, at - 1, STYLE_NAME, s->most_name.s, s->most_name.len);
}

/* All that a low terminal has room for. */
static void draw_sums(const struct table_detail *nodes, struct canvas *c, struct rect r)
{
    int at = 1;
    for (size_t i = 0; i < ARRAY_LEN(measures); i++) {
        const struct spread s = measure_nodes(nodes, measures[i].key);
        const char *label = measures[i].low_label;
        char text[32];
        (void)number_text(&s, measures[i].adds ? s.sum : s.most, c->ascii, text);
        const int width = text_columns(label) + 1 + text_columns(text);
        if (at + width > r.columns)
            return;
        canvas_puts(c, r, 1, at, STYLE_LABEL, label);
        canvas_puts(c, r, 1, at + text_columns(label) + 1, STYLE_VALUE, text);
        at += width + HEADER_GAP;
    }
}

void header_draw_nodes(const struct table_detail *nodes, struct canvas *c, struct rect r)
{
    if (r.rows == 2)
        draw_sums(nodes, c, r);
    for (int i = 0; r.rows > 2 && i + 1 < r.rows && i < (int)ARRAY_LEN(measures); i++) {
        const struct spread s = measure_nodes(nodes, measures[i].key);
        draw_spread(&s, (size_t)i, c, r, i + 1);
    }
}
