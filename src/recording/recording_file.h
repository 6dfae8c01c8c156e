/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a recording, opened so that nothing in it or beside it can do any harm. */
#ifndef BEAMTOP_RECORDING_RECORDING_FILE_H
#define BEAMTOP_RECORDING_RECORDING_FILE_H

#include "sqlite.h"

struct recording_file {
    sqlite3 *db;
    int fd;                     /* -1: none */
    int64_t bytes;              /* of the file and its -wal when it was opened */
    uint64_t steps, most_steps; /* of SQLite's machine, for one statement */
    bool overran;               /* a statement took more: nothing is read any more */
};

/*
 * Opens it for reading alone: no file is changed, made or removed. ERR_NOT_FOUND: it cannot be read;
 * ERR_FORMAT: not a recording by its first bytes, or a journal lies beside it. Keep it where it is, and
 * close it after a failure too.
 */
int recording_file_open(struct recording_file *f, const char *path, struct error *err);
void recording_file_close(struct recording_file *f);
/* ERR_FORMAT: a version that this program does not know. */
int recording_version_check(const char *path, int64_t version, struct error *err);

#endif
