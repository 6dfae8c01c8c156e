/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session that follows requests across processes: calls of root functions put a trace token on
 * their process, and the token's events come back (docs/spans.md has the protocol and the costs).
 * It excludes a trace on the same node, and is refused where a system tracer is set. */
#ifndef BEAMTOP_TRACE_SPANS_H
#define BEAMTOP_TRACE_SPANS_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/trace/pattern.h"
#include "beamtop/trace/request.h"
#include "beamtop/trace/session.h"
#include "beamtop/trace/spans_run.h"

struct spans_capture {
    /* Calls of root functions, with guards, or one process: each request that it makes is a root.
     */
    const char *const *patterns;
    size_t n_patterns;
    struct trace_request request; /* but for its pattern */
    bool dry_run;                 /* end after the estimate, in SESSION_ASKING */
    bool hold;                    /* wait there for session_confirm(), cheap or not */
    /* Other nodes that are captured with this one, LIMIT_SPAN_NODES in all: what tokens of requests
     * that began there do here comes, too, in light mode. Where no function fits, or without
     * patterns, nothing begins here. Else requests begin from spans_session_begin() on; a capture
     * with others does not end when all have returned. spans_run_join() puts their parts together.
     */
    const char *const *others;
    size_t n_others;
};

/* An invalid pattern is ERR_USAGE; *pattern and *offset (may be NULL) say where. The handlers'
 * on_change is called for each part that comes. */
int spans_open(struct session **out, const struct spans_capture *what,
               const struct session_port *port, const struct session_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err);
/* With other nodes: when all of them are set, requests may begin; none does any more; all have
 * returned, so it ends. */
void spans_session_begin(struct session *s);
void spans_session_enough(struct session *s);
void spans_session_returned(struct session *s);
/* Borrowed until the session is freed. */
const struct spans_run *spans_session_run(const struct session *s);
/* Puts what others have had into its run. Once, when nothing more is to come. */
void spans_session_join(struct session *s, const struct spans_run *const *others, size_t n);
/* The same after the end, to keep: the session can only be freed then. */
struct spans_run *spans_session_take(struct session *s);

/* A pattern_check_fn, of a root or a call within one: calls, without actions. */
int spans_pattern_check(struct pattern *p, const char *text, size_t *offset, struct error *err);

#endif
