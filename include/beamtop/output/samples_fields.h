/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the objects of `sample` and `pstack` consist of, a field each (docs/json.md). */
#ifndef BEAMTOP_OUTPUT_SAMPLES_FIELDS_H
#define BEAMTOP_OUTPUT_SAMPLES_FIELDS_H

#include "beamtop/output/fields.h"

extern const struct field_list samples_run_fields, samples_class_fields, samples_code_fields,
    samples_function_fields, samples_held_fields, samples_kind_fields, samples_place_fields,
    samples_process_fields, samples_thread_fields, samples_tree_fields, stack_thread_fields,
    stack_frame_fields;

#endif
