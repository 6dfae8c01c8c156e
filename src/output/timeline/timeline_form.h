/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the forms of a timeline share. */
#ifndef BEAMTOP_OUTPUT_TIMELINE_FORM_H
#define BEAMTOP_OUTPUT_TIMELINE_FORM_H

#include "beamtop/base/arena.h"
#include "beamtop/output/timeline_sink.h"
#include "output/object_fields.h"

struct timeline_form {
    struct sink_pieces *out;
    const struct timeline_run *run;
    const struct timeline_sink_options *options;
    struct timeline_sums sums;
    struct arena arena;
};

/* A function as JSON and text show it. */
struct timeline_function_row {
    struct timeline_function of;
    double total_us, own_us, max_us, waiting_us, off_cpu_us;
    enum field_bound own_bound; /* time off CPU may be in it */
};
struct timeline_function_row timeline_function_row(const struct timeline_function *of);

void timeline_text_put(struct timeline_form *f);
void timeline_json_put(struct timeline_form *f);

/* "<0.1.2>"; empty: unknown. Kept in the arena. */
struct slice timeline_pid(struct timeline_form *f);
/* "WAITING(m:f/a)" of a time off CPU, else the function. Kept in the arena. */
struct slice timeline_row_name(struct timeline_form *f, const struct timeline_row *r);

#endif
