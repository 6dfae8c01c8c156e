/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

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

static void put_row(struct buf *out, const struct text_table *t, const char *const *cells,
                    const size_t *widths)
{
    for (size_t c = 0; c < t->n_columns; c++) {
        bool last = c + 1 == t->n_columns;
        size_t width = width_of(cells[c]);
        if (!(t->left & 1u << c))
            text_pad(out, width, widths[c]);
        buf_puts(out, cells[c]);
        if (!last && t->left & 1u << c)
            text_pad(out, width, widths[c]);
        buf_puts(out, last ? "" : "  ");
    }
    while (out->data[out->len - 1] == ' ')
        out->len--;
    buf_put_u8(out, '\n');
}

void text_table_put(struct buf *out, const struct text_table *t)
{
    size_t widths[TABLE_CELLS] = {0};
    if (t->n_rows == 0)
        return;
    for (size_t c = 0; c < t->n_columns; c++) {
        widths[c] = width_of(t->titles[c]);
        for (size_t i = 0; i < t->n_rows; i++)
            if (width_of(t->cells[i][c]) > widths[c])
                widths[c] = width_of(t->cells[i][c]);
    }
    buf_put_u8(out, '\n');
    put_row(out, t, t->titles, widths);
    for (size_t i = 0; i < t->n_rows; i++)
        put_row(out, t, t->cells[i], widths);
}
