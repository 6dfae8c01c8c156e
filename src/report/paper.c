/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "paper.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"

void paper_init(struct paper *p)
{
    arena_init(&p->arena);
    p->first = NULL;
    p->last = &p->first;
    p->title = "";
}

void paper_clear(struct paper *p)
{
    arena_clear(&p->arena);
    paper_init(p);
}

static struct block *add_block(struct paper *p, enum block_kind kind)
{
    struct block *b = arena_alloc(&p->arena, sizeof *b);
    b->kind = kind;
    b->text = b->word = b->aside = "";
    b->last_row = &b->rows;
    *p->last = b;
    p->last = &b->next;
    return b;
}

static const char *format_text(struct paper *p, const char *fmt, va_list args) ATTR_PRINTF(2, 0);
static const char *format_text(struct paper *p, const char *fmt, va_list args)
{
    char text[2048];
    vsnprintf(text, sizeof text, fmt, args);
    return arena_strdup(&p->arena, text);
}

void paper_heading(struct paper *p, int level, const char *fmt, ...)
{
    va_list args;
    struct block *b = add_block(p, BLOCK_HEADING);
    va_start(args, fmt);
    b->text = format_text(p, fmt, args);
    va_end(args);
    b->level = level;
}

void paper_put(struct paper *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_block(p, BLOCK_TEXT)->text = format_text(p, fmt, args);
    va_end(args);
}

void paper_item(struct paper *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_block(p, BLOCK_ITEM)->text = format_text(p, fmt, args);
    va_end(args);
}

struct block *paper_finding(struct paper *p, const char *word, const char *aside, const char *title)
{
    struct block *b = add_block(p, BLOCK_FINDING);
    b->word = word;
    b->aside = arena_strdup(&p->arena, aside);
    b->text = arena_strdup(&p->arena, title);
    return b;
}

struct block *paper_table(struct paper *p, const char *const *titles, size_t columns,
                          const char *align)
{
    struct block *b = add_block(p, BLOCK_TABLE);
    assert(columns <= PAPER_COLUMNS && strlen(align) == columns);
    b->titles = titles;
    b->columns = columns;
    b->align = align;
    return b;
}

static struct paper_row *copy_row(struct paper *p, struct block *table, const char *const *cells)
{
    struct paper_row *row = arena_alloc(&p->arena, sizeof *row);
    for (size_t i = 0; i < table->columns; i++)
        row->cells[i] = arena_strdup(&p->arena, cells[i]);
    *table->last_row = row;
    table->last_row = &row->next;
    return row;
}

void paper_row(struct paper *p, struct block *table, const char *const *cells)
{
    (void)copy_row(p, table, cells);
}

void paper_legend_row(struct paper *p, struct block *table, const char *const *cells)
{
    copy_row(p, table, cells)->legend = true;
}

const char *number_text(struct arena *a, enum column_type type, double v)
{
    char out[64];
    if (isnan(v))
        return "–";
    if (type == COLUMN_BYTES || type == COLUMN_BYTE_RATE)
        return arena_strdup(a, text_bytes(out, sizeof out, v));
    if (type == COLUMN_SHARE)
        return arena_strdup(a, text_percent(out, sizeof out, v));
    if (type == COLUMN_SECONDS)
        return arena_strdup(a, text_duration(out, sizeof out, v));
    if (fabs(v) < 100 && v != floor(v))
        return arena_printf(a, "%.2f", v);
    return arena_strdup(a, text_count(out, sizeof out, v));
}

const char *slice_text(struct arena *a, struct slice s)
{
    return arena_strndup(a, s.len > 0 ? s.s : "", s.len);
}

static const char *cell_text(struct arena *a, const struct field *f, const void *row)
{
    const double n = field_number(f, row);
    char out[48];
    if (!field_is_number(f))
        return slice_text(a, field_text(f, row));
    if (!isnan(n) && (f->look == LOOK_ERROR || (f->type == COLUMN_COUNT && f->look != LOOK_SHORT)))
        return arena_strdup(a, field_number_text(f, n, false, out, sizeof out));
    return f->look == LOOK_MICROSECONDS ? number_text(a, COLUMN_SECONDS, n / 1e6)
                                        : number_text(a, f->type, n);
}

struct block *paper_rows(struct paper *p, const struct field_list *list, const void *rows, size_t n,
                         size_t row_bytes)
{
    const struct field *fields[PAPER_COLUMNS];
    const size_t columns = field_columns(list, NULL, fields, PAPER_COLUMNS);
    const char **titles = arena_alloc(&p->arena, columns * sizeof *titles);
    char *align = arena_alloc(&p->arena, columns + 1), words[FIELD_TITLE_BYTES];
    for (size_t c = 0; c < columns; c++) {
        titles[c] = arena_strdup(&p->arena, field_title(fields[c], false, words));
        align[c] = field_is_number(fields[c]) ? 'r' : 'l';
    }
    align[columns] = '\0';
    struct block *table = paper_table(p, titles, columns, align);
    for (size_t i = 0; i < n; i++) {
        const char *cells[PAPER_COLUMNS];
        for (size_t c = 0; c < columns; c++)
            cells[c] = cell_text(&p->arena, fields[c], (const char *)rows + i * row_bytes);
        paper_row(p, table, cells);
    }
    return table;
}

static bool is_empty(const char *cell)
{
    return *cell == '\0' || strcmp(cell, "–") == 0;
}

static bool has_something(const struct block *table, size_t column)
{
    for (const struct paper_row *r = table->rows; r; r = r->next)
        if (!is_empty(r->cells[column]))
            return true;
    return false;
}

static void drop_empty_columns(struct paper *p, struct block *table)
{
    const char **titles = arena_alloc(&p->arena, PAPER_COLUMNS * sizeof *titles);
    char *align = arena_strdup(&p->arena, table->align);
    size_t n = 0;
    for (size_t i = 0; i < table->columns; i++) {
        if (i > 0 && !has_something(table, i))
            continue;
        titles[n] = table->titles[i];
        align[n] = table->align[i];
        for (struct paper_row *r = table->rows; r; r = r->next)
            r->cells[n] = r->cells[i];
        n++;
    }
    align[n] = '\0';
    table->titles = titles;
    table->align = align;
    table->columns = n;
}

void paper_drop_empty_columns(struct paper *p)
{
    for (struct block *b = p->first; b; b = b->next)
        if (b->kind == BLOCK_TABLE && !b->recordings && b->rows)
            drop_empty_columns(p, b);
}

struct block *paper_chart(struct paper *p, const char *title, const double *values, size_t n)
{
    struct block *b = add_block(p, BLOCK_CHART);
    double *copy = arena_alloc(&p->arena, (n + 1) * sizeof *copy);
    b->text = arena_strdup(&p->arena, title);
    for (size_t i = 0; i < n; i++) {
        copy[i] = values[i];
        b->top = fmax(b->top, values[i]);
    }
    b->values = copy;
    b->n_values = n;
    b->low = b->high = b->begin = b->end = "";
    return b;
}
