/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traces of a recording, written out as they were when they were live. */
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/output/json.h"
#include "event_term.h"
#include "recording_internal.h"

static const char traces_sql[] =
    "SELECT id, tick, wall_us, ended_us, events, clean, syntax, reason,"
    " (SELECT count(*) FROM event WHERE event.trace = trace.id) FROM trace ORDER BY id";

static struct recorded_trace trace_of(struct recording *r, sqlite3_stmt *s)
{
    struct slice syntax = db_column_text(s, 6);
    bool elixir = slice_is(syntax, "elixir");
    return (struct recorded_trace){
        .id = db_column_int(s, 0),
        .tick = db_column_int(s, 1),
        .wall_us = db_column_int(s, 2),
        .ended_us = db_column_int(s, 3),
        .events = db_column_int(s, 4),
        .clean = sqlite3_column_type(s, 5) == SQLITE_NULL ? -1 : sqlite3_column_int(s, 5) != 0,
        .syntax = elixir ? PRINT_ELIXIR : PRINT_ERLANG,
        .reason = recording_keep(r, db_column_text(s, 7)),
        .kept = db_column_int(s, 8)};
}

size_t recording_traces(struct recording *r, const struct recorded_trace **out)
{
    const int64_t all = recording_int(r, "SELECT count(*) FROM trace", 0, 0);
    const size_t most = all < LIMIT_RECORDING_TRACES ? (size_t)all : LIMIT_RECORDING_TRACES;
    sqlite3_stmt *s = recording_ask(r, traces_sql, NULL);
    size_t n = 0;
    arena_reset(&r->result);
    struct recorded_trace *traces = arena_alloc(&r->result, (most + 1) * sizeof *traces);
    while (n < most && recording_row(r, s))
        traces[n++] = trace_of(r, s);
    sqlite3_finalize(s);
    *out = traces;
    return n;
}

#define PATTERNS_MOST 1000

static const char patterns_sql[] =
    "SELECT p.pattern, count(*), sum(p.calls), sum(p.shown), sum(p.missed + p.lost + p.over),"
    " max(p.p50_us), max(p.p99_us), max(p.max_us) FROM trace_pattern p JOIN trace t ON t.id = "
    "p.trace"
    " WHERE t.tick BETWEEN ? AND ? GROUP BY p.pattern ORDER BY min(t.id), min(p.number) LIMIT 1000";

size_t recording_trace_patterns(struct recording *r, int64_t from, int64_t to, struct arena *arena,
                                const struct period_pattern **out)
{
    sqlite3_stmt *s = recording_ask(r, patterns_sql, NUMBERS(from, to));
    size_t n = 0;
    struct period_pattern *patterns = arena_alloc(arena, PATTERNS_MOST * sizeof *patterns);
    *out = patterns;
    while (n < PATTERNS_MOST && recording_row(r, s))
        patterns[n++] = (struct period_pattern){.pattern = slice_keep(arena, db_column_text(s, 0)),
                                                .traces = db_column_int(s, 1),
                                                .calls = db_column_int(s, 2),
                                                .shown = db_column_int(s, 3),
                                                .missed = db_column_int(s, 4),
                                                .p50_us = db_column_real(s, 5),
                                                .p99_us = db_column_real(s, 6),
                                                .max_us = db_column_real(s, 7)};
    sqlite3_finalize(s);
    return n;
}

/* Whether lines of a pattern show the caller; most lines have the pattern of the one before. */
struct caller_pattern {
    char pattern[LIMIT_PATTERN_BYTES];
    size_t len;
    bool tells;
};

static bool shows_caller(struct caller_pattern *last, struct slice pattern)
{
    if (pattern.len == 0 || pattern.len > sizeof last->pattern)
        return false;
    if (last->len != pattern.len || memcmp(last->pattern, pattern.s, pattern.len) != 0) {
        memcpy(last->pattern, pattern.s, pattern.len);
        last->len = pattern.len;
        last->tells = (trace_pattern_actions(pattern) & TRACE_CALLER) != 0;
    }
    return last->tells;
}

/* ---- its events */

/* How the rows of a trace are read. */
struct line_reader {
    enum recording_table table;
    bool has_values;
    struct trace_layout layout; /* for terms, and the arena of texts */
};

struct slice trace_texts_json(struct arena *arena, const struct slice *items, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array,
                              json_stringn_nocheck(items[i].s ? items[i].s : "", items[i].len));
    char *text = json_dumps(array, JSON_COMPACT);
    struct slice kept = {0};
    if (text)
        kept = slice_of(arena_strdup(arena, text));
    free(text);
    json_decref(array);
    return kept;
}

/* False: it is none. What is not text in it is empty. */
static bool read_texts(struct slice json, struct arena *arena, const struct slice **out, size_t *n)
{
    json_t *array = json.len == 0 ? NULL : json_loadb(json.s, json.len, 0, NULL);
    bool is_array = json_is_array(array);
    *out = json_read_texts(array, arena, n);
    json_decref(array);
    return is_array;
}

