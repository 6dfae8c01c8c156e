/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of a root: a line with a bar for each span and each wait that none explains, and one
 * with the times of the span. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "output/table.h"
#include "spans_text.h"

enum { OFFSET_WIDTH = 8, TIME_WIDTH = 9, GAP = 2, SAMPLED_ROWS = 4 };

struct tree {
    const struct spans_page *p;
    size_t name, bar;
    const char **signs;
};

/* ---- lines */

static void put_bars(struct tree *t, const struct bars *bars)
{
    size_t n = 0;
    for (size_t i = 0; i < t->bar; i++)
        t->signs[i] = " ";
    for (size_t i = 0; i < bars->n; i++) {
        int at, end;
        bar_cells(&bars->at[i], (int)t->bar, &at, &end);
        for (; at < end; at++)
            t->signs[at] = bar_signs[bars->at[i].mark][t->p->ascii];
        n = end > 0 && (size_t)end > n ? (size_t)end : n;
    }
    for (size_t i = 0; i < n; i++)
        buf_puts(t->p->out, t->signs[i]);
}

/* `indent` is cut, so that a deep span has a name: "+40 " shows how deep it is. */
static const char *indented(const struct tree *t, size_t indent, const char *text)
{
    const size_t most = t->name / 3;
    if (indent <= most)
        return arena_printf(&t->p->f->arena, "%*s%s", (int)indent, "", text);
    return arena_printf(&t->p->f->arena, "%*s+%zu %s", (int)(most - 4), "", indent / 2, text);
}

static void put_line(struct tree *t, const char *name, const char *offset, const char *took,
                     const struct bars *bars)
{
    struct buf *out = t->p->out;
    const char *shown = text_fit(&t->p->f->arena, name, t->name, t->p->ascii);
    buf_puts(out, shown);
    text_pad(out, text_width(shown, strlen(shown)), t->name + GAP);
    text_pad(out, text_width(offset, strlen(offset)), OFFSET_WIDTH);
    buf_puts(out, offset);
    text_pad(out, text_width(took, strlen(took)), GAP + TIME_WIDTH);
    buf_puts(out, took);
    text_pad(out, 0, GAP);
    put_bars(t, bars);
    while (out->data[out->len - 1] == ' ')
        out->len--;
    buf_puts(out, "\n");
}

/* "call shop_cart add", "waiting for shop_cart: timeout" */
static const char *label_of(const struct tree *t, const struct spans_row *row)
{
    struct buf name;
    buf_init(&name, 0);
    if (row->is == SPANS_ROW_SPAN) {
        const struct span *span = spans_at(t->p->f->s, row->index);
        span_put_name(&name, span);
        if (!span_is_function(span) && span->operation.len > 0)
            buf_printf(&name, " %.*s", (int)span->operation.len, span->operation.s);
    } else {
        buf_put(&name, row->operation.s, row->operation.len);
        if (row->name.len > 0)
            buf_printf(&name, " for %.*s", (int)row->name.len, row->name.s);
        if (row->outcome.len > 0)
            buf_printf(&name, ": %.*s", (int)row->outcome.len, row->outcome.s);
    }
    return spans_safe(t->p, slice_take(&t->p->f->arena, &name));
}

/* ---- below a span */

/* "ok, <0.89.0>, queued 12 µs, self 8.1 ms", folded at the width. */
static void put_times(struct tree *t, struct spans_line line, const struct spans_row *row)
{
    static const struct {
        const char *key, *word;
    } times[] = {{"queued_us", "queued"},
                 {"self_us", "self"},
                 {"nested_us", "nested"},
                 {"wait_us", "wait"},
                 {"unattributed_us", "unattributed"},
                 {"off_cpu_us", "off CPU"}};
    const struct spans_page *p = t->p;
    const struct span *span = spans_at(p->f->s, row->index);
    const struct slice pid = spans_pid(&p->f->arena, &span->process);
    const bool waits = span->waiting_on.name.len > 0 || span->waiting_on.pid.id != 0 ||
                       span->waiting_on.pid.serial != 0;
    spans_put_item(&line, spans_safe(p, row->outcome));
    if (row->leaf)
        spans_put_item(&line, "not captured: as its caller saw it");
    if (pid.len > 0 && span->kind != SPAN_FUNCTION &&
        (span->kind == SPAN_ROOT || span->process.name.len > 0))
        spans_put_item(&line, pid.s);
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        const struct field *f = field_find(&spans_span_fields, slice_of(times[i].key));
        if (field_number(f, row) > 0)
            SPANS_PUT(&line, "%s %s", times[i].word, text_cell(&p->f->arena, f, row, p->ascii));
    }
    if (waits && (span->wait_ns > 0 || span->nested_ns > 0))
        SPANS_PUT(&line, "waits most for %s", spans_named(p, &span->waiting_on));
    buf_puts(p->out, "\n");
}

