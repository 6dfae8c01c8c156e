/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/recording/export.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/output/fields.h"
#include "recording_internal.h"
#include "recording_schema.h"

#define PIECE 65536u /* written at once */

struct writer {
    FILE *out;
    struct buf buf;
    struct recording *r;
    const char *node;
    bool spreadsheet;
    struct arena arena; /* of an event */
};

static void flush_writer(struct writer *w, size_t least)
{
    if (w->buf.len <= least)
        return;
    fwrite(w->buf.data, 1, w->buf.len, w->out);
    buf_reset(&w->buf);
}

/* ---- CSV */

/* An infinite one, or one that no node has, is unknown. */
static void put_number(struct buf *out, double v)
{
    if (isnan(v))
        return;
    if (v == floor(v) && fabs(v) < 9e15)
        buf_printf(out, "%" PRId64, (int64_t)v);
    else
        buf_printf(out, "%.6f", v);
}

static void put_column(struct buf *out, sqlite3_stmt *s, int at, bool spreadsheet)
{
    struct slice text;
    struct value v;
    switch (sqlite3_column_type(s, at)) {
    case SQLITE_NULL:
        break;
    case SQLITE_INTEGER:
        buf_printf(out, "%" PRId64, (int64_t)sqlite3_column_int64(s, at));
        break;
    case SQLITE_FLOAT:
        put_number(out, db_column_real(s, at));
        break;
    default:
        text = db_column_text(s, at);
        v = text_value(text);
        csv_put_value(out, &v, spreadsheet);
    }
}

static void put_csv_row(struct writer *w, sqlite3_stmt *s)
{
    struct value node = text_value(slice_of(w->node));
    put_column(&w->buf, s, 0, w->spreadsheet);
    buf_put_u8(&w->buf, ',');
    csv_put_value(&w->buf, &node, w->spreadsheet);
    for (int i = 1; i < sqlite3_column_count(s); i++) {
        buf_put_u8(&w->buf, ',');
        put_column(&w->buf, s, i, w->spreadsheet);
    }
    buf_put_u8(&w->buf, '\n');
    flush_writer(w, PIECE);
}

static void put_system_sql(struct writer *w, struct buf *sql)
{
    buf_puts(sql, "SELECT t.wall_us");
    for (size_t i = 0; i < system_fields.n; i++) {
        const char *key = system_fields.fields[i].key, *column = recording_system_column(w->r, key);
        if (column)
            buf_printf(sql, ", s.%s AS %s", column, key);
    }
    buf_puts(sql, " FROM system s JOIN tick t ON t.id = s.tick ORDER BY s.tick");
}

static int put_csv(struct writer *w, const char *sql, struct error *err)
{
    sqlite3_stmt *s = NULL;
    struct buf made;
    buf_init(&made, 0);
    if (!sql)
        put_system_sql(w, &made);
    if (db_prepare(w->r->db, &s, sql ? sql : buf_cstr(&made), err) == 0) {
        buf_puts(&w->buf, "wall_us,node");
        for (int i = 1; i < sqlite3_column_count(s); i++)
            buf_printf(&w->buf, ",%s", sqlite3_column_name(s, i));
        buf_puts(&w->buf, "\n");
        while (recording_row(w->r, s))
            put_csv_row(w, s);
        (void)recording_failed(w->r, err);
    }
    sqlite3_finalize(s);
    buf_clear(&made);
    return (int)err->code;
}

/* ---- events of traces, with what their terms print as */

#define ROW struct event_row
static const struct field event_list[] = {
    FIELD("trace", COUNT, trace, ""),
    FIELD("kind", TEXT, kind, ""),
    FIELD("number", COUNT, line.id, ""),
    FIELD("pattern", TEXT, line.pattern_text, ""),
    FIELD("pid", TEXT, line.pid, ""),
    FIELD("name", TEXT, line.name, ""),
    FIELD("mfa", TEXT, line.mfa, ""),
    FIELD("caller", TEXT, line.caller, ""),
    FIELD("latency_us", RATE, line.latency_us, ""),
    FIELD("class", TEXT, line.class, ""),
    FIELD("args", TEXT, args, ""),
    FIELD("result", TEXT, line.result, ""),
    FIELD("receiver", TEXT, line.to, ""),
    FIELD("message", TEXT, line.message, ""),
    FIELD("full_bytes", BYTES, line.full_bytes, ""),
    FIELD("lost", COUNT, line.lost, ""),
    FIELD("why", TEXT, line.why, ""),
    FIELD("duration_us", COUNT, line.duration_us, ""),
};
#undef ROW

