/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording_schema.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/output/fields.h"
#include "recording_file.h"
#include "recording_views.h"
#include "trace_columns.h"

/* Rows of kilobytes in a table WITHOUT ROWID would fill a page of overflow each: `answer`
 * has one. */
static const char tables[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE tick(id INTEGER PRIMARY KEY, here_us INTEGER NOT NULL, wall_us INTEGER,"
    " mono_ns INTEGER, interval_us INTEGER, cost_us REAL, bytes REAL);"
    "CREATE INDEX tick_wall ON tick(wall_us);"
    "CREATE TABLE gap(from_tick INTEGER NOT NULL, here_us INTEGER NOT NULL, why TEXT);"
    "CREATE TABLE process(tick INTEGER NOT NULL, pid TEXT NOT NULL, name INTEGER,"
    " application INTEGER, initial_call INTEGER, label INTEGER, current_function INTEGER,"
    " reductions_per_s REAL, share REAL, memory_bytes INTEGER, message_queue_len INTEGER,"
    " message_queue_per_s REAL, kind TEXT, PRIMARY KEY(tick, pid)) WITHOUT ROWID;"
    "CREATE TABLE owner(tick INTEGER NOT NULL, by TEXT NOT NULL, owner INTEGER NOT NULL,"
    " processes INTEGER, reductions_per_s REAL, share REAL, memory_bytes REAL,"
    " message_queue_len REAL, kind TEXT, PRIMARY KEY(tick, by, owner)) WITHOUT ROWID;"
    "CREATE TABLE call_window(id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, wall_us INTEGER,"
    " ns INTEGER NOT NULL, functions INTEGER, calls INTEGER, calls_per_s REAL, lost INTEGER,"
    " bytes INTEGER, line BLOB);"
    "CREATE TABLE call(window INTEGER NOT NULL, module INTEGER NOT NULL,"
    " function INTEGER NOT NULL, arity INTEGER NOT NULL, calls INTEGER, share REAL,"
    " own_us INTEGER, words INTEGER, PRIMARY KEY(window, module, function, arity)) WITHOUT ROWID;"
    "CREATE TABLE fact(tick INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,"
    " PRIMARY KEY(key, tick)) WITHOUT ROWID;"
    "CREATE TABLE trace(id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, wall_us INTEGER, syntax "
    "TEXT,"
    " patterns TEXT NOT NULL, procs TEXT, ended_us INTEGER, reason TEXT, events INTEGER,"
    " clean INTEGER, ending TEXT);"
    "CREATE TABLE mark(id INTEGER PRIMARY KEY, here_us INTEGER NOT NULL, wall_us INTEGER,"
    " text TEXT NOT NULL);"
    "CREATE TABLE answer(tick INTEGER NOT NULL, question TEXT NOT NULL, asked TEXT,"
    " bytes INTEGER NOT NULL, term BLOB NOT NULL, PRIMARY KEY(tick, question));";

/* Of runs of the sampler, and of captures of spans. */
static const char tables_of_runs[] =
    "CREATE TABLE sample_run(id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, wall_us INTEGER,"
    " ns INTEGER NOT NULL, hz REAL, at_yields INTEGER NOT NULL, samples INTEGER NOT NULL,"
    " lost INTEGER, moved_on INTEGER, truncated INTEGER, unresolved INTEGER, complete INTEGER,"
    " sampler_cpu_s REAL, target_cpu_s REAL, erlang INTEGER, bif INTEGER, gc INTEGER,"
    " runtime INTEGER, nif INTEGER, scheduler INTEGER, other INTEGER, left_out REAL);"
    "CREATE TABLE sample_frame(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name INTEGER NOT NULL,"
    " object INTEGER NOT NULL, file INTEGER NOT NULL, line INTEGER NOT NULL,"
    " UNIQUE(name, kind, object, file, line));"
    "CREATE TABLE sample_node(run INTEGER NOT NULL, node INTEGER NOT NULL,"
    " parent INTEGER NOT NULL, frame INTEGER NOT NULL, samples REAL NOT NULL,"
    " PRIMARY KEY(run, node)) WITHOUT ROWID;"
    "CREATE TABLE sample_source(run INTEGER NOT NULL, kind TEXT NOT NULL, rank INTEGER NOT NULL,"
    " name TEXT, about INTEGER, samples INTEGER, PRIMARY KEY(run, kind, rank)) WITHOUT ROWID;"
    "CREATE TABLE sample_held(run INTEGER NOT NULL, rank INTEGER NOT NULL, call INTEGER,"
    " object INTEGER, caller INTEGER, process TEXT, name INTEGER, thread TEXT,"
    " ns INTEGER NOT NULL, samples INTEGER NOT NULL, PRIMARY KEY(run, rank)) WITHOUT ROWID;"
    "CREATE TABLE span_run(id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, wall_us INTEGER,"
    " mono_ns INTEGER NOT NULL, node TEXT, capture INTEGER NOT NULL, full INTEGER NOT NULL,"
    " patterns TEXT, procs TEXT, roots_asked INTEGER, every INTEGER, for_s REAL,"
    " events_asked INTEGER, functions INTEGER, calls_per_s REAL, load REAL, expensive INTEGER,"
    " others TEXT, roots INTEGER, open INTEGER, events INTEGER, skipped INTEGER, reason TEXT,"
    " seconds REAL, arm_us REAL, disarm_us REAL, target_us REAL, bytes INTEGER, invalid INTEGER,"
    " beyond INTEGER, duplicate INTEGER, clean INTEGER, not_clean TEXT);"
    "CREATE TABLE span_process(run INTEGER NOT NULL, process INTEGER NOT NULL,"
    " number INTEGER NOT NULL, serial INTEGER NOT NULL, creation INTEGER NOT NULL, node INTEGER,"
    " name INTEGER, given INTEGER, PRIMARY KEY(run, process)) WITHOUT ROWID;"
    "CREATE TABLE span_event(run INTEGER NOT NULL, event INTEGER NOT NULL, ns INTEGER NOT NULL,"
    " sort INTEGER NOT NULL, kind TEXT NOT NULL, process INTEGER NOT NULL, peer INTEGER,"
    " label INTEGER, serial INTEGER, tag TEXT, class TEXT, ref BLOB, words INTEGER, text INTEGER,"
    " PRIMARY KEY(run, event)) WITHOUT ROWID;";

const char *const schema_tick_tables[] = {"system", "process", "owner", "answer", NULL};

/* The keys of the list from the first on, each a column. */
static void put_keys(struct buf *sql, const struct field_list *list, size_t first)
{
    for (size_t i = first; i < list->n; i++)
        buf_printf(sql, ", %s %s", list->fields[i].key,
                   list->fields[i].form == FIELD_REAL ? "REAL" : "INTEGER");
}

/* With the time in front, as people read it. */
static void put_views(struct buf *sql)
{
    for (const struct recording_view *v = recording_views; v->name; v++)
        if (v->sql)
            buf_printf(sql,
                       " CREATE VIEW %s AS SELECT strftime('%%Y-%%m-%%d %%H:%%M:%%f', wall_us / "
                       "1e6, 'unixepoch') AS time, * FROM (%s);",
                       v->name, v->sql);
}

int schema_create(sqlite3 *db, struct error *err)
{
    struct buf sql;
    buf_init(&sql, 0);
    buf_printf(&sql, "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; %s%s",
               RECORDING_APPLICATION_ID, RECORDING_VERSION, tables, tables_of_runs);
    buf_puts(&sql, "CREATE TABLE system(tick INTEGER PRIMARY KEY");
    for (size_t i = 0; i < system_fields.n; i++)
        buf_printf(&sql, ", %s REAL", system_fields.fields[i].key);
    buf_puts(&sql, "); CREATE TABLE event(id INTEGER PRIMARY KEY, trace INTEGER NOT NULL,"
                   " tick INTEGER NOT NULL, kind TEXT NOT NULL");
    trace_columns_declare(&sql);
    buf_puts(&sql, ", term BLOB); CREATE INDEX event_trace ON event(trace);"
                   "CREATE TABLE trace_pattern(trace INTEGER NOT NULL, number INTEGER NOT NULL,"
                   " pattern TEXT");
    put_keys(&sql, &trace_tally_fields, 0);
    put_keys(&sql, &trace_pattern_fields, 1);
    buf_puts(&sql, ", PRIMARY KEY(trace, number)) WITHOUT ROWID;");
    put_views(&sql);
    buf_puts(&sql, " COMMIT;");
    int rc = db_exec(db, buf_cstr(&sql), err);
    buf_clear(&sql);
    return rc;
}

/* ---- what a file may have: recording_file.c switches views and triggers off */

/* Each parenthesis opens the columns of the table or of a key: nothing computes or checks, which
 * may take any time and memory. */
static bool is_plain_table(const char *sql)
{
    static const char *const keys[] = {"PRIMARY KEY", "UNIQUE"};
    const char *at = strchr(sql, '(');
    while (at && (at = strchr(at + 1, '(')) != NULL) {
        bool is_key = false;
        for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
            size_t len = strlen(keys[i]);
            is_key = is_key || ((size_t)(at - sql) > len && memcmp(at - len, keys[i], len) == 0);
        }
        if (!is_key)
            return false;
    }
    return true;
}

/* SQLite reads only the statement, not the type and name beside it. */
static bool is_harmless(const char *sql)
{
    static const char *const unused[] = {"CREATE VIEW ", "CREATE TRIGGER ", "CREATE INDEX ",
                                         "CREATE UNIQUE INDEX "};
    const struct slice text = slice_of(sql);
    for (size_t i = 0; i < ARRAY_LEN(unused); i++)
        if (slice_begins(text, unused[i]))
            return true;
    return slice_begins(text, "CREATE TABLE ") && is_plain_table(sql);
}

static int check_tables(sqlite3 *db, const char *path, struct error *err)
{
    sqlite3_stmt *rows = NULL;
    int step = SQLITE_DONE;
    if (db_prepare(
            db, &rows,
            "SELECT ifnull(type, ''), ifnull(name, ''), sql FROM sqlite_master WHERE sql NOT NULL",
            err) != 0)
        return (int)err->code;
    while ((step = sqlite3_step(rows)) == SQLITE_ROW &&
           is_harmless((const char *)sqlite3_column_text(rows, 2)))
        continue;
    if (step == SQLITE_ROW)
        error_set(err, ERR_FORMAT,
                  "%s has the %.20s %.60s, which no recording of beamtop has. Where it "
                  "is one of yours, drop it",
                  path, sqlite3_column_text(rows, 0), sqlite3_column_text(rows, 1));
    else if (step != SQLITE_DONE)
        (void)db_fail(db, err, path);
    sqlite3_finalize(rows);
    return (int)err->code;
}

int schema_check(sqlite3 *db, const char *path, struct error *err)
{
    int64_t id = db_int(db, "PRAGMA application_id", -1);
    if (id < 0 && sqlite3_errcode(db) == SQLITE_NOTADB)
        return error_set(err, ERR_FORMAT, "%s is not a recording of beamtop", path);
    if (id < 0)
        return db_fail(db, err, path);
    /* Of a new file the numbers stand in its -wal. */
    if (id != RECORDING_APPLICATION_ID)
        return error_set(err, ERR_FORMAT, "%s is not a recording of beamtop", path);
    if (recording_version_check(path, db_int(db, "PRAGMA user_version", -1), err) != 0)
        return (int)err->code;
    return check_tables(db, path, err);
}

int schema_prepare_system(sqlite3 *db, sqlite3_stmt **out, struct error *err)
{
    struct buf sql;
    buf_init(&sql, 0);
    buf_puts(&sql, "INSERT INTO system(tick");
    for (size_t i = 0; i < system_fields.n; i++)
        buf_printf(&sql, ", %s", system_fields.fields[i].key);
    buf_puts(&sql, ") VALUES(?");
    for (size_t i = 0; i < system_fields.n; i++)
        buf_puts(&sql, ",?");
    buf_puts(&sql, ")");
    int rc = db_prepare(db, out, buf_cstr(&sql), err);
    buf_clear(&sql);
    return rc;
}
