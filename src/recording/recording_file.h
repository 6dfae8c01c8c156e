/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a recording, opened so that nothing in it or beside it can do any harm. */
#ifndef BEAMTOP_RECORDING_RECORDING_FILE_H
#define BEAMTOP_RECORDING_RECORDING_FILE_H

#include "sqlite.h"

struct recording_file {
    sqlite3 *db;
    int fd;                     /* -1: none */
    char *path;                 /* as it was found: links are followed */
    int64_t bytes;              /* of the file and its -wal when this use began */
    uint64_t steps, most_steps; /* of SQLite's machine, in this use */
    bool overran;               /* it took more: nothing is read any more in it */
};

/*
 * Opens it only for reading: no file is changed, made or removed. ERR_NOT_FOUND: it cannot be read;
 * ERR_FORMAT: not a recording by its first bytes, or a journal lies beside it. Keep it where it is,
 * and close it after a failure too. */
int recording_file_open(struct recording_file *f, const char *path, struct error *err);
/* A new use, with separate steps: as many as the file's size, which grows, asks for. */
void recording_file_begin(struct recording_file *f);
void recording_file_close(struct recording_file *f);
/* ERR_FORMAT: a version that this program does not know. */
int recording_version_check(const char *path, int64_t version, struct error *err);

#endif
