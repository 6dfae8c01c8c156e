/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the object of `stacks` consists of, a field each (docs/json.md). */
#ifndef BEAMTOP_OUTPUT_TIMELINE_FIELDS_H
#define BEAMTOP_OUTPUT_TIMELINE_FIELDS_H

#include "beamtop/output/fields.h"

extern const struct field_list timeline_run_fields, timeline_row_fields, timeline_function_fields;

#endif
