/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings that earlier programs wrote, from their dumps; SQL on a file. */
#ifndef TESTS_RECORDING_MADE_VERSION_H
#define TESTS_RECORDING_MADE_VERSION_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static inline void made_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *message = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s", message);
    sqlite3_close(db);
}

static inline void made_version(const char *path, int version)
{
    char name[4096], sql[32768];
    const char *dir = getenv("BEAMTOP_SRCDIR");
    snprintf(name, sizeof name, "%s/tests/unit/recording/version_%d.sql", dir ? dir : ".", version);
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t len = fread(sql, 1, sizeof sql - 1, file);
    assert_true(len < sizeof sql - 1);
    sql[len] = '\0';
    fclose(file);
    made_sql(path, sql);
}

#endif
