/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording_schema.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "recording_file.h"
#include "tables.h"

const struct recording_view recording_views[] = {
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
    {"events", /* what a term prints as is not in it: recording_export() has that too */
     "SELECT e.wall_us, e.trace, e.kind, e.number, p.text AS pattern, e.pid, n.text AS name,"
     " m.text AS mfa, c.text AS caller, e.latency_us, e.class, e.lost FROM event e"
     " LEFT JOIN text p ON p.id = e.pattern LEFT JOIN text n ON n.id = e.name"
     " LEFT JOIN text m ON m.id = e.mfa LEFT JOIN text c ON c.id = e.caller ORDER BY e.id"},
    {"system_events",
     "SELECT e.wall_us, e.run, e.event, e.pid, n.text AS name, e.ms, e.words, i.text AS \"in\","
     " o.text AS \"out\", e.port, e.peer, e.state, e.next_limit, e.dropped FROM system_event e"
     " LEFT JOIN text n ON n.id = e.name LEFT JOIN text i ON i.id = e.in_function"
     " LEFT JOIN text o ON o.id = e.out_function ORDER BY e.run, e.number"},
    {"marks", "SELECT coalesce(wall_us, here_us) AS wall_us, text FROM mark ORDER BY 1"},
    {NULL, NULL},
};

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
    buf_printf(&sql, "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d; ",
               RECORDING_APPLICATION_ID, RECORDING_VERSION);
    tables_create(&sql);
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
    if (id < 0 && sqlite3_errcode(db) != SQLITE_NOTADB)
        return db_fail(db, err, path);
    /* Of a new file the numbers stand in its -wal. */
    if (id != RECORDING_APPLICATION_ID)
        return error_set(err, ERR_FORMAT, "%s is not a recording of beamtop", path);
    if (recording_version_check(path, db_int(db, "PRAGMA user_version", -1), err) != 0)
        return (int)err->code;
    return check_tables(db, path, err);
}
