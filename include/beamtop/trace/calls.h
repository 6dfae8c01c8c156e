/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session that counts calls of functions on the target, window by window, without messages.
 * docs/calls.md is the protocol, and says what the numbers mean. */
#ifndef BEAMTOP_TRACE_CALLS_H
#define BEAMTOP_TRACE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/trace/calls_state.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/trace/session.h"

struct calls_options {
    const char *const *patterns; /* texts, each may hold several; none: every function */
    size_t n_patterns;
    enum syntax syntax;
    const char *procs; /* whose time; NULL: all */
    unsigned for_ms;   /* a window: 10 to LIMIT_CALLS_WINDOW_MS */
    unsigned every_ms; /* from start to start; 0: at once again */
    unsigned windows;  /* 0: until stopped */
    unsigned top;      /* rows: 1 to LIMIT_CALLS_ROWS */
    bool time, memory;
    bool force;   /* do not stop when it is expensive */
    bool whole;   /* leave no function out: stop where that is needed */
    bool dry_run; /* end after the estimate, in SESSION_ASKING */
    bool hold;    /* wait there for session_confirm(), cheap or not */
    bool paced;   /* each further window waits for calls_session_next() */
};

/* An invalid pattern is ERR_USAGE; *pattern and *offset (may be NULL) say where. */
int calls_open(struct session **out, const struct calls_options *options,
               const struct session_port *port, const struct session_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err);

/* ---- Of a session that calls_open() has opened; session_stop() delivers its open window */

const struct calls_state *calls_session_state(const struct session *s);
bool calls_session_counts(const struct session *s); /* a window is open */
/* As much time lies between windows as they take: other questions to the node can wait. */
bool calls_session_leaves_time(const struct session *s);
/* Until session_tick() opens the next window; 0: now. Only in SESSION_WAITING. */
unsigned calls_session_due_ms(const struct session *s);
void calls_session_next(struct session *s); /* of one that is paced; only in SESSION_WAITING */

/* What the cost limit changes, as the end of the estimate's sentence; empty: nothing. */
const char *calls_limits_text(char *out, size_t size, const struct calls_state *s);

/* ---- Only the texts */

/* A pattern_check_fn: whole functions. `app:NAME` is all modules of an application. */
int calls_pattern_check(struct pattern *p, const char *text, size_t *offset, struct error *err);

#endif
