/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rebuilds a recorded trace's log as it stood at a given tick. Its events go
 * through the decoder of a live trace; without values in the file its state has `texts` (log.h).
 * What neither an event nor the end contains (rates, the heap) is not in it. One thread; the
 * recording is used only within recorded_log_to(). */
#ifndef BEAMTOP_RECORDING_RECORDED_LOG_H
#define BEAMTOP_RECORDING_RECORDED_LOG_H

#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/recording/recording.h"
#include "beamtop/trace/log.h"

struct recorded_log;

struct recorded_log *recorded_log_new(void);
void recorded_log_free(struct recorded_log *l); /* NULL is fine */
/*
 * Makes it the trace that was begun last at that tick or before, with the events up to it; with
 * what it came to when it had ended by then. The last tick has all that came after it too. */
int recorded_log_to(struct recorded_log *l, struct recording *r, int64_t tick, struct error *err);
/* NULL: there is none. Lives until the next recorded_log_to(), or until it is freed. */
const struct trace_log *recorded_log_trace(const struct recorded_log *l);

#endif
