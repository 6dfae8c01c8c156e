/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a recording with texts in place of their ids. Each is a view of the file, for people
 * with sqlite3, and a table of the export; beamtop itself reads no view of a file. */
#ifndef BEAMTOP_RECORDING_RECORDING_VIEWS_H
#define BEAMTOP_RECORDING_RECORDING_VIEWS_H

struct recording_view {
    const char *name, *sql;
};
/* Ends with a name of NULL. The SQL of `system` is NULL: its columns are the keys of the file. */
extern const struct recording_view recording_views[];

#endif
