/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SQLite as the files of this layer use it: errors in our words, statements that end themselves. */
#ifndef BEAMTOP_RECORDING_SQLITE_H
#define BEAMTOP_RECORDING_SQLITE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/term.h"

/* "recordings: what: SQLite's words". ERR_LIMIT for a full file or disk, ERR_FORMAT for damage. */
int db_fail(sqlite3 *db, struct error *err, const char *what);
int db_exec(sqlite3 *db, const char *sql, struct error *err);
int db_prepare(sqlite3 *db, sqlite3_stmt **out, const char *sql, struct error *err);
/* Runs a statement that gives no rows, and makes it ready for the next time. */
int db_run(sqlite3 *db, sqlite3_stmt *stmt, struct error *err);
/* One number; `otherwise` when there is none or it is NULL; one beyond
   what db_column_int() takes is the last that it takes. */
int64_t db_int(sqlite3 *db, const char *sql, int64_t otherwise);

/* Numbers of a file may be any. Beyond what a recorder ever writes, where sums overflow, one is
 * unknown. */
double db_column_real(sqlite3_stmt *stmt, int at);    /* NULL: NaN */
int64_t db_column_int(sqlite3_stmt *stmt, int at);    /* NULL, below -1: -1 */
int64_t db_column_count(sqlite3_stmt *stmt, int at);  /* the same, unknown: 0 */
int64_t db_column_signed(sqlite3_stmt *stmt, int at); /* NULL: 0; of a monotonic clock */
int64_t db_column_clamped(sqlite3_stmt *stmt, int at, int64_t otherwise); /* as db_int() */
struct slice db_column_text(sqlite3_stmt *stmt, int at); /* NULL: empty; until the next step */
/* Inflates a blob into out, which it empties first; before it stands what it comes to. ERR_FORMAT:
 * it does not, or cannot; what: "an answer of the recording". */
int db_column_inflate(sqlite3_stmt *stmt, int at, const char *what, struct buf *out,
                      struct error *err);

#endif
