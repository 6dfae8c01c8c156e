/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of `event`: where each is in a line of a trace. Schema, writer and reader go
 * by this. */
#ifndef BEAMTOP_RECORDING_TRACE_COLUMNS_H
#define BEAMTOP_RECORDING_TRACE_COLUMNS_H

#include "recording_internal.h"
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
    bool printed;  /* read from the event's term; before version 4 from a column */
    size_t offset; /* in struct trace_line */
};

#define TRACE_COLUMNS 23
extern const struct trace_column trace_columns[TRACE_COLUMNS];

/* ", pattern INTEGER, pid TEXT, …" */
void trace_columns_declare(struct buf *sql);
/* "kind, column, …" of table `event`, texts instead of their ids; printed: of a file that has those
 * columns, else its terms stand for them. */
void trace_columns_select(struct buf *sql, bool printed);
/* How to read the rows of a trace. */
struct trace_columns_reader {
    bool printed, has_values;
    struct trace_layout layout; /* for terms, and the arena of texts */
};
/* False: its kind, or its term, is none that we wrote. */
bool trace_columns_read(sqlite3_stmt *row, const struct trace_columns_reader *how,
                        struct trace_line *out);
/* The events of a trace, in order; each line until the next. Ends at the first failure of put. */
typedef int trace_line_fn(void *arg, const struct trace_line *line, struct error *err);
int recording_trace_lines(struct recording *r, int64_t trace, trace_line_fn *put, void *arg,
                          struct error *err);
/* A list of texts as JSON, kept in the arena. */
struct slice trace_texts_json(struct arena *arena, const struct slice *items, size_t n);

#endif
