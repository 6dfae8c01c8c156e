/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a recording, as docs/recording.md describes them. */
#ifndef BEAMTOP_RECORDING_RECORDING_SCHEMA_H
#define BEAMTOP_RECORDING_RECORDING_SCHEMA_H

#include "sqlite.h"

#define RECORDING_APPLICATION_ID 0x6265616d /* "beam" */
#define RECORDING_VERSION 4
#define RECORDING_OLDEST 1 /* without traces; 1 and 2 have items of scans as bits, not as names */
#define RECORDING_FORMAT "beamtop.recording/4"

int schema_create(sqlite3 *db, struct error *err);
/* ERR_FORMAT unless it is a recording of a version that is known. */
int schema_check(sqlite3 *db, const char *path, struct error *err);

/* Tables with texts in place of their ids. Each is a view of the file, for people with sqlite3, and
 * a table of the export; beamtop itself reads no view of a file. Ends with a name of NULL. The SQL
 * of `system` is NULL: its columns are the keys of the file. */
struct recording_view {
    const char *name, *sql;
};
extern const struct recording_view recording_views[];

#endif
