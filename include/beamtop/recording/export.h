/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings for other tools: CSV of a table, or OpenMetrics with the times at which it was. */
#ifndef BEAMTOP_RECORDING_EXPORT_H
#define BEAMTOP_RECORDING_EXPORT_H

#include <stdio.h>

#include "beamtop/recording/recording.h"

/* EXPORT_SPREADSHEET: CSV whose texts that begin with = + - @ get an apostrophe before them. */
enum export_format { EXPORT_CSV, EXPORT_SPREADSHEET, EXPORT_OPENMETRICS };

/*
 * table: "system" (also when NULL), "processes", "owners", "calls", "samples", "events", "marks";
 * OpenMetrics has the first, owners and calls in one. Writes as it reads. ERR_USAGE: there is no
 * such table. */
int recording_export(struct recording *r, enum export_format format, const char *table, FILE *out,
                     struct error *err);

#endif
