/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Captured spans as they are written out: for people, a tree with times for each root, the slowest
 * first, and where the time of all goes; for programs JSON (docs/json.md), folded stacks, a
 * speedscope file, a file of the Trace Event Format, OTLP as JSON lines. Text from outside is made
 * safe for its form. */
#ifndef BEAMTOP_OUTPUT_SPANS_SINK_H
#define BEAMTOP_OUTPUT_SPANS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/output/writer.h"
#include "beamtop/trace/events_run.h"
#include "beamtop/trace/spans_run.h"

enum spans_format {
    SPANS_TEXT,
    SPANS_JSON,
    SPANS_FOLDED,
    SPANS_SPEEDSCOPE,
    SPANS_TRACE_EVENT,
    SPANS_OTLP
};

struct spans_sink_options {
    enum spans_format format;
    bool ascii;        /* text: nothing beyond ASCII */
    int64_t slower_ns; /* only roots that took so long, or are open; 0: all */
    /* Waits that a span explains have their own frame, but in JSON, which has them all. */
    bool raw_waits;
    size_t rows;    /* text: trees of so many roots; 0: 10 */
    size_t columns; /* text: of a line; 0: 100 */
    /* trace-event: system events that stand beside, by time; borrowed. Others are left out. */
    const struct system_event *events;
    size_t n_events;
};

/* Writes the run, large ones in pieces. ERR_SYSTEM when the bytes could not be written; the errno
 * is in the output (EPIPE is how `| head` ends). */
int spans_put(struct sink_output *output, const struct spans_run *run,
              const struct spans_sink_options *options, struct error *err);

#endif
