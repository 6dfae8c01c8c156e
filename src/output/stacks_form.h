/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted stacks in files of other programs: what all that have such stacks share. */
#ifndef BEAMTOP_OUTPUT_STACKS_FORM_H
#define BEAMTOP_OUTPUT_STACKS_FORM_H

#include "beamtop/model/stacks.h"
#include "beamtop/output/writer.h"

/* "first;frame;frame N", the root first, a line for each stack of a weight of 1 or more. */
void stacks_put_folded(struct sink_pieces *out, const struct stacks *s, struct slice first);

/* A file of speedscope.app: its head up to the first profile, profiles with "," between, its end
 * with the frames of `shared`. Each profile puts its frames there. */
void speedscope_put_head(struct sink_pieces *out, struct slice name);
void speedscope_put_profile(struct sink_pieces *out, struct slice name, const char *unit,
                            const struct stacks *s, struct stacks *shared);
void speedscope_put_end(struct sink_pieces *out, const struct stacks *shared);
/* A text as JSON: of nothing it is "", since null is not allowed there. */
void speedscope_put_text(struct buf *out, struct slice text);

#endif
