/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "page.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/model/shown_name.h"
#include "ui/canvas/graph.h"

#define GRAPH_COLUMNS 240 /* the widest graph within a page */

void page_init(struct view_page *p)
{
    *p = (struct view_page){0};
    arena_init(&p->arena);
    p->sort_column = p->bar_column = -1;
}

void page_reset(struct view_page *p)
{
    struct arena arena = p->arena;
    bool ascii = p->ascii;
    arena_reset(&arena);
    *p = (struct view_page){0};
    p->arena = arena;
    p->ascii = ascii;
    p->sort_column = p->bar_column = -1;
}

void page_clear(struct view_page *p)
{
    arena_clear(&p->arena);
    *p = (struct view_page){0};
}

/* Doubles an array of the arena; the old one stays there until the reset. */
static void *grow_array(struct arena *a, const void *old, size_t n, size_t *cap, size_t size)
{
    *cap = *cap ? *cap * 2 : 8;
    void *p = arena_alloc(a, *cap * size);
    if (n)
        memcpy(p, old, n * size);
    return p;
}

static const char *page_format(struct view_page *p, size_t *len, const char *fmt, va_list ap)
    ATTR_PRINTF(3, 0);
static const char *page_format(struct view_page *p, size_t *len, const char *fmt, va_list ap)
{
    char text[1024];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    *len = n < 0 ? 0 : (size_t)n >= sizeof text ? sizeof text - 1 : (size_t)n;
    return arena_strndup(&p->arena, text, *len);
}

/* ---- tables */

void page_columns(struct view_page *p, const struct view_column *columns, size_t n)
{
    assert(p->n_rows == 0);
    p->columns = columns;
    p->n_columns = n;
}

struct view_row *page_row(struct view_page *p)
{
    if (p->n_rows == p->cap_rows)
        p->rows = grow_array(&p->arena, p->rows, p->n_rows, &p->cap_rows, sizeof *p->rows);
    struct view_row *row = &p->rows[p->n_rows++];
    *row = (struct view_row){0};
    row->key = NAN;
    row->cells = arena_alloc(&p->arena, p->n_columns * sizeof *row->cells);
    for (size_t i = 0; i < p->n_columns; i++)
        row->cells[i].s = "";
    return row;
}

struct slice page_name(struct view_page *p, struct slice name)
{
    return shown_name(&p->arena, name);
}

void page_cell(struct view_page *p, struct view_row *row, size_t column, enum style style,
               const char *s, size_t len)
{
    assert(column < p->n_columns);
    const struct slice name = page_name(p, (struct slice){s ? s : "", s ? len : 0});
    row->cells[column] =
        (struct text_span){arena_strndup(&p->arena, name.s, name.len), name.len, style};
}

void page_cell_printf(struct view_page *p, struct view_row *row, size_t column, enum style style,
                      const char *fmt, ...)
{
    assert(column < p->n_columns);
    va_list ap;
    va_start(ap, fmt);
    size_t len;
    const char *s = page_format(p, &len, fmt, ap);
    va_end(ap);
    row->cells[column] = (struct text_span){s, len, style};
}

struct sorting {
    struct view_row row;
    size_t index;
    const struct view_page *page;
};

static int compare_text(struct text_span a, struct text_span b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.s, b.s, n) : 0;
    if (order == 0)
        order = (a.len > b.len) - (a.len < b.len);
    return order;
}

static int compare_rows(const void *left, const void *right)
{
    const struct sorting *a = left, *b = right;
    int direction = a->page->sort_descending ? -1 : 1, order = 0;
    bool unknown_a = isnan(a->row.key), unknown_b = isnan(b->row.key);
    if (unknown_a != unknown_b)
        return unknown_a ? 1 : -1;
    if (unknown_a)
        order =
            compare_text(a->row.cells[a->page->sort_column], b->row.cells[a->page->sort_column]);
    else
        order = (a->row.key > b->row.key) - (a->row.key < b->row.key);
    if (order)
        return order * direction;
    return (a->index > b->index) - (a->index < b->index);
}

static void sort_from(struct view_page *p, size_t first)
{
    const size_t n = p->n_rows - first;
    if (p->sort_column < 0 || n < 2)
        return;
    struct sorting *all = arena_alloc(&p->arena, n * sizeof *all);
    for (size_t i = 0; i < n; i++)
        all[i] = (struct sorting){p->rows[first + i], i, p};
    qsort(all, n, sizeof *all, compare_rows);
    for (size_t i = 0; i < n; i++)
        p->rows[first + i] = all[i].row;
}

void page_sort(struct view_page *p)
{
    sort_from(p, 0);
}

void page_sort_below(struct view_page *p, size_t first, size_t above)
{
    const size_t n = p->n_rows - first, between = first - above - 1;
    sort_from(p, first);
    if (n == 0 || between == 0)
        return;
    struct view_row *moved = arena_alloc(&p->arena, n * sizeof *moved);
    memcpy(moved, p->rows + first, n * sizeof *moved);
    memmove(p->rows + above + 1 + n, p->rows + above + 1, between * sizeof *moved);
    memcpy(p->rows + above + 1, moved, n * sizeof *moved);
}

/* ---- documents */

struct view_line *page_line(struct view_page *p)
{
    if (p->n_lines == p->cap_lines)
        p->lines = grow_array(&p->arena, p->lines, p->n_lines, &p->cap_lines, sizeof *p->lines);
    struct view_line *line = &p->lines[p->n_lines++];
    *line = (struct view_line){0};
    return line;
}

