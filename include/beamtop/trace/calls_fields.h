/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a window of counted calls and of its rows. */
#ifndef BEAMTOP_TRACE_CALLS_FIELDS_H
#define BEAMTOP_TRACE_CALLS_FIELDS_H

#include "beamtop/base/arena.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/field.h"
#include "beamtop/trace/calls_state.h"

extern const struct field_list calls_window_fields, calls_cost_fields, calls_function_fields,
    calls_module_fields, calls_application_fields;

/* The columns of its functions: with times and words where it has them. */
const char *calls_function_columns(const struct calls_window *w);
/* Whether it shows what the second window counted, which may be lost. */
bool calls_field_is_timed(const struct field *f);
/* What `name` of a copy of the row is set to for people; in the arena, or the row's. */
struct slice calls_function_name(struct arena *arena, const struct calls_function *f,
                                 enum print_syntax syntax);
struct slice calls_sum_name(struct arena *arena, const struct calls_sum *sum,
                            enum print_syntax syntax);

#endif
