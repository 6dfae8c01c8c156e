/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An event of a trace as the term that the node sent (docs/tracing.md), without version byte, with
 * times in ns. With shapes of values each is a binary, without values []. */
#ifndef BEAMTOP_RECORDING_EVENT_TERM_H
#define BEAMTOP_RECORDING_EVENT_TERM_H

#include "beamtop/output/trace_line.h"
#include "beamtop/trace/log.h"

/* In the arena. line: the same event, with the texts that stand for values unless whole. */
struct slice event_term_make(struct arena *arena, const char *node, const struct trace_event *e,
                             const struct trace_line *line, bool finished, bool whole);
/* Of a file that may be anyone's. False: not an event. out borrows from the term. */
bool event_term_read(struct slice term, struct pushed_event *out);
/* Of a recording without values: "(not recorded)" in their places, and no arguments. */
void event_term_without_values(struct trace_event *e);

#endif
