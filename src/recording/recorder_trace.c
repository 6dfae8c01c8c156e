/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces on their way into a recording: laid out when they come, written with their tick. */

#include "beamtop/base/buf.h"
#include "recorder_internal.h"
#include "event_term.h"
#include "trace_columns.h"

/* What waits of a trace; of its start, of an event, or of its end. */
struct recorder_trace_part {
    int64_t trace, events;
    enum print_syntax syntax;
    struct slice patterns, procs;
    struct trace_line *line;
    struct slice term; /* of the event */
    struct trace_ending *ending;
    struct slice json; /* of the ending */
};

static struct recorder_trace_part *add_part(struct recorder *r, enum statement what,
                                            int64_t wall_us)
{
    struct recorder_trace_part *part = arena_alloc(&r->arena, sizeof *part);
    struct pending *p = recorder_add(r, what);
    part->trace = r->traces;
    p->wall_us = wall_us;
    p->trace = part;
    return part;
}

static struct trace_layout layout(struct recorder *r)
{
    const struct recorder_options *o = &r->options;
    return (struct trace_layout){.arena = &r->arena,
                                 .syntax = r->syntax,
                                 .values = o->redact   ? VALUES_SHAPES
                                           : o->values ? VALUES_WHOLE
                                                       : VALUES_NONE};
}

void recorder_trace_begin(struct recorder *r, const struct trace_log *log, enum print_syntax syntax,
                          int64_t wall_us)
{
    if (r->ended)
        return;
    r->traces++;
    r->trace_events = 0;
    r->syntax = syntax;
    struct recorder_trace_part *part = add_part(r, STMT_TRACE, wall_us);
    size_t n = trace_log_patterns(log);
    struct slice *texts = arena_alloc(&r->arena, (n + 1) * sizeof *texts);
    for (size_t i = 0; i < n; i++)
        texts[i] = trace_log_pattern(log, i)->pattern->typed;
    const char *procs = trace_log_state(log)->status.procs;
    part->syntax = syntax;
    part->patterns = trace_texts_json(&r->arena, texts, n);
    part->procs = slice_keep(&r->arena, slice_of(procs));
}

void recorder_trace_event(struct recorder *r, const struct trace_log *log,
                          const struct trace_event *event, bool finished)
{
    if (r->ended)
        return;
    struct recorder_trace_part *part = add_part(r, STMT_EVENT, event->wall_us);
    const struct trace_layout how = layout(r);
    struct trace_line *line = part->line = arena_alloc(&r->arena, sizeof *line);
    trace_line_make(line, &how, log, event, finished);
    line->name = slice_keep(&r->arena, line->name);
    line->pattern_text = slice_keep(&r->arena, line->pattern_text);
    line->class = slice_keep(&r->arena, line->class);
    line->why = slice_keep(&r->arena, line->why);
    part->term = event_term_make(&r->arena, r->options.node, event, line, finished,
                                 how.values == VALUES_WHOLE);
    r->trace_events++;
}

void recorder_trace_end(struct recorder *r, const struct trace_log *log, int64_t wall_us)
{
    if (r->ended)
        return;
    struct recorder_trace_part *part = add_part(r, STMT_TRACE_END, wall_us);
    const struct trace_layout how = layout(r);
    struct trace_ending *e = part->ending = arena_alloc(&r->arena, sizeof *e);
    struct buf json;
    trace_ending_make(e, &how, log);
    e->reason = slice_keep(&r->arena, e->reason);
    for (size_t i = 0; i < e->n_patterns; i++)
        e->patterns[i].pattern = slice_keep(&r->arena, e->patterns[i].pattern);
    buf_init(&json, 0);
    trace_json_end(&json, e, slice_of(r->options.node));
    part->json = slice_take(&r->arena, &json);
    part->events = r->trace_events;
}

/* ---- written with a tick */

static int prepare(struct recorder *r, enum statement what, struct buf *sql, size_t values,
                   struct error *err)
{
    buf_puts(sql, ") VALUES(?");
    for (size_t i = 1; i < values; i++)
        buf_puts(sql, ",?");
    buf_puts(sql, ")");
    int rc = db_prepare(r->db, &r->stmts[what], buf_cstr(sql), err);
    buf_reset(sql);
    return rc;
}

int recorder_prepare_trace(struct recorder *r, struct error *err)
{
    struct buf sql;
    buf_init(&sql, 0);
    buf_puts(&sql, "INSERT INTO event(trace, tick, kind");
    size_t values = 4;
    for (size_t i = 0; i < TRACE_COLUMNS; i++) {
        if (trace_columns[i].printed)
            continue;
        buf_printf(&sql, ", %s", trace_columns[i].name);
        values++;
    }
    buf_puts(&sql, ", term");
    int rc = prepare(r, STMT_EVENT, &sql, values, err);
    buf_puts(&sql, "INSERT INTO trace_pattern(trace, number, pattern");
    for (size_t i = 0; i < trace_tally_fields.n; i++)
        buf_printf(&sql, ", %s", trace_tally_fields.fields[i].key);
    for (size_t i = 1; i < trace_pattern_fields.n; i++)
        buf_printf(&sql, ", %s", trace_pattern_fields.fields[i].key);
    if (rc == 0)
        rc = prepare(r, STMT_TRACE_PATTERN, &sql,
                     3 + trace_tally_fields.n + trace_pattern_fields.n - 1, err);
    buf_clear(&sql);
    return rc;
}

