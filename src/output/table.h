/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small tables for people: all cells are there before the first row is written. */
#ifndef BEAMTOP_OUTPUT_TABLE_H
#define BEAMTOP_OUTPUT_TABLE_H

#include <stddef.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/model/column.h"

/* Rows with fields, in the columns that people see: those keys; NULL: the list's. */
struct text_rows {
    const struct field_list *fields;
    const char *columns;
    const void *rows;
    size_t n, row_bytes;
    /* What stands in a cell in place of the value; NULL: nothing does. */
    const char *(*instead)(const struct field *f, const void *row);
};
/* Titles and rows. */
void text_rows_put(struct buf *out, const struct text_rows *t, bool ascii);
/* Columns that grow are cut, so that lines keep to the width. */
void text_rows_put_within(struct buf *out, const struct text_rows *t, size_t width, bool ascii);
/* Cells that have been made, row by row: safe texts. */
#define TEXT_COLUMNS COLUMNS_MAX
struct text_cells {
    const struct field *const *fields; /* n of them, at most TEXT_COLUMNS */
    size_t n;
    const char *const *cells;
    size_t n_rows;
};
void text_cells_put(struct buf *out, const struct text_cells *t, size_t width, bool ascii);
/* A field of a row as people read it, safe, in the arena. */
const char *text_cell(struct arena *arena, const struct field *f, const void *row, bool ascii);
/* In so many columns, with "…" where it was cut. */
const char *text_fit(struct arena *arena, const char *text, size_t width, bool ascii);
void text_pad(struct buf *out, size_t from, size_t to); /* so many spaces */

#endif
