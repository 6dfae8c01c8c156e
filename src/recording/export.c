/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/recording/export.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/output/fields.h"
#include "recording_internal.h"

#define PIECE 65536u /* written at once */

static const struct {
    const char *name, *sql;
} tables[] = {
    {"system", NULL}, /* its columns are the keys that the file has */
    {"processes",
     "SELECT t.wall_us, p.pid, n.text AS name, a.text AS application, i.text AS initial_call,"
     " l.text AS label, c.text AS current_function, p.kind, p.reductions_per_s, p.share,"
     " p.memory_bytes, p.message_queue_len, p.message_queue_per_s FROM process p"
     " JOIN tick t ON t.id = p.tick LEFT JOIN text n ON n.id = p.name"
     " LEFT JOIN text a ON a.id = p.application LEFT JOIN text i ON i.id = p.initial_call"
     " LEFT JOIN text l ON l.id = p.label LEFT JOIN text c ON c.id = p.current_function"
     " ORDER BY p.tick, p.share DESC"},
    {"owners",
     "SELECT t.wall_us, o.by, n.text AS owner, o.kind, o.processes, o.reductions_per_s, o.share,"
     " o.memory_bytes, o.message_queue_len FROM owner o JOIN tick t ON t.id = o.tick"
     " LEFT JOIN text n ON n.id = o.owner ORDER BY o.tick, o.by, o.share DESC"},
    {"calls", "SELECT w.wall_us, w.id AS window, w.ns, m.text AS module, f.text AS function, "
              "c.arity, c.calls,"
              " c.share, c.own_us, c.words FROM call c JOIN call_window w ON w.id = c.window"
              " JOIN text m ON m.id = c.module JOIN text f ON f.id = c.function ORDER BY w.id, "
              "c.calls DESC"},
    {"samples",
     "SELECT r.wall_us, r.id AS run, r.at_yields, d.node AS id, d.parent, n.text AS function,"
     " f.kind, o.text AS object, s.text AS file, nullif(f.line, 0) AS line, d.samples"
     " FROM sample_run r JOIN sample_node d ON d.run = r.id LEFT JOIN sample_frame f"
     " ON f.id = d.frame LEFT JOIN text n ON n.id = f.name LEFT JOIN text o ON o.id = f.object"
     " LEFT JOIN text s ON s.id = f.file ORDER BY r.id, d.node"},
    {"span_events",
     "SELECT r.wall_us + e.ns / 1000 AS wall_us, e.run, e.ns, e.kind, '<0.' || p.number || '.' || "
     "p.serial || '>' AS process,"
     " coalesce(pg.text, pn.text) AS name, pd.text AS process_node, '<0.' || q.number || '.' || "
     "q.serial "
     "|| '>' AS peer,"
     " coalesce(qg.text, qn.text) AS peer_name, qd.text AS peer_node, '<0.' || l.number || '.' || "
     "l.serial || '>' AS root, e.serial,"
     " e.tag, e.class, e.words, t.text FROM span_event e JOIN span_run r ON r.id = e.run"
     " LEFT JOIN span_process p ON p.run = e.run AND p.process = e.process"
     " LEFT JOIN text pn ON pn.id = p.name LEFT JOIN text pg ON pg.id = p.given"
     " LEFT JOIN text pd ON pd.id = p.node"
     " LEFT JOIN span_process q ON q.run = e.run AND q.process = e.peer"
     " LEFT JOIN text qn ON qn.id = q.name LEFT JOIN text qg ON qg.id = q.given"
     " LEFT JOIN text qd ON qd.id = q.node"
     " LEFT JOIN span_process l ON l.run = e.run AND l.process = e.label"
     " LEFT JOIN text t ON t.id = e.text ORDER BY e.run, e.event"},
    {"events",
     "SELECT e.wall_us, e.trace, e.kind, e.number, p.text AS pattern, e.pid, n.text AS name,"
     " m.text AS mfa, c.text AS caller, e.latency_us, e.class, e.args, e.result, e.receiver, "
     "e.message,"
     " e.full_bytes, e.lost, e.why, e.duration_us FROM event e LEFT JOIN text p ON p.id = e.pattern"
     " LEFT JOIN text n ON n.id = e.name LEFT JOIN text m ON m.id = e.mfa"
     " LEFT JOIN text c ON c.id = e.caller ORDER BY e.id"},
    {"marks", "SELECT coalesce(wall_us, here_us) AS wall_us, text FROM mark ORDER BY 1"},
};

struct writer {
    FILE *out;
    struct buf buf;
    struct recording *r;
    const char *node;
    bool spreadsheet;
};

static void flush(struct writer *w, size_t least)
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
    struct value node = text_value((struct slice){w->node, strlen(w->node)});
    put_column(&w->buf, s, 0, w->spreadsheet);
    buf_put_u8(&w->buf, ',');
    csv_put_value(&w->buf, &node, w->spreadsheet);
    for (int i = 1; i < sqlite3_column_count(s); i++) {
        buf_put_u8(&w->buf, ',');
        put_column(&w->buf, s, i, w->spreadsheet);
    }
    buf_put_u8(&w->buf, '\n');
    flush(w, PIECE);
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
        put_label(&w->buf, "node", (struct slice){w->node, strlen(w->node)});
        for (int i = 2; i < sqlite3_column_count(s); i++) {
            buf_puts(&w->buf, ",");
            put_label(&w->buf, sqlite3_column_name(s, i), db_column_text(s, i));
        }
        buf_puts(&w->buf, "} ");
        put_column(&w->buf, s, 1, false);
        buf_printf(&w->buf, " %.6f\n", (double)db_column_count(s, 0) / 1e6);
        flush(w, PIECE);
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

static int find_table(const char *name, size_t *out, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        if (name && strcmp(tables[i].name, name) != 0)
            continue;
        *out = i;
        return 0;
    }
    return error_set(
        err, ERR_USAGE,
        "there is no table “%s”: system, processes, owners, calls, samples, span_events, events, "
        "marks",
        name);
}

int recording_export(struct recording *r, enum export_format format, const char *table, FILE *out,
                     struct error *err)
{
    struct writer w = {
        .out = out, .r = r, .node = r->info.node, .spreadsheet = format == EXPORT_SPREADSHEET};
    size_t which = 0;
    recording_begin(r);
    if (format == EXPORT_OPENMETRICS && table)
        return error_set(err, ERR_USAGE, "openmetrics has all tables in one: leave “%s” out",
                         table);
    if (find_table(table, &which, err) != 0)
        return (int)err->code;
    if (format != EXPORT_OPENMETRICS && strcmp(tables[which].name, "events") == 0 &&
        !recording_has_column(r, "event", "trace"))
        return error_set(err, ERR_FORMAT,
                         "the file has no events: a recording of version 1 keeps none");
    if (format != EXPORT_OPENMETRICS && strcmp(tables[which].name, "samples") == 0 &&
        !recording_has_column(r, "sample_run", "at_yields"))
        return error_set(err, ERR_FORMAT, "the file has no samples: no run was recorded");
    if (format != EXPORT_OPENMETRICS && strcmp(tables[which].name, "span_events") == 0 &&
        !recording_has_column(r, "span_event", "ns"))
        return error_set(err, ERR_FORMAT, "the file has no spans: none were captured");
    buf_init(&w.buf, 0);
    if (format != EXPORT_OPENMETRICS)
        (void)put_csv(&w, tables[which].sql, err);
    else
        (void)put_openmetrics(&w, err);
    flush(&w, 0);
    buf_clear(&w.buf);
    return (int)err->code;
}
