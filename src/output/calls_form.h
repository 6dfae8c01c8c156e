/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What windows of counted calls of one node and of several have alike. */
#ifndef BEAMTOP_OUTPUT_CALLS_FORM_H
#define BEAMTOP_OUTPUT_CALLS_FORM_H

#include "beamtop/output/calls_sink.h"
#include "beamtop/output/json.h"
#include "table.h"

/* A table, behind an empty line. */
void calls_text_rows(struct buf *out, const struct text_rows *rows, bool ascii);
/* The first of sums, of modules or applications, in these columns; NULL: those of the list. */
void calls_text_sums(struct buf *out, struct arena *arena, const struct text_rows *sums,
                     const struct calls_sink_options *options);
/* Sums under the name of their list: "modules", "applications". */
void calls_json_sums(json_t *root, const struct field_list *fields, const struct calls_sum *sums,
                     size_t n);

#endif