FIND_KEY(trace_line_kind_name, trace_line_kind, LINE_KINDS)

/* All of the line that is in the term. */
static bool read_term(const struct line_reader *how, struct slice term, enum trace_line_kind kind,
                      struct trace_line *out)
{
    struct pushed_event pushed;
    if (!event_term_read(term, &pushed))
        return false;
    if (!how->has_values)
        pushed.event.args.bytes = (struct slice){NULL, 0};
    trace_line_make(out, &how->layout, NULL, &pushed.event, pushed.event.outcome > OUTCOME_OPEN);
    out->class = slice_keep(how->layout.arena, out->class);
    out->why = slice_keep(how->layout.arena, out->why);
    return out->kind == kind;
}

/* How the rows of a trace are read; false: there is no such trace. */
static bool find_reader(struct recording *r, int64_t trace, struct line_reader *out)
{
    sqlite3_stmt *s = recording_ask(r, "SELECT syntax FROM trace WHERE id = ?", &trace);
    bool found = recording_row(r, s);
    bool elixir = found && slice_is(db_column_text(s, 0), "elixir");
    sqlite3_finalize(s);
    out->table = recording_has_column(r, "event", "args") ? TABLE_EVENT_PRINTED : TABLE_EVENT;
    out->has_values = r->info.values || r->info.redacted;
    out->layout.syntax = elixir ? PRINT_ELIXIR : PRINT_ERLANG;
    out->layout.values = r->info.values && !r->info.redacted ? VALUES_WHOLE : VALUES_TEXTS;
    return found;
}

/* False: its kind, or its term, is none that we wrote. What the columns have goes before the term;
 * a number that cannot be is unknown. */
static bool read_line(sqlite3_stmt *s, const struct line_reader *how, struct event_row *row)
{
    struct arena *arena = how->layout.arena;
    struct trace_line *line = &row->line;
    (void)tables_read(s, how->table, arena, row);
    const enum trace_line_kind kind = trace_line_kind_name_find(row->kind);
    if (kind == LINE_KINDS)
        return false;
    if (how->table == TABLE_EVENT) {
        if (!read_term(how, row->term, kind, line))
            return false;
        (void)tables_read(s, how->table, arena, row);
    } else {
        line->mono_ns = time_is_sound(line->mono_ns) ? line->mono_ns : 0;
        line->has_args = read_texts(row->args, arena, &line->args, &line->n_args);
        (void)read_texts(row->stack, arena, &line->stack, &line->n_stack);
    }
    line->kind = kind;
    line->cut = line->full_bytes > 0;
    line->has_args = line->has_args || line->shown_only;
    return true;
}

int recording_trace_lines(struct recording *r, int64_t trace, event_row_fn *put, void *arg,
                          struct error *err)
{
    struct caller_pattern last = {0};
    struct arena arena;
    struct line_reader how = {.layout.arena = &arena};
    int rc = 0;
    if (!find_reader(r, trace, &how))
        return recording_failed(r, err);
    sqlite3_stmt *s = recording_select(r, how.table, " WHERE trace = ?1 ORDER BY event.id", &trace);
    if (!s)
        return recording_failed(r, err) != 0 ? (int)err->code : db_fail(r->db, err, "recording");
    arena_init(&arena);
    while (rc == 0 && recording_row(r, s)) {
        struct event_row row = {0};
        arena_reset(&arena);
        if (!read_line(s, &how, &row))
            continue; /* of a later program, or damaged */
        row.line.shows_caller = shows_caller(&last, row.line.pattern_text);
        rc = put(arg, &row, err);
    }
    sqlite3_finalize(s);
    arena_clear(&arena);
    return rc == 0 ? recording_failed(r, err) : rc;
}

static int put_line(void *arg, const struct event_row *row, struct error *err)
{
    return trace_sink_put_line(arg, &row->line, err);
}

static int put_ending(struct recording *r, int64_t trace, struct trace_sink *sink,
                      struct error *err)
{
    sqlite3_stmt *s =
        recording_ask(r, "SELECT ending FROM trace WHERE id = ? AND ending NOT NULL", &trace);
    struct arena arena;
    struct trace_ending e;
    int rc = 0;
    arena_init(&arena);
    if (recording_row(r, s)) {
        struct slice json = db_column_text(s, 0);
        rc = trace_ending_read(&e, &arena, json.s, json.len, err);
        if (rc == 0)
            rc = trace_sink_put_end(sink, &e, err);
    }
    arena_clear(&arena);
    sqlite3_finalize(s);
    return rc == 0 ? recording_failed(r, err) : rc;
}

int recording_trace_put(struct recording *r, int64_t trace, struct trace_sink *sink,
                        struct error *err)
{
    int rc = recording_trace_lines(r, trace, put_line, sink, err);
    return rc == 0 ? put_ending(r, trace, sink, err) : rc;
}
