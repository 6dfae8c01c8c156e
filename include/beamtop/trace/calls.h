/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting calls of functions on the target, window by window, without messages. A session goes
 * from its words to the proof that nothing is left, through a port, so that tests can play the
 * target. One thread: the loop's; time is the port's.
 *
 * docs/calls.md is the protocol, and says what the numbers mean.
 */
#ifndef BEAMTOP_TRACE_CALLS_H
#define BEAMTOP_TRACE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/query/query.h"
#include "beamtop/trace/calls_state.h"
#include "beamtop/trace/pattern.h"

struct calls_session;

struct calls_port {
    /* As query_ask(): the answer comes to fn exactly once, never from within the call, unless the
       session is freed first. */
    int (*ask)(void *ctx, enum question question, const struct builder *arg, unsigned deadline_ms,
               answer_fn *fn, void *fn_arg, struct error *err);
    /* As query_tell() to QUESTION_CALLS: no answer. */
    int (*tell)(void *ctx, const struct builder *term, struct error *err);
    uint64_t (*now_ns)(void *ctx); /* monotonic, here */
    void *ctx;
    int otp;
};

struct calls_options {
    const char *const *patterns; /* texts, each may hold several; none: every function */
    size_t n_patterns;
    enum syntax syntax;
    const char *procs;  /* whose time; NULL: all */
    unsigned for_ms;    /* a window: 10 to LIMIT_CALLS_WINDOW_MS */
    unsigned every_ms;  /* from start to start; 0: at once again */
    unsigned windows;   /* 0: until stopped */
    unsigned top;       /* rows: 1 to LIMIT_CALLS_ROWS */
    bool time, memory;
    bool force;         /* do not stop when it is dear */
    bool dry_run;       /* end after the estimate, in CALLS_ASKING */
};

struct calls_handlers {
    void (*on_change)(void *arg); /* the state has changed; never from within calls_open */
    /* A window is complete; borrowed for the call. */
    void (*on_window)(void *arg, const struct calls_window *window);
};

/* A mistake in the words is ERR_USAGE; *pattern and *offset (may be NULL) tell where. */
int calls_open(struct calls_session **out, const struct calls_options *options,
               const struct calls_port *port, const struct calls_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err);
/* Frees. A window that is open is told to end; the target cleans up by itself. */
void calls_free(struct calls_session *s);
const struct calls_state *calls_session_state(const struct calls_session *s);
const struct calls_options *calls_session_options(const struct calls_session *s);
bool calls_session_counts(const struct calls_session *s); /* a window is open */
/* As much time lies between windows as they take: what else is asked of the node can wait for it. */
bool calls_session_leaves_time(const struct calls_session *s);
/* Until calls_tick() opens the next window; 0: now. Of CALLS_WAITING alone. */
unsigned calls_session_due_ms(const struct calls_session *s);

void calls_confirm(struct calls_session *s); /* the answer yes, in CALLS_ASKING */
/* Any phase: to its end. An open window is still told. */
void calls_stop(struct calls_session *s);
void calls_link_lost(struct calls_session *s, const struct error *why);
/* Called some ten times a second while it lives. */
void calls_tick(struct calls_session *s);

/* ---- The words alone */

/* Parses what counting takes of the trace language: ERR_USAGE with *offset where it does not. */
int calls_patterns_parse(struct pattern ***out, size_t *n, const char *text, enum syntax syntax,
                         size_t *offset, struct error *err);
/* `app:NAME`: all modules of an application. */
bool calls_pattern_is_application(const struct pattern *p);

#endif