static int put_event(void *arg, const struct event_row *event, struct error *err)
{
    struct writer *w = arg;
    struct buf *out = &w->buf;
    const struct value node = text_value(slice_of(w->node));
    const struct trace_line *line = &event->line;
    struct event_row row = *event;
    (void)err;
    arena_reset(&w->arena);
    row.args =
        line->has_args ? trace_texts_json(&w->arena, line->args, line->n_args) : (struct slice){0};
    if (line->wall_us >= 0)
        buf_printf(out, "%" PRId64, line->wall_us);
    buf_put_u8(out, ',');
    csv_put_value(out, &node, w->spreadsheet);
    for (size_t i = 0; i < ARRAY_LEN(event_list); i++) {
        struct value v = field_value(&event_list[i], &row);
        buf_put_u8(out, ',');
        if (v.kind == VALUE_NUMBER && !v.is_integer)
            put_number(out, v.number);
        else
            csv_put_value(out, &v, w->spreadsheet);
    }
    buf_put_u8(out, '\n');
    flush_writer(w, PIECE);
    return 0;
}

static int put_events(struct writer *w, struct error *err)
{
    const struct recorded_trace *traces;
    size_t n = recording_traces(w->r, &traces);
    buf_puts(&w->buf, "wall_us,node");
    for (size_t i = 0; i < ARRAY_LEN(event_list); i++)
        buf_printf(&w->buf, ",%s", event_list[i].key);
    buf_puts(&w->buf, "\n");
    arena_init(&w->arena);
    for (size_t i = 0; i < n && err->code == ERR_NONE; i++)
        (void)recording_trace_lines(w->r, traces[i].id, put_event, w, err);
    arena_clear(&w->arena);
    return recording_failed(w->r, err);
}

/* ---- OpenMetrics: families one after the other, in each a label set after the other, in time */

static void put_label(struct buf *out, const char *name, struct slice text)
{
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, text.s, text.len, false);
    buf_printf(out, "%s=\"", name);
    for (size_t i = 0; i < safe.len; i++) {
        if (safe.data[i] == '"' || safe.data[i] == '\\')
            buf_put_u8(out, '\\');
        buf_put_u8(out, safe.data[i]);
    }
    buf_puts(out, "\"");
    buf_clear(&safe);
}

/* A family of gauges: time, value, then the labels, by their columns' names. */
static int put_family(struct writer *w, const char *name, const char *help, const char *sql,
                      struct error *err)
{
    sqlite3_stmt *s = NULL;
    if (db_prepare(w->r->db, &s, sql, err) != 0)
        return (int)err->code;
    buf_printf(&w->buf, "# TYPE beamtop_%s gauge\n# HELP beamtop_%s %s\n", name, name, help);
    while (recording_row(w->r, s)) {
        if (isnan(db_column_real(s, 1)) || sqlite3_column_type(s, 1) == SQLITE_TEXT)
            continue;
        buf_printf(&w->buf, "beamtop_%s{", name);
        put_label(&w->buf, "node", slice_of(w->node));
        for (int i = 2; i < sqlite3_column_count(s); i++) {
            buf_puts(&w->buf, ",");
            put_label(&w->buf, sqlite3_column_name(s, i), db_column_text(s, i));
        }
        buf_puts(&w->buf, "} ");
        put_column(&w->buf, s, 1, false);
        buf_printf(&w->buf, " %.6f\n", (double)db_column_count(s, 0) / 1e6);
        flush_writer(w, PIECE);
    }
    (void)recording_failed(w->r, err);
    sqlite3_finalize(s);
    return (int)err->code;
}

static void put_help(struct buf *out, const char *help)
{
    for (; *help; help++) {
        if (*help == '\\')
            buf_puts(out, "\\");
        if (*help != '`')
            buf_put_u8(out, (uint8_t)*help);
    }
}

