/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted stacks in files of other programs: what all that have such stacks share. */
#ifndef BEAMTOP_OUTPUT_STACKS_FORM_H
#define BEAMTOP_OUTPUT_STACKS_FORM_H

#include "beamtop/model/stacks.h"
#include "beamtop/output/writer.h"

/* Safe, without the sign between frames. Readers take the last space of a line for the one before
   the number, so spaces may stay. */
void folded_put_frame(struct buf *out, struct slice name);
/* "first;frame;frame N", the root first, a line for each stack of a weight of 1 or more. */
void stacks_put_folded(struct sink_pieces *out, const struct stacks *s, struct slice first);

/* A file of speedscope.app: its head up to the first profile, profiles with "," between, its end
 * with the frames of `shared`. Each profile puts its frames there. */
void speedscope_put_head(struct sink_pieces *out, struct slice name);
void speedscope_put_profile(struct sink_pieces *out, struct slice name, const char *unit,
                            const struct stacks *s, struct stacks *shared);
/* A profile of kind "evented": frames in time, one within the other. Times are ns of one clock.
 * They never go back, and a frame ends with the one around it at the latest. */
struct speedscope_events {
    struct sink_pieces *out;
    struct speedscope_open *open;
    size_t depth;
    int64_t from_ns, at_ns;
    const char *between;
};
/* For at most so many frames. */
void speedscope_begin_events(struct speedscope_events *e, struct sink_pieces *out,
                             struct slice name, int64_t from_ns, int64_t until_ns, size_t most);
/* By start; so many frames are around it. */
void speedscope_put_event(struct speedscope_events *e, size_t depth, uint32_t frame,
                          int64_t from_ns, int64_t until_ns);
void speedscope_end_events(struct speedscope_events *e);
void speedscope_put_end(struct sink_pieces *out, const struct stacks *shared);
#endif
