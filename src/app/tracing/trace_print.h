/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hands on a trace's events in their order, each once the name of its process is known: that comes
 * a moment later than the event, and a process that has ended has none. */
#ifndef BEAMTOP_APP_COMMAND_TRACE_PRINT_H
#define BEAMTOP_APP_COMMAND_TRACE_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/log.h"

struct trace_print;

/* As trace_sink_event(): takes the event's beginning, or (finished) the result of a call. */
typedef int trace_print_fn(void *arg, const struct trace_log *log, const struct trace_event *event,
                           bool finished, struct error *err);

struct trace_print *trace_print_new(trace_print_fn *put, void *arg);
void trace_print_free(struct trace_print *p);

/* Errors are those of `put`. */
int trace_print_event(struct trace_print *p, const struct trace_log *log,
                      const struct trace_event *event, bool finished, uint64_t now_ms,
                      struct error *err);
/* Those that may be printed now; with `all` every one. */
int trace_print_due(struct trace_print *p, const struct trace_log *log, uint64_t now_ms, bool all,
                    struct error *err);

#endif
