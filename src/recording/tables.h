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
#include "beamtop/trace/events_run.h"
#include "sqlite.h"

/* What it is called here and in a file, the columns and the struct of a row, and the end of its
   CREATE TABLE; NULL: of a table that stands above, other columns. Rows of kilobytes in a table
   WITHOUT ROWID would fill a page of overflow each: `answer` has one. */
#define BARE ") WITHOUT ROWID"
/* clang-format off */
#define TABLE_LIST(X)                                                                              \
    X(META, "meta", meta, note_row, BARE)                                                          \
    X(TEXT, "text", texts, note_row, ")")                                                          \
    X(TICK, "tick", tick, tick_row, "); CREATE INDEX tick_wall ON tick(wall_us)")                  \
    X(GAP, "gap", gap, note_row, ")")                                                              \
    X(PROCESS, "process", process, process_row, ", PRIMARY KEY(tick, pid)" BARE)                   \
    X(OWNER, "owner", owner, owner_row, ", PRIMARY KEY(tick, by, owner)" BARE)                     \
    X(WINDOW, "call_window", window, window_row, ")")                                              \
    X(CALL, "call", call, call_row, ", PRIMARY KEY(window, module, function, arity)" BARE)         \
    X(FACT, "fact", fact, note_row, ", PRIMARY KEY(key, tick)" BARE)                               \
    X(TRACE, "trace", trace, trace_row, ")")                                                       \
    X(MARK, "mark", mark, note_row, ")")                                                           \
    X(ANSWER, "answer", answer, note_row, ", PRIMARY KEY(tick, question))")                        \
    X(SAMPLE_RUN, "sample_run", sample_run, sample_run_row, ")")                                   \
    X(SAMPLE_FRAME, "sample_frame", sample_frame, sample_frame_row,                                \
      ", UNIQUE(name, kind, object, file, line))")                                                 \
    X(SAMPLE_NODE, "sample_node", sample_node, sample_node_row, ", PRIMARY KEY(run, node)" BARE)   \
    X(SAMPLE_SOURCE, "sample_source", sample_source, sample_source_row,                            \
      ", PRIMARY KEY(run, kind, rank)" BARE)                                                       \
    X(SAMPLE_HELD, "sample_held", sample_held, sample_held_row, ", PRIMARY KEY(run, rank)" BARE)   \
    X(SPAN_RUN, "span_run", span_run, span_run_row, ")")                                           \
    X(SPAN_PROCESS, "span_process", span_process, span_process_row,                                \
      ", PRIMARY KEY(run, process)" BARE)                                                          \
    X(SPAN_EVENT, "span_event", span_event, span_event_row, ", PRIMARY KEY(run, event)" BARE)      \
    X(SYSTEM, "system", system_row, system_row, ")")                                               \
    X(EVENT, "event", event, event_row, "); CREATE INDEX event_trace ON event(trace)")             \
    X(TRACE_PATTERN, "trace_pattern", trace_pattern, pattern_row,                                  \
      ", PRIMARY KEY(trace, number)" BARE)                                                         \
    X(EVENTS_RUN, "system_event_run", events_run, events_row, ")")                                 \
    X(SYSTEM_EVENT, "system_event", system_event, system_event_record,                             \
      ", PRIMARY KEY(run, number)" BARE)                                                           \
    X(META_NUMBER, "meta", meta_number, note_row, NULL)                                            \
    X(TRACE_END, "trace", trace_end, trace_row, NULL)                                              \
    X(EVENTS_END, "system_event_run", events_end, events_row, NULL)                                \
    X(EVENT_PRINTED, "event", event_printed, event_row, NULL)
#define TABLE_ENUM(id, name, columns, row, end) TABLE_##id,
enum recording_table { TABLE_LIST(TABLE_ENUM) TABLES };

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
    FORM_FIELDS, /* a struct with a column for each field of a list */
};
/* clang-format on */

/* The id of a row that is written before: `row` points to it. Read: `id` is it. */
struct row_ref {
    const int64_t *row;
    int64_t id;
};

struct recording_column {
    const char *sql; /* its name, and what else CREATE TABLE has of it; of fields their type */
    enum column_form form;
    size_t at, bytes;
    const struct field_list *fields;
    size_t first; /* of these */
};

struct recording_columns {
    const char *name;
    const struct recording_column *columns;
    size_t n, row_bytes;
    const char *end;
};
extern const struct recording_columns recording_tables[TABLES];

/* Each appends to sql. */
void tables_create(struct buf *sql); /* all of them */
void tables_insert(struct buf *sql, enum recording_table table);
void tables_update(struct buf *sql,
                   enum recording_table table); /* of the row with the first column's value */
void tables_find(struct buf *sql,
                 enum recording_table table); /* the id of a row with these values */
void tables_select(struct buf *sql, enum recording_table table); /* in their order; texts for ids */
/* The row of a statement that begins with tables_select(); texts are in the arena, the rest of the
 * struct stays as it is. False: a value is one that no recorder writes; it is unknown. */
bool tables_read(sqlite3_stmt *s, enum recording_table table, struct arena *arena, void *row);
/* As much as there is room for, and a NUL. */
void slice_to_chars(struct slice text, char *out, size_t size);
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

struct note_row { /* of tables with few columns */
    int64_t id, tick, here_us, wall_us, number, bytes;
    struct slice key, text, blob;
};
struct tick_row {
    int64_t id, here_us, wall_us, mono_ns;
    double interval_us;
    struct tick_cost cost;
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
struct events_row {
    int64_t id, tick, end_tick, wall_us, clean;
    int64_t limits[SYSTEM_EVENTS];
    uint64_t seen, missed;
    double arm_us;
    bool session;
    struct slice reason, not_clean;
};
struct system_event_record {
    int64_t run, number, tick;
    struct slice name, in, out; /* of the event */
    struct system_event of;
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
