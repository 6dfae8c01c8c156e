/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two files of recorded logs share. */
#ifndef BEAMTOP_RECORDING_RECORDED_LOG_INTERNAL_H
#define BEAMTOP_RECORDING_RECORDED_LOG_INTERNAL_H

#include "beamtop/base/limits.h"
#include "beamtop/recording/recorded_log.h"
#include "recording_internal.h"
#include "beamtop/output/trace_line.h"

struct recorded_log {
    struct trace_log *log; /* NULL: none */
    struct pattern *patterns[LIMIT_TRACE_PATTERNS];
    size_t n_patterns;
    enum syntax syntax;
    int64_t trace;      /* that it is of */
    bool has_values;    /* or their shapes */
    bool has_terms;     /* its events are terms: not before format 3 */
    int64_t tick;       /* up to which its events are in it; INT64_MAX: all */
    struct arena row;   /* of the row of `trace` that is read … */
    struct arena arena; /* … and of events and its end, until they are in the log */
};

/* The pattern of that text; n_patterns: none. */
unsigned recorded_log_pattern(const struct recorded_log *l, struct slice text);
/* As the trace spelled it. What cannot be read is a function's name without a module. */
struct mfa recorded_log_mfa(struct recorded_log *l, struct slice text);
/* The events of the ticks behind l->tick up to that one. */
int recorded_log_events(struct recorded_log *l, struct recording *r, int64_t until,
                        struct error *err);

#endif