static int bind_column(struct recorder *r, sqlite3_stmt *s, int at, const struct trace_column *c,
                       const struct trace_line *line, struct error *err)
{
    const void *v = (const char *)line + c->offset;
    switch (c->form) {
    case TRACE_COLUMN_INT:
        db_bind_int(s, at, *(const int64_t *)v);
        break;
    case TRACE_COLUMN_REAL:
        db_bind_real(s, at, *(const double *)v);
        break;
    case TRACE_COLUMN_BOOL:
        sqlite3_bind_int(s, at, *(const bool *)v);
        break;
    case TRACE_COLUMN_WORD:
        db_bind_text(s, at, *(const struct slice *)v);
        break;
    case TRACE_COLUMN_TEXT:
        return recorder_bind_text(r, s, at, *(const struct slice *)v, err);
    case TRACE_COLUMN_SIGNED:
    case TRACE_COLUMN_ARGS:
    case TRACE_COLUMN_STACK: /* of printed columns only */
        break;
    }
    return 0;
}

static int put_event(struct recorder *r, const struct recorder_trace_part *part, int64_t tick,
                     struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_EVENT];
    sqlite3_bind_int64(s, 1, part->trace);
    sqlite3_bind_int64(s, 2, tick);
    sqlite3_bind_text(s, 3, trace_line_kind_name(part->line->kind), -1, SQLITE_STATIC);
    int at = 4;
    for (size_t i = 0; i < TRACE_COLUMNS; i++)
        if (!trace_columns[i].printed &&
            bind_column(r, s, at++, &trace_columns[i], part->line, err) != 0)
            return (int)err->code;
    sqlite3_bind_blob(s, at, part->term.s, (int)part->term.len, SQLITE_STATIC);
    return db_run(r->db, s, err);
}

static void bind_fields(sqlite3_stmt *s, int at, const struct field_list *list, size_t first,
                        const void *base)
{
    for (size_t i = first; i < list->n; i++, at++) {
        struct value v = field_value(&list->fields[i], base);
        if (v.kind == VALUE_BOOL)
            sqlite3_bind_int(s, at, v.boolean);
        else if (v.kind == VALUE_NUMBER && v.is_integer)
            sqlite3_bind_int64(s, at, v.integer);
        else if (v.kind == VALUE_NUMBER)
            db_bind_real(s, at, v.number);
        else
            sqlite3_bind_null(s, at);
    }
}

static int put_end(struct recorder *r, const struct pending *p, struct error *err)
{
    const struct recorder_trace_part *part = p->trace;
    const struct trace_ending *e = part->ending;
    sqlite3_stmt *s = r->stmts[STMT_TRACE_END], *pattern = r->stmts[STMT_TRACE_PATTERN];
    sqlite3_bind_int64(s, 1, part->trace);
    db_bind_int(s, 2, p->wall_us);
    db_bind_text(s, 3, e->reason);
    sqlite3_bind_int64(s, 4, part->events);
    if (e->check.done)
        sqlite3_bind_int(s, 5, e->check.clean);
    db_bind_text(s, 6, part->json);
    int rc = db_run(r->db, s, err);
    for (size_t i = 0; rc == 0 && i < e->n_patterns; i++) {
        sqlite3_bind_int64(pattern, 1, part->trace);
        sqlite3_bind_int64(pattern, 2, (int64_t)i + 1);
        db_bind_text(pattern, 3, e->patterns[i].pattern);
        bind_fields(pattern, 4, &trace_tally_fields, 0, &e->patterns[i]);
        bind_fields(pattern, 4 + (int)trace_tally_fields.n, &trace_pattern_fields, 1,
                    &e->patterns[i]);
        rc = db_run(r->db, pattern, err);
    }
    return rc;
}

int recorder_put_trace(struct recorder *r, const struct pending *p, struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_TRACE];
    const struct recorder_trace_part *part = p->trace;
    if (p->what == STMT_EVENT)
        return put_event(r, part, r->ticks + 1, err);
    if (p->what == STMT_TRACE_END)
        return put_end(r, p, err);
    sqlite3_bind_int64(s, 1, part->trace);
    sqlite3_bind_int64(s, 2, r->ticks + 1);
    db_bind_int(s, 3, p->wall_us);
    sqlite3_bind_text(s, 4, part->syntax == PRINT_ELIXIR ? "elixir" : "erlang", -1, SQLITE_STATIC);
    db_bind_text(s, 5, part->patterns);
    db_bind_text(s, 6, part->procs);
    return db_run(r->db, s, err);
}
