/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that stand for several functions: what `beamtop blame` is asked for, and findings sum. */
#ifndef BEAMTOP_MODEL_FRAME_GROUP_H
#define BEAMTOP_MODEL_FRAME_GROUP_H

#include <stdbool.h>

#include "beamtop/model/stacks.h"

struct frame_group;

/* "copies": of messages and terms, "gc", "nifs"; NULL: no such group. */
const struct frame_group *frame_group_find(const char *name);
bool frame_group_has(const struct frame_group *g, const struct sample_frame *f);
/* A name as it is, or a pattern of the shell's kind. */
bool frame_text_matches(struct slice text, const char *pattern);

/* The weight of the stacks in which one of the group stands; by_caller (may be NULL, else as many
 * as there are frames, zeroed): that of each Erlang function that is the next above it. */
double frame_group_weight(const struct frame_group *g, const struct stacks *s, double *by_caller);

#endif