static void add_page_span(struct view_page *p, enum style style, const char *s, size_t len)
{
    struct view_line *line = p->n_lines ? &p->lines[p->n_lines - 1] : page_line(p);
    if (line->n_spans == line->cap_spans)
        line->spans = grow_array(&p->arena, line->spans, line->n_spans, &line->cap_spans,
                                 sizeof *line->spans);
    line->spans[line->n_spans++] = (struct text_span){s, len, style};
    line->width += (int)text_width(s, len);
}

void page_put(struct view_page *p, enum style style, const char *s, size_t len)
{
    if (s && len)
        add_page_span(p, style, arena_strndup(&p->arena, s, len), len);
}

void page_puts(struct view_page *p, enum style style, const char *s)
{
    page_put(p, style, s, strlen(s));
}

void page_slice(struct view_page *p, enum style style, struct slice s)
{
    page_put(p, style, s.s, s.len);
}

void page_printf(struct view_page *p, enum style style, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    size_t len;
    const char *s = page_format(p, &len, fmt, ap);
    va_end(ap);
    if (len)
        add_page_span(p, style, s, len);
}

void page_tab(struct view_page *p, int column)
{
    int width = p->n_lines ? p->lines[p->n_lines - 1].width : 0;
    int spaces = column > width ? column - width : width ? 1 : 0;
    if (spaces > 0)
        page_printf(p, STYLE_NORMAL, "%*s", spaces, "");
}

void page_text(struct view_page *p, enum style style, const char *s)
{
    page_line(p);
    page_puts(p, style, s);
}

void page_label(struct view_page *p, const char *label, int column)
{
    page_line(p);
    page_printf(p, STYLE_LABEL, "  %s", label);
    page_tab(p, column);
}

void page_heading(struct view_page *p, const char *title)
{
    if (p->n_lines)
        page_line(p);
    page_line(p)->heading = true;
    page_puts(p, STYLE_HEADING, title);
}

void page_right(struct view_page *p, enum style style, int width, const char *text)
{
    int used = text_columns(text);
    if (used < width)
        page_printf(p, STYLE_NORMAL, "%*s", width - used, "");
    page_puts(p, style, text);
}

void page_spark(struct view_page *p, const struct ring *ring, int columns, size_t window,
                double max)
{
    char out[GRAPH_COLUMNS * GRAPH_CELL_BYTES + 1];
    if (!ring || columns <= 0)
        return;
    columns = columns > GRAPH_COLUMNS ? GRAPH_COLUMNS : columns;
    page_puts(p, STYLE_GRAPH, graph_spark(out, sizeof out, ring, columns, window, max, p->ascii));
}

void page_bar(struct view_page *p, int columns, double fraction)
{
    char out[GRAPH_COLUMNS * GRAPH_CELL_BYTES + 1];
    columns = columns > GRAPH_COLUMNS ? GRAPH_COLUMNS : columns;
    int filled = graph_bar_cells(columns, fraction);
    int calm = graph_bar_cells(columns, 0.8);
    int low = filled < calm ? filled : calm;
    page_puts(p, STYLE_GRAPH, graph_bar(out, sizeof out, low, true, p->ascii));
    page_puts(p, STYLE_GRAPH_HIGH, graph_bar(out, sizeof out, filled - low, true, p->ascii));
    page_puts(p, STYLE_DIM, graph_bar(out, sizeof out, columns - filled, false, p->ascii));
}

/* ---- what stands beside the title */

void page_summary(struct view_page *p, int columns, int title, const char *fmt, ...)
{
    char text[sizeof p->summary - sizeof ", "];
    size_t used = strlen(p->summary);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t width = text_width(p->summary, used) + text_width(text, strlen(text));
    if (*text && (int)width + title <= columns && used + strlen(text) + 3 < sizeof p->summary)
        snprintf(p->summary + used, sizeof p->summary - used, "%s%s", used ? ", " : "", text);
}

const char *page_key(const struct view_page *p, enum context context, enum action action, char *out,
                     size_t size)
{
    if (!keymap_first_key_of(p->keymap, context, action, NULL, out, size))
        snprintf(out, size, ":%s", action_table[action].name);
    return out;
}

const char *page_duration(const struct view_page *p, char *out, size_t size, double seconds)
{
    return text_duration_as(out, size, seconds, p->ascii);
}

void page_missing(struct view_page *page, const struct model *m, const char *what)
{
    if (model_recorded(m))
        snprintf(page->empty, sizeof page->empty, "Not recorded, at this tick or before: %s.",
                 what);
    else
        snprintf(page->empty, sizeof page->empty, "Waiting for the node's answer.");
}

void page_missing_one(struct view_page *page, const struct model *m, const char *what,
                      const char *thing, bool answered)
{
    page_missing(page, m, what);
    if (answered)
        snprintf(
            page->empty, sizeof page->empty,
            "Waiting for the node's answer: one %s is read at a time, that of the focused pane.",
            thing);
}

/* ---- links */

void link_name(struct view_link *link, enum link_kind kind, struct slice name)
{
    size_t len = name.len < sizeof link->name - 1 ? name.len : sizeof link->name - 1;
    link->kind = kind;
    if (len)
        memcpy(link->name, name.s, len);
    link->name[len] = '\0';
}

void link_process(struct view_link *link, const struct etf_pid *pid, struct slice name)
{
    link_name(link, TARGET_PROCESS, name);
    link->pid = *pid;
}

size_t page_opened(const struct view_page *p, uint64_t opened)
{
    size_t at = 0;
    while (at < p->n_rows && p->rows[at].link.id != opened)
        at++;
    return at;
}

uint64_t pid_identity(const struct etf_pid *pid)
{
    /* creation is the node's own for all of them; +1: never 0 */
    return (((uint64_t)pid->serial << 32) | pid->id) + 1;
}

char *pid_text(char *out, size_t size, const struct etf_pid *pid)
{
    snprintf(out, size, PID_FORMAT, PID_NUMBERS(pid));
    return out;
}
