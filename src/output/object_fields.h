/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the objects of `outside`, `sample`, `pstack`, `spans` and `stacks` consist of, a field each
 * (docs/json.md). */
#ifndef BEAMTOP_OUTPUT_OBJECT_FIELDS_H
#define BEAMTOP_OUTPUT_OBJECT_FIELDS_H

#include "beamtop/model/samples_fields.h"
#include "beamtop/output/fields.h"

extern const struct field_list samples_run_fields, samples_place_fields, samples_tree_fields,
    stack_thread_fields; /* their rows: beamtop/model/samples_fields.h */
extern const struct field_list outside_fields, outside_dump_fields, outside_socket_fields,
    outside_thread_fields, outside_stack_fields, outside_frame_fields;
extern const struct field_list spans_run_fields, spans_dropped_fields, spans_caller_fields,
    spans_context_fields, spans_side_fields; /* others: beamtop/trace/spans_rows.h */
extern const struct field_list timeline_run_fields, timeline_row_fields, timeline_function_fields;

#endif
