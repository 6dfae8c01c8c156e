/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The traces of a recording, written out as they were when they were live. */
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "recording_internal.h"
#include "trace_columns.h"

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
    sqlite3_stmt *s = NULL;
    struct recorded_trace *traces = NULL;
    size_t n = 0, cap = 0;
    arena_reset(&r->result);
    *out = NULL;
    if (!recording_ask(r, &s, traces_sql))
        return 0;
    while (n < LIMIT_RECORDING_TRACES && recording_row(r, s)) {
        if (n == cap) {
            cap = cap > 0 ? cap * 2 : 16;
            traces = alloc_resize(traces, cap, sizeof *traces);
        }
        traces[n++] = trace_of(r, s);
    }
    sqlite3_finalize(s);
    *out = recording_keep_rows(r, traces, n * sizeof *traces);
    return n;
}

#define PATTERNS_MOST 1000

static const char patterns_sql[] =
    "SELECT p.pattern, count(*), sum(p.calls), sum(p.shown), sum(p.missed + p.lost + p.over),"
    " max(p.p50_us), max(p.p99_us), max(p.max_us) FROM trace_pattern p JOIN trace t ON t.id = "
    "p.trace"
    " WHERE t.tick BETWEEN ? AND ? GROUP BY p.pattern ORDER BY min(t.id), min(p.number) LIMIT 1000";

size_t recording_trace_patterns(struct recording *r, int64_t from, int64_t to,
                                const struct period_pattern **out)
{
    sqlite3_stmt *s = NULL;
    size_t n = 0;
    arena_reset(&r->result);
    *out = NULL;
    if (!r->info.has_traces || !recording_ask(r, &s, patterns_sql))
        return 0;
    struct period_pattern *patterns = arena_alloc(&r->result, PATTERNS_MOST * sizeof *patterns);
    *out = patterns;
    sqlite3_bind_int64(s, 1, from);
    sqlite3_bind_int64(s, 2, to);
    while (n < PATTERNS_MOST && recording_row(r, s))
        patterns[n++] = (struct period_pattern){.pattern = recording_keep(r, db_column_text(s, 0)),
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

/* How the rows of a trace are read; false: there is no such trace. */
static bool find_reader(struct recording *r, int64_t trace, struct trace_columns_reader *out)
{
    sqlite3_stmt *s = NULL;
    if (!recording_ask(r, &s, "SELECT syntax FROM trace WHERE id = ?"))
        return false;
    sqlite3_bind_int64(s, 1, trace);
    bool found = recording_row(r, s);
    bool elixir = found && slice_is(db_column_text(s, 0), "elixir");
    sqlite3_finalize(s);
    out->printed = recording_has_column(r, "event", "args");
    out->has_values = r->info.values || r->info.redacted;
    out->layout.syntax = elixir ? PRINT_ELIXIR : PRINT_ERLANG;
    out->layout.values = r->info.values && !r->info.redacted ? VALUES_WHOLE : VALUES_TEXTS;
    return found;
}

int recording_trace_lines(struct recording *r, int64_t trace, trace_line_fn *put, void *arg,
                          struct error *err)
{
    struct caller_pattern last = {0};
    struct arena arena;
    struct trace_columns_reader how = {.layout.arena = &arena};
    sqlite3_stmt *s = NULL;
    struct buf sql;
    if (!find_reader(r, trace, &how))
        return recording_failed(r, err);
    buf_init(&sql, 0);
    buf_puts(&sql, "SELECT ");
    trace_columns_select(&sql, how.printed);
    buf_puts(&sql, " FROM event WHERE trace = ? ORDER BY id");
    int rc = db_prepare(r->db, &s, buf_cstr(&sql), err);
    buf_clear(&sql);
    if (rc != 0)
        return rc;
    arena_init(&arena);
    sqlite3_bind_int64(s, 1, trace);
    while (rc == 0 && recording_row(r, s)) {
        struct trace_line line;
        arena_reset(&arena);
        if (!trace_columns_read(s, &how, &line))
            continue; /* of a later program, or damaged */
        line.shows_caller = shows_caller(&last, line.pattern_text);
        rc = put(arg, &line, err);
    }
    sqlite3_finalize(s);
    arena_clear(&arena);
    return rc == 0 ? recording_failed(r, err) : rc;
}

static int put_line(void *arg, const struct trace_line *line, struct error *err)
{
    return trace_sink_put_line(arg, line, err);
}

static int put_ending(struct recording *r, int64_t trace, struct trace_sink *sink,
                      struct error *err)
{
    sqlite3_stmt *s = NULL;
    struct arena arena;
    struct trace_ending e;
    int rc =
        db_prepare(r->db, &s, "SELECT ending FROM trace WHERE id = ? AND ending NOT NULL", err);
    if (rc != 0)
        return rc;
    sqlite3_bind_int64(s, 1, trace);
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
