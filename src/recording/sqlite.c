/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sqlite.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

/* Above any number of a node; two of them may be added, of the reals any number squared. */
#define MOST_REAL 1e19
#define MOST_INT INT64_C(1000000000000000000)
#define MOST_SIGNED INT64_C(4000000000000000000)

int db_fail(sqlite3 *db, struct error *err, const char *what)
{
    int rc = sqlite3_extended_errcode(db) & 0xff;
    enum err code = ERR_SYSTEM;
    if (rc == SQLITE_FULL)
        code = ERR_LIMIT;
    if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
        code = ERR_FORMAT;
    if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
        code = ERR_TIMEOUT;
    return error_set(err, code, "%s: %s", what, sqlite3_errmsg(db));
}

int db_exec(sqlite3 *db, const char *sql, struct error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(db, err, "recording");
}

int db_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct error *err)
{
    if (sqlite3_prepare_v2(db, sql, -1, out, NULL) == SQLITE_OK)
        return 0;
    return db_fail(db, err, "recording");
}

int db_run(sqlite3 *db, sqlite3_stmt *stmt, struct error *err)
{
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_DONE && rc != SQLITE_ROW)
        db_fail(db, err, "recording");
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    return rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : (int)err->code;
}

int64_t db_int(sqlite3 *db, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *stmt = NULL;
    int64_t v = otherwise;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW)
        v = db_column_clamped(stmt, 0, otherwise);
    sqlite3_finalize(stmt);
    return v;
}

double db_column_real(sqlite3_stmt *stmt, int at)
{
    double v = sqlite3_column_double(stmt, at);
    return sqlite3_column_type(stmt, at) != SQLITE_NULL && fabs(v) <= MOST_REAL ? v : (double)NAN;
}

int64_t db_column_int(sqlite3_stmt *stmt, int at)
{
    int64_t v = sqlite3_column_int64(stmt, at);
    return sqlite3_column_type(stmt, at) != SQLITE_NULL && v >= 0 && v <= MOST_INT ? v : -1;
}

int64_t db_column_count(sqlite3_stmt *stmt, int at)
{
    int64_t v = db_column_int(stmt, at);
    return v > 0 ? v : 0;
}

int64_t db_column_clamped(sqlite3_stmt *stmt, int at, int64_t otherwise)
{
    int64_t v = sqlite3_column_int64(stmt, at);
    if (sqlite3_column_type(stmt, at) == SQLITE_NULL)
        return otherwise;
    return v < -MOST_INT ? -MOST_INT : v > MOST_INT ? MOST_INT : v;
}

int64_t db_column_signed(sqlite3_stmt *stmt, int at)
{
    int64_t v = sqlite3_column_int64(stmt, at);
    return v >= -MOST_SIGNED && v <= MOST_SIGNED ? v : 0;
}

struct slice db_column_text(sqlite3_stmt *stmt, int at)
{
    const char *s = (const char *)sqlite3_column_text(stmt, at);
    size_t len = (size_t)sqlite3_column_bytes(stmt, at);
    return s ? (struct slice){s, len} : (struct slice){"", 0};
}

/* What deflate can make of a byte at most, and of the few beside it. */
#define DEFLATED_MOST 1032

int db_column_inflate(sqlite3_stmt *stmt, int at, const char *what, struct buf *out,
                      struct error *err)
{
    const void *blob = sqlite3_column_blob(stmt, at);
    int64_t len = sqlite3_column_bytes(stmt, at), bytes = db_column_int(stmt, at - 1);
    uLongf size = (uLongf)bytes;
    buf_reset(out);
    if (!blob || bytes <= 0 || bytes > (int64_t)LIMIT_RECORDED_TERM_BYTES ||
        bytes / DEFLATED_MOST > len)
        return error_set(err, ERR_FORMAT, "%s has a size it cannot have", what);
    uint8_t *bare = alloc_zero((size_t)bytes, 1);
    int rc = uncompress(bare, &size, blob, (uLong)len);
    if (rc == Z_OK)
        buf_put(out, bare, size);
    free(bare);
    return rc == Z_OK ? 0 : error_set(err, ERR_FORMAT, "%s is damaged", what);
}
