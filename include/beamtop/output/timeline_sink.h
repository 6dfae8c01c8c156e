/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one process did in time, as it is written out: for people, calls and times off CPU in order,
 * then a table of functions; for programs JSON (docs/json.md), folded stacks, a speedscope file.
 * Text from outside is made safe for its form. */
#ifndef BEAMTOP_OUTPUT_TIMELINE_SINK_H
#define BEAMTOP_OUTPUT_TIMELINE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/model/timeline.h"
#include "beamtop/output/writer.h"
#include "beamtop/trace/log.h"

enum timeline_format { TIMELINE_TEXT, TIMELINE_JSON, TIMELINE_FOLDED, TIMELINE_SPEEDSCOPE };

/* A finished run; all borrowed. */
struct timeline_run {
    const struct timeline *timeline; /* built */
    const struct trace_state *state; /* of the trace: caps, end, verification, estimate */
    struct slice node, patterns;     /* as typed; empty: the modules that the process is in */
    int otp;
    struct etf_pid pid; /* of no call, and no pid that was typed: 0 */
    struct slice name;
    bool first; /* the process is the first that called */
};

struct timeline_sink_options {
    enum timeline_format format;
    bool ascii;     /* text: nothing beyond ASCII */
    size_t rows;    /* text: of the timeline; 0: all */
    size_t columns; /* text: of a line; 0: 100 */
};

/* Writes the run, large ones in pieces. ERR_SYSTEM when the bytes could not be written; the errno
 * is in the output (EPIPE is how `| head` ends). */
int timeline_put(struct sink_output *output, const struct timeline_run *run,
                 const struct timeline_sink_options *options, struct error *err);

#endif
