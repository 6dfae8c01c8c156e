/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/model/shown_name.h"

static size_t width_of(const char *text)
{
    return text_width(text, strlen(text));
}

void text_pad(struct buf *out, size_t from, size_t to)
{
    for (; from < to; from++)
        buf_put_u8(out, ' ');
}

/* left: a bit for each column. */
static void put_table_row(struct buf *out, const char *const *cells, size_t n, uint64_t left,
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

const char *text_cell(struct arena *arena, const struct field *f, const void *row, bool ascii)
{
    const double n = field_number(f, row);
    const struct slice text = shown_name(arena, field_text(f, row));
    char number[48];
    if (field_is_number(f) && !isnan(n))
        return arena_printf(arena, "%s%s", field_bound_text(f, row, ascii),
                            field_number_text(f, n, ascii, number, sizeof number));
    if (text.len > 0)
        return slice_keep_safe(arena, text, ascii).s;
    if (field_pid(f, row))
        return arena_printf(arena, PID_FORMAT, PID_NUMBERS(field_pid(f, row)));
    return ascii ? "-" : "–";
}

const char *text_fit(struct arena *arena, const char *text, size_t width, bool ascii)
{
    const char *omission = ascii ? "..." : "…";
    const size_t least = width_of(omission);
    size_t shown;
    if (width_of(text) <= width || width < least)
        return text;
    const size_t bytes = text_prefix(text, strlen(text), width - least, &shown);
    return arena_printf(arena, "%.*s%s", (int)bytes, text, omission);
}

/* The widest of the columns that grow is cut first, until a line has so many columns. */
static void fit_widths(size_t *widths, const char *const *titles, const struct field *const *fields,
                       size_t n, size_t most)
{
    size_t all = 2 * (n - 1);
    for (size_t c = 0; c < n; c++)
        all += widths[c];
    for (size_t widest = 0; all > most && widest < n; all--) {
        widest = n;
        for (size_t c = 0; c < n; c++)
            if (fields[c]->grows && widths[c] > width_of(titles[c]) &&
                (widest == n || widths[c] > widths[widest]))
                widest = c;
        if (widest < n)
            widths[widest]--;
    }
}

void text_rows_put(struct buf *out, const struct text_rows *t, bool ascii)
{
    text_rows_put_within(out, t, SIZE_MAX, ascii);
}

void text_rows_put_within(struct buf *out, const struct text_rows *t, size_t width, bool ascii)
{
    const struct field *fields[TEXT_COLUMNS];
    const size_t n = field_columns(t->fields, t->columns, fields, TEXT_COLUMNS);
    struct arena arena;
    arena_init(&arena);
    const char **cells = arena_alloc(&arena, (t->n * n + 1) * sizeof *cells);
    for (size_t i = 0; i < t->n * n; i++) {
        const struct field *f = fields[i % n];
        const void *row = (const char *)t->rows + i / n * t->row_bytes;
        const char *instead = t->instead ? t->instead(f, row) : NULL;
        cells[i] = instead ? instead : text_cell(&arena, f, row, ascii);
    }
    const struct text_cells table = {fields, n, cells, t->n};
    text_cells_put(out, &table, width, ascii);
    arena_clear(&arena);
}

void text_cells_put(struct buf *out, const struct text_cells *t, size_t width, bool ascii)
{
    char words[TEXT_COLUMNS][FIELD_TITLE_BYTES];
    const char *titles[TEXT_COLUMNS], *row[TEXT_COLUMNS];
    size_t widths[TEXT_COLUMNS];
    uint64_t left = 0;
    struct arena arena;
    arena_init(&arena);
    for (size_t c = 0; c < t->n; c++) {
        const enum column_type type = t->fields[c]->type;
        titles[c] = field_title(t->fields[c], true, words[c]);
        left |= (uint64_t)(type == COLUMN_TEXT || type == COLUMN_PID || type == COLUMN_BOOL) << c;
        widths[c] = width_of(titles[c]);
        for (size_t i = 0; i < t->n_rows; i++)
            if (width_of(t->cells[i * t->n + c]) > widths[c])
                widths[c] = width_of(t->cells[i * t->n + c]);
    }
    fit_widths(widths, titles, t->fields, t->n, width);
    put_table_row(out, titles, t->n, left, widths);
    for (size_t i = 0; i < t->n_rows; i++) {
        for (size_t c = 0; c < t->n; c++)
            row[c] = text_fit(&arena, t->cells[i * t->n + c], widths[c], ascii);
        put_table_row(out, row, t->n, left, widths);
    }
    arena_clear(&arena);
}
