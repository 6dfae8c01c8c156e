/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trace, from its text to the proof that nothing of it is left: parse, preflight, ask, arm,
 * events under credit, end, verify. It is a session, and fills a trace_log. docs/tracing.md is the
 * protocol. */
#ifndef BEAMTOP_TRACE_TRACE_H
#define BEAMTOP_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/log.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/trace/procs.h"
#include "beamtop/trace/request.h"
#include "beamtop/trace/session.h"

struct trace_options {
    const char *const *patterns; /* texts; each may hold several */
    size_t n_patterns;
    struct trace_request request; /* but for its pattern */
    /* One process: what it calls and when it does not run. Patterns are of calls, without actions;
       values are not sent. Of `all` processes it is the first that calls. */
    bool one;
    bool own;     /* with `one`: no patterns, but all functions of the modules it is in */
    bool dry_run; /* end after the preflight, in SESSION_ASKING */
    bool hold;    /* wait there for session_confirm(), cheap or not */
};

/* An invalid pattern is ERR_USAGE; *pattern and *offset (may be NULL) say where. */
int trace_open(struct session **out, const struct trace_options *options,
               const struct session_port *port, const struct session_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err);

/* ---- Of a session that trace_open() has opened */

const struct trace_log *trace_session_log(const struct session *t);
void trace_pause(struct session *t, bool paused); /* shuts the budget; time runs on */
/* Within the ceilings; counted from the start, as the first value was. */
int trace_set_cap(struct session *t, enum cap cap, uint64_t value, struct error *err);
/* Whether that would succeed: 0, else its error. Nothing is set. */
int trace_check_cap(const struct session *t, enum cap cap, uint64_t value, struct error *err);
/* As much time, and as many events, as at its start, but from now on; within the ceilings. */
int trace_extend(struct session *t, struct error *err);
/* From now on only this process, or only this pattern. */
void trace_narrow_pid(struct session *t, const struct etf_pid *pid);
void trace_narrow_pattern(struct session *t, unsigned pattern);

/*
 * Credit: events are granted again as the owner reports that it has handled them. A session starts
 * with hold=false and grants by itself what it has taken; an owner whose terminal is too slow sets
 * hold=true until it is ready. */
void trace_hold(struct session *t, bool hold);

#endif
