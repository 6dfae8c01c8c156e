/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of `event`: where each is in a line of a trace. Schema, writer and reader go
 * by this. */
#ifndef BEAMTOP_RECORDING_TRACE_COLUMNS_H
#define BEAMTOP_RECORDING_TRACE_COLUMNS_H

#include "sqlite.h"
#include "beamtop/output/trace_line.h"

/* clang-format off */
enum trace_column_form {
    TRACE_COLUMN_INT, TRACE_COLUMN_SIGNED, TRACE_COLUMN_REAL, TRACE_COLUMN_BOOL,
    TRACE_COLUMN_WORD, /* the text itself */
    TRACE_COLUMN_TEXT, /* its id in `text` */
    TRACE_COLUMN_ARGS, TRACE_COLUMN_STACK, /* lists of texts as JSON */
};
/* clang-format on */

struct trace_column {
    const char *name;
    enum trace_column_form form;
    size_t offset; /* in struct trace_line */
};

#define TRACE_COLUMNS 23
extern const struct trace_column trace_columns[TRACE_COLUMNS];

/* ", pattern INTEGER, pid TEXT, …" */
void trace_columns_declare(struct buf *sql);
/* "kind, column, …" of table `event`, texts instead of their ids. */
void trace_columns_select(struct buf *sql);
/* Reads the row; texts are copied to the arena. False: its kind is none that we wrote. */
bool trace_columns_read(sqlite3_stmt *row, struct trace_line *out, struct arena *arena);
/* A list of texts as JSON, kept in the arena. */
struct slice trace_texts_json(struct arena *arena, const struct slice *items, size_t n);

#endif
