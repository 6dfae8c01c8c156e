/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"

static size_t cell_width(const char *text)
{
    return text_width(text, strlen(text));
}

void text_pad(struct buf *out, size_t from, size_t to)
{
    for (; from < to; from++)
        buf_put_u8(out, ' ');
}

#define ROWS_COLUMNS 40

/* left: a bit for each column. */
static void put_table_row(struct buf *out, const char *const *cells, size_t n, uint64_t left,
                          const size_t *widths)
{
    for (size_t c = 0; c < n; c++) {
        const bool last = c + 1 == n;
        const size_t width = cell_width(cells[c]);
        if (!(left >> c & 1))
            text_pad(out, width, widths[c]);
        buf_puts(out, cells[c]);
        if (!last && left >> c & 1)
            text_pad(out, width, widths[c]);
        buf_puts(out, last ? "" : "  ");
    }
    while (out->data[out->len - 1] == ' ')
        out->len--;
    buf_put_u8(out, '\n');
}

static void measure_columns(const char *const *titles, const char *const *cells, size_t n_rows,
                            size_t n, size_t stride, size_t *widths)
{
    for (size_t c = 0; c < n; c++) {
        widths[c] = cell_width(titles[c]);
        for (size_t i = 0; i < n_rows; i++)
            if (cell_width(cells[i * stride + c]) > widths[c])
                widths[c] = cell_width(cells[i * stride + c]);
    }
}

static void put_table_rows(struct buf *out, const char *const *titles, const char *const *cells,
                           size_t n_rows, size_t n, size_t stride, uint64_t left)
{
    size_t widths[ROWS_COLUMNS];
    measure_columns(titles, cells, n_rows, n, stride, widths);
    put_table_row(out, titles, n, left, widths);
    for (size_t i = 0; i < n_rows; i++)
        put_table_row(out, &cells[i * stride], n, left, widths);
}

void text_table_put(struct buf *out, const struct text_table *t)
{
    if (t->n_rows == 0)
        return;
    buf_put_u8(out, '\n');
    put_table_rows(out, t->titles, t->cells[0], t->n_rows, t->n_columns, TABLE_CELLS, t->left);
}

const char *text_cell(struct arena *arena, const struct field *f, const void *row, bool ascii)
{
    const double n = field_number(f, row);
    const struct slice text = field_text(f, row);
    char number[48];
    if (field_is_number(f) && !isnan(n))
        return arena_printf(arena, "%s%s", field_bound_text(f, row, ascii),
                            field_number_text(f, n, ascii, number, sizeof number));
    if (text.len > 0)
        return slice_keep_safe(arena, text, ascii).s;
    return ascii ? "-" : "–";
}

const char *text_fit(struct arena *arena, const char *text, size_t width, bool ascii)
{
    const char *omission = ascii ? "..." : "…";
    const size_t least = cell_width(omission);
    size_t shown;
    if (cell_width(text) <= width || width < least)
        return text;
    const size_t bytes = text_prefix(text, strlen(text), width - least, &shown);
    return arena_printf(arena, "%.*s%s", (int)bytes, text, omission);
}

/* Truncates the widest growing column first. */
static void fit_cells(struct arena *arena, const char **cells, const char *const *titles,
                      const struct field *const *fields, size_t n, const struct text_rows *t,
                      size_t width, bool ascii)
{
    size_t widths[ROWS_COLUMNS], all = 2 * (n - 1);
    measure_columns(titles, cells, t->n, n, n, widths);
    for (size_t c = 0; c < n; c++)
        all += widths[c];
    for (size_t widest = 0; all > width && widest < n; all--) {
        widest = n;
        for (size_t c = 0; c < n; c++)
            if (fields[c]->grows && widths[c] > cell_width(titles[c]) &&
                (widest == n || widths[c] > widths[widest]))
                widest = c;
        if (widest < n)
            widths[widest]--;
    }
    for (size_t i = 0; i < t->n * n; i++)
        cells[i] = text_fit(arena, cells[i], widths[i % n], ascii);
}

void text_rows_put(struct buf *out, const struct text_rows *t, bool ascii)
{
    text_rows_put_within(out, t, SIZE_MAX, ascii);
}

void text_rows_put_within(struct buf *out, const struct text_rows *t, size_t width, bool ascii)
{
    const struct field *fields[ROWS_COLUMNS];
    const char *titles[ROWS_COLUMNS];
    const size_t n = field_columns(t->fields, t->columns, fields, ROWS_COLUMNS);
    char words[ROWS_COLUMNS][FIELD_TITLE_BYTES];
    uint64_t left = 0;
    struct arena arena;
    arena_init(&arena);
    const char **cells = arena_alloc(&arena, (t->n * n + 1) * sizeof *cells);
    for (size_t c = 0; c < n; c++) {
        titles[c] = field_title(fields[c], true, words[c]);
        left |= (uint64_t)(fields[c]->type == COLUMN_TEXT || fields[c]->type == COLUMN_BOOL) << c;
        for (size_t i = 0; i < t->n; i++) {
            const void *row = (const char *)t->rows + i * t->row_bytes;
            const char *instead = t->instead ? t->instead(fields[c], row) : NULL;
            cells[i * n + c] = instead ? instead : text_cell(&arena, fields[c], row, ascii);
        }
    }
    fit_cells(&arena, cells, titles, fields, n, t, width, ascii);
    put_table_rows(out, titles, cells, t->n, n, n, left);
    arena_clear(&arena);
}
