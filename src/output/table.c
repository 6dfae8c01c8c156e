/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"

static size_t width_of(const char *text)
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
static void put_row(struct buf *out, const char *const *cells, size_t n, uint64_t left,
                    const size_t *widths)
{
    for (size_t c = 0; c < n; c++) {
        const bool last = c + 1 == n;
        const size_t width = width_of(cells[c]);
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

static void put_rows(struct buf *out, const char *const *titles, const char *const *cells,
                     size_t n_rows, size_t n, size_t stride, uint64_t left)
{
    size_t widths[ROWS_COLUMNS] = {0};
    for (size_t c = 0; c < n; c++) {
        widths[c] = width_of(titles[c]);
        for (size_t i = 0; i < n_rows; i++)
            if (width_of(cells[i * stride + c]) > widths[c])
                widths[c] = width_of(cells[i * stride + c]);
    }
    put_row(out, titles, n, left, widths);
    for (size_t i = 0; i < n_rows; i++)
        put_row(out, &cells[i * stride], n, left, widths);
}

void text_table_put(struct buf *out, const struct text_table *t)
{
    if (t->n_rows == 0)
        return;
    buf_put_u8(out, '\n');
    put_rows(out, t->titles, t->cells[0], t->n_rows, t->n_columns, TABLE_CELLS, t->left);
}

static const char *cell_of(struct arena *arena, const struct text_rows *t, const struct field *f,
                           const void *row, bool ascii)
{
    const char *instead = t->instead ? t->instead(f, row) : NULL;
    const double n = field_number(f, row);
    const struct slice text = field_text(f, row);
    char number[48];
    if (instead)
        return instead;
    if (field_is_number(f) && !isnan(n))
        return arena_strdup(arena, field_number_text(f, n, ascii, number, sizeof number));
    if (text.len > 0)
        return slice_keep_safe(arena, text, ascii).s;
    return ascii ? "-" : "–";
}

void text_rows_put(struct buf *out, const struct text_rows *t, bool ascii)
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
        for (size_t i = 0; i < t->n; i++)
            cells[i * n + c] =
                cell_of(&arena, t, fields[c], (const char *)t->rows + i * t->row_bytes, ascii);
    }
    put_rows(out, titles, cells, t->n, n, n, left);
    arena_clear(&arena);
}
