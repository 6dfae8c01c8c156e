/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that stand for several functions: what `beamtop blame` is asked for, and findings sum. */
#ifndef BEAMTOP_MODEL_FRAME_GROUP_H
#define BEAMTOP_MODEL_FRAME_GROUP_H

#include <stdbool.h>

#include "beamtop/model/stacks.h"

struct frame_group;

/* "copies": of messages and terms, "gc", "nifs"; NULL: no such group. */
const struct frame_group *frame_group_find(const char *name);
typedef bool frame_test(const void *arg, const struct sample_frame *f);
frame_test frame_group_has; /* arg: a group */
/* A name as it is, or a pattern of the shell's kind. */
bool frame_text_matches(struct slice text, const char *pattern);

/* The weight of the stacks in which a frame of the test stands. by_caller (may be NULL, else one
 * more than there are frames, zeroed): that of each Erlang function that is the next above the
 * last such frame, by the function's id; at the end, of those without one. Those stacks are added
 * to `behind` (may be NULL). */
double frames_weight(const struct stacks *s, frame_test *test, const void *arg, double *by_caller,
                     struct stacks *behind);

#endif
