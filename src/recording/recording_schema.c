/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording_schema.h"

#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "recording_file.h"
#include "recording_views.h"
#include "tables.h"

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
    for (enum recording_table t = 0; t < TABLES_MADE; t++)
        tables_create(&sql, t);
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
