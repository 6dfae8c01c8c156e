/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A VM seen from outside (base/outside.h) as it is written out: lines and tables for people, one
 * JSON object on a line (docs/json.md), CSV with a line for each thread. Text from outside is made
 * safe for its form. Owner: the caller. Thread: any. */
#ifndef BEAMTOP_OUTPUT_OUTSIDE_SINK_H
#define BEAMTOP_OUTPUT_OUTSIDE_SINK_H

#include <stdbool.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/outside.h"

/* brief: the lines and the stacks, indented, without name and threads: behind an error. */
void outside_text_put(struct buf *out, const struct outside *o, bool brief, bool ascii);
void outside_json_put(struct buf *out, const struct outside *o);
void outside_csv_put(struct buf *out, const struct outside *o, bool spreadsheet);

#endif