static int put_openmetrics(struct writer *w, struct error *err)
{
    struct buf sql, help;
    buf_init(&sql, 0);
    buf_init(&help, 0);
    for (size_t i = 0; i < system_fields.n && err->code == ERR_NONE; i++) {
        const struct field *f = &system_fields.fields[i];
        const char *column = recording_system_column(w->r, f->key);
        if (!column)
            continue;
        buf_reset(&sql);
        buf_reset(&help);
        put_help(&help, f->help);
        buf_printf(&sql,
                   "SELECT t.wall_us, s.%s FROM system s JOIN tick t ON t.id = s.tick"
                   " WHERE s.%s NOT NULL ORDER BY s.tick",
                   column, column);
        (void)put_family(w, f->key, buf_cstr(&help), buf_cstr(&sql), err);
    }
    buf_clear(&sql);
    buf_clear(&help);
    if (err->code == ERR_NONE)
        (void)put_family(
            w, "owner_share", "Share of the node's reductions, 0 to 1.",
            "SELECT t.wall_us, o.share, o.by, n.text AS owner FROM owner o JOIN tick t ON"
            " t.id = o.tick JOIN text n ON n.id = o.owner WHERE o.share NOT NULL"
            " ORDER BY o.by, o.owner, o.tick",
            err);
    if (err->code == ERR_NONE)
        (void)put_family(
            w, "function_calls_per_s", "Calls per second, in counting windows.",
            "SELECT w.wall_us, c.calls * 1e9 / w.ns, m.text AS module, f.text AS function,"
            " c.arity AS arity FROM call c JOIN call_window w ON w.id = c.window JOIN text m"
            " ON m.id = c.module JOIN text f ON f.id = c.function WHERE w.ns > 0"
            " ORDER BY c.module, c.function, c.arity, w.id",
            err);
    buf_puts(&w->buf, "# EOF\n");
    return (int)err->code;
}

/* ---- the whole */

static int find_view(const char *name, const struct recording_view **out, struct error *err)
{
    for (const struct recording_view *v = recording_views; v->name; v++) {
        if (name && strcmp(v->name, name) != 0)
            continue;
        *out = v;
        return 0;
    }
    struct buf all;
    buf_init(&all, 0);
    for (const struct recording_view *v = recording_views; v->name; v++)
        buf_printf(&all, "%s%s", v == recording_views ? "" : ", ", v->name);
    int rc = error_set(err, ERR_USAGE, "there is no table “%s”: %s", name, buf_cstr(&all));
    buf_clear(&all);
    return rc;
}

/* Tables that earlier recordings lack. */
static const struct {
    const char *view, *table, *column, *why;
} later[] = {
    {"events", "event", "trace", "the file has no events: a recording of version 1 keeps none"},
    {"samples", "sample_run", "at_yields", "the file has no samples: no run was recorded"},
    {"system_events", "system_event", "event",
     "the file has no system events: an earlier version recorded none"},
    {"span_events", "span_event", "ns", "the file has no spans: none were captured"},
};

int recording_export(struct recording *r, enum export_format format, const char *table, FILE *out,
                     struct error *err)
{
    struct writer w = {
        .out = out, .r = r, .node = r->info.node, .spreadsheet = format == EXPORT_SPREADSHEET};
    const struct recording_view *view = NULL;
    recording_begin(r);
    if (format == EXPORT_OPENMETRICS && table)
        return error_set(err, ERR_USAGE, "openmetrics has all tables in one: leave “%s” out",
                         table);
    if (find_view(table, &view, err) != 0)
        return (int)err->code;
    for (size_t i = 0; format != EXPORT_OPENMETRICS && i < ARRAY_LEN(later); i++)
        if (strcmp(view->name, later[i].view) == 0 &&
            !recording_has_column(r, later[i].table, later[i].column))
            return error_set(err, ERR_FORMAT, "%s", later[i].why);
    buf_init(&w.buf, 0);
    if (format == EXPORT_OPENMETRICS)
        (void)put_openmetrics(&w, err);
    else if (strcmp(view->name, "events") == 0)
        (void)put_events(&w, err);
    else
        (void)put_csv(&w, view->sql, err);
    flush_writer(&w, 0);
    buf_clear(&w.buf);
    return (int)err->code;
}
