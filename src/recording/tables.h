/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a recording, as docs/recording.md describes them: one list of columns makes, fills
 * and reads each of them, from a struct and into it. */
#ifndef BEAMTOP_RECORDING_TABLES_H
#define BEAMTOP_RECORDING_TABLES_H

#include <string.h>

#include "beamtop/model/owners.h"
#include "beamtop/output/trace_line.h"
#include "beamtop/recording/recording.h"
#include "beamtop/trace/calls_state.h"
#include "sqlite.h"

/* clang-format off */
enum recording_table {
    TABLE_META, TABLE_TEXT, TABLE_TICK, TABLE_GAP, TABLE_PROCESS, TABLE_OWNER, TABLE_WINDOW,
    TABLE_CALL, TABLE_FACT, TABLE_TRACE, TABLE_MARK, TABLE_ANSWER,
    TABLE_SAMPLE_RUN, TABLE_SAMPLE_FRAME, TABLE_SAMPLE_NODE, TABLE_SAMPLE_SOURCE, TABLE_SAMPLE_HELD,
    TABLE_SPAN_RUN, TABLE_SPAN_PROCESS, TABLE_SPAN_EVENT,
    TABLE_SYSTEM, TABLE_EVENT, TABLE_TRACE_PATTERN,
    TABLES_MADE,
    /* Other columns of these. */
    TABLE_META_NUMBER = TABLES_MADE, TABLE_TRACE_END, TABLE_EVENT_PRINTED,
    TABLES,
};

/* How a column is kept in the struct of its row. Unknown is NULL, where the column may be that:
   numbers below 0, NaN, no bytes. */
enum column_form {
    FORM_SLICE, /* of a column of numbers the id of a text, else the text or the bytes */
    FORM_CHARS, FORM_INT, FORM_COUNT, FORM_UINT, FORM_REAL, FORM_BOOL,
    FORM_NS,    /* seconds; the column has ns */
    FORM_RAW,   /* of 64 bits, as it is; 0: NULL */
    FORM_REF,   /* struct row_ref */
    FORM_ID,    /* SQLite chooses it; the row has it when it is written */
    FORM_TICK, FORM_LAST_TICK, /* written: the tick that the row belongs to; the one before */
};
/* clang-format on */

/* The id of a row that is written before: `row` points to it. Read: `id` is it. */
struct row_ref {
    const int64_t *row;
    int64_t id;
};

struct recording_column {
    const char *sql; /* its name, and what else CREATE TABLE has of it */
    enum column_form form;
    size_t at, bytes;
};

struct recording_columns {
    const char *name;
    const struct recording_column *columns;
    size_t n, row_bytes;
    const char *end; /* of CREATE TABLE */
    bool is_once;    /* a row that is there already is not written again */
    /* Columns of fields behind the others; their struct. */
    struct recording_fields {
        const struct field_list *list;
        size_t first;
    } fields[2];
    size_t fields_at;
};
extern const struct recording_columns recording_tables[TABLES];

/* Each appends to sql. */
void tables_create(struct buf *sql, enum recording_table table);
void tables_insert(struct buf *sql, enum recording_table table);
void tables_update(struct buf *sql,
                   enum recording_table table); /* of the row with the first column's value */
void tables_find(struct buf *sql,
                 enum recording_table table); /* the id of a row with these values */
void tables_select(struct buf *sql, enum recording_table table); /* in their order; texts for ids */
/* The row of a statement that begins with tables_select(); texts are in the arena, the rest of the
 * struct stays as it is. False: a value is one that no recorder writes; it is unknown. */
bool tables_read(sqlite3_stmt *s, enum recording_table table, struct arena *arena, void *row);
/* A number that a recorder may write; a time of a monotonic clock, in ns. */
static inline bool number_is_sound(double v)
{
    return v >= 0 && v <= 4e15; /* µs since the epoch until the year 2096 */
}
static inline bool time_is_sound(int64_t ns)
{
    return ns > -(INT64_C(1) << 61) && ns < INT64_C(1) << 61; /* sums do not overflow */
}

static inline bool column_may_be_null(const struct recording_column *c)
{
    return !strstr(c->sql, "NOT NULL");
}
/* Of text, or of bytes. */
static inline bool column_is_id(const struct recording_column *c)
{
    return strstr(c->sql, " INTEGER") != NULL;
}

/* ---- the rows */

struct meta_row {
    struct slice key, text;
    int64_t number;
};
struct text_row {
    int64_t id;
    struct slice text;
};
struct tick_row {
    int64_t id, here_us, wall_us, mono_ns;
    double interval_us;
    struct tick_cost cost;
};
struct gap_row {
    int64_t from_tick, here_us;
    struct slice why;
};
struct system_row {
    int64_t tick;
    struct system_sample sample;
};
struct process_row {
    int64_t tick;
    struct slice pid, kind;
    struct proc_row of;
};
struct owner_row {
    int64_t tick;
    struct slice by, kind;
    struct owner of;
};
struct window_row {
    int64_t id, tick, ns, bytes;
    struct slice line;
    struct calls_window of;
};
struct call_row {
    struct row_ref window;
    struct calls_function of;
};
struct fact_row {
    int64_t tick;
    struct slice key, value;
};
struct mark_row {
    int64_t id, here_us, wall_us;
    struct slice text;
};
struct answer_row {
    int64_t tick, bytes;
    struct slice question, asked, term;
};
struct trace_row {
    int64_t id, tick, wall_us, ended_us, events, clean;
    struct slice syntax, patterns, procs, reason, ending;
};
struct pattern_row {
    int64_t trace, number;
    struct trace_tally tally;
};
struct event_row {
    int64_t id, trace, tick;
    struct slice kind, term;
    struct slice args, stack; /* lists of texts, of printed events */
    struct trace_line line;
};
struct sample_run_row {
    int64_t id, tick;
    double left_out;
    struct samples_summary of;
};
struct sample_frame_row {
    int64_t id;
    struct slice kind;
    struct sample_frame of;
};
struct sample_node_row {
    struct row_ref run, frame;
    int64_t node, parent;
    double samples;
};
struct sample_source_row {
    struct row_ref run;
    struct slice kind;
    int64_t rank;
    struct samples_source of;
};
struct sample_held_row {
    struct row_ref run;
    int64_t rank;
    struct samples_held of;
};
struct span_run_row {
    int64_t id, tick;
    struct slice node, reason;
    uint64_t capture;
    int64_t clean;
    struct spans_run of;
    struct spans_dropped dropped;
};
struct span_process_row {
    struct row_ref run;
    int64_t process;
    struct span_process as;
    struct slice given;
};
struct span_event_row {
    struct row_ref run;
    int64_t event, ns, process, peer, label;
    struct slice kind, tag, class, ref;
    struct span_event of;
};

#endif
