/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the object of `spans` consists of, a field each (docs/json.md). */
#ifndef BEAMTOP_OUTPUT_SPANS_FIELDS_H
#define BEAMTOP_OUTPUT_SPANS_FIELDS_H

#include "beamtop/output/fields.h"

extern const struct field_list spans_run_fields, spans_dropped_fields, spans_span_fields,
    spans_wait_fields, spans_step_fields, spans_caller_fields, spans_context_fields,
    spans_side_fields, spans_part_fields;

#endif
