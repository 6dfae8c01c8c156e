/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A trace as it is written out: text much like redbug's, for people, or JSON for programs, one
 * object a line (docs/json.md). Times in text are UTC. */
#ifndef BEAMTOP_OUTPUT_TRACE_SINK_H
#define BEAMTOP_OUTPUT_TRACE_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/etf/print.h"
#include "beamtop/output/sink.h"
#include "beamtop/trace/log.h"

struct trace_sink_options {
    enum sink_format format;  /* SINK_TEXT or SINK_JSON */
    enum print_syntax syntax; /* of terms and functions */
    const char *node;         /* borrowed */
    bool ascii;               /* text: nothing beyond ASCII */
};

/* The writer and the options are the caller's to fill in, all else is zero. Nothing to free. */
struct trace_sink {
    struct sink_output output;
    struct trace_sink_options options;
    bool begun;
    int64_t first_ns; /* when the first event was */
};

/*
 * Writes an event of the log: its beginning, or (finished) the result of a call. ERR_SYSTEM when
 * the bytes could not be written; from then on every call fails in the same way. */
int trace_sink_event(struct trace_sink *s, const struct trace_log *log,
                     const struct trace_event *event, bool finished, struct error *err);
/* What the trace came to: reason, counters, verification. */
int trace_sink_end(struct trace_sink *s, const struct trace_log *log, struct error *err);
/* All of that for the events that the log still has: to save what a screen shows. */
int trace_sink_log(struct trace_sink *s, const struct trace_log *log, struct error *err);

#endif