struct sampled_row {
    struct slice function;
    uint32_t samples;
};

static int by_most(const void *a, const void *b)
{
    const struct sampled_row *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    return slice_order(x->function, y->function);
}

/* The functions that its samples were in; of native code, those that called it. */
static struct sampled_row *sampled_rows(struct arena *arena, const struct spans *s, uint32_t at,
                                        size_t *n, uint32_t *all)
{
    const struct sample_frame *frames[LIMIT_STACK_DEPTH];
    size_t stacks;
    const struct span_stack *sampled = spans_sampled(s, at, &stacks);
    struct sampled_row *rows = arena_alloc(arena, (stacks + 1) * sizeof *rows);
    *n = *all = 0;
    for (size_t i = 0; i < stacks; i++) {
        size_t depth = span_stack_frames(s, &sampled[i], frames), k = 0;
        while (depth > 0 && !frame_is_function(frames[depth - 1]->kind))
            depth--;
        const struct slice function = depth > 0 ? frames[depth - 1]->name : slice_of("in itself");
        while (k < *n && !slice_equal(rows[k].function, function))
            k++;
        if (k == *n)
            rows[(*n)++] = (struct sampled_row){.function = function};
        rows[k].samples += sampled[i].samples;
        *all += sampled[i].samples;
    }
    if (*n > 1)
        qsort(rows, *n, sizeof *rows, by_most);
    return rows;
}

/* "on a CPU 12 times: lists:map/2 58%, shop:price/1 25%" */
static void put_samples(struct tree *t, struct spans_line line, uint32_t at)
{
    const struct spans_page *p = t->p;
    struct arena *arena = &p->f->arena;
    size_t n;
    uint32_t all;
    const struct sampled_row *rows = sampled_rows(arena, p->f->s, at, &n, &all);
    for (size_t i = 0; i < n && i < SAMPLED_ROWS; i++) {
        char share[32];
        text_percent(share, sizeof share, (double)rows[i].samples / all);
        const char *first =
            i > 0 ? "" : arena_printf(arena, "on a CPU %u time%s: ", all, all == 1 ? "" : "s");
        SPANS_PUT(&line, "%s%s %s", first, spans_safe(p, rows[i].function), share);
    }
    if (n > 0)
        buf_puts(p->out, "\n");
}

static void put_row(void *to, const struct spans_row *row)
{
    struct tree *t = to;
    const struct spans_page *p = t->p;
    struct arena *arena = &p->f->arena;
    const struct field *offset = field_find(&spans_span_fields, slice_of("offset_us"));
    const struct field *took = field_find(&spans_span_fields, slice_of("duration_us"));
    const size_t indent = 2 * (size_t)row->depth + (row->is == SPANS_ROW_WORDS ? 2 : 4);
    struct spans_line line = {p, indent < t->name ? indent : t->name,
                              indent < t->name ? indent : t->name, 0};
    if (row->is == SPANS_ROW_WORDS) {
        SPANS_PUT(&line, "%s%s%s", spans_safe(p, row->operation), row->name.len > 0 ? " " : "",
                  spans_safe(p, row->name));
        buf_puts(p->out, "\n");
        return;
    }
    put_line(t, indented(t, 2 * (size_t)row->depth, label_of(t, row)),
             text_cell(arena, offset, row, p->ascii), text_cell(arena, took, row, p->ascii),
             &row->bars);
    if (row->is != SPANS_ROW_SPAN)
        return;
    put_times(t, line, row);
    put_samples(t, line, row->index);
}

void spans_put_tree(const struct spans_page *p, uint32_t root)
{
    const size_t numbers = OFFSET_WIDTH + TIME_WIDTH + 3 * GAP;
    const struct bars none = {0};
    struct tree t = {.p = p, .name = p->columns * 2 / 5};
    t.name = t.name > 48 ? 48 : t.name;
    t.bar = p->columns - t.name - numbers;
    t.signs = arena_alloc(&p->f->arena, t.bar * sizeof *t.signs);
    put_line(&t, "SPAN", "START", "TIME", &none);
    spans_tree_rows(&p->f->rows, root, put_row, &t);
}
