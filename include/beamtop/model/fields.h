/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of the answers and rows of include/beamtop/model/detail.h and snapshot.h; of process
 * rows, column.h has them. */
#ifndef BEAMTOP_MODEL_FIELDS_H
#define BEAMTOP_MODEL_FIELDS_H

#include "beamtop/base/question.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/field.h"

extern const struct field_list cost_fields, system_fields, info_fields, scan_fields;
extern const struct field_list alloc_fields, allocator_fields, instance_fields;
extern const struct field_list heaps_fields, heap_row_fields, heap_owner_fields;
extern const struct field_list scheduler_fields, threads_fields, thread_fields;
extern const struct field_list msacc_fields, msacc_row_fields;
extern const struct field_list table_fields; /* of struct table_detail */
#define TABLE_FIELDS(id, name, ...) extern const struct field_list name##_fields;
QUESTION_LISTS(TABLE_FIELDS)
#undef TABLE_FIELDS
extern const struct field_list waits_sums_fields;
extern const struct field_list load_fields; /* of struct owner; only on the screen */
extern const struct field_list armed_fields, armed_row_fields;

#endif
