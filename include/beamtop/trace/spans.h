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
    /* A side of another node's capture, that node's name: what its tokens do here. Nothing is
     * seeded: no patterns, no process, light mode; `roots` and participants are those processes.
     * Stop it after the other one, spans_run_join() puts it there. NULL: none. */
    const char *origin;
};

/* An invalid pattern is ERR_USAGE; *pattern and *offset (may be NULL) say where. The handlers'
 * on_change is called for each part that comes. */
int spans_open(struct session **out, const struct spans_capture *what,
               const struct session_port *port, const struct session_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err);
/* Borrowed until the session is freed. */
const struct spans_run *spans_session_run(const struct session *s);
/* The same after the end, to keep: the session can only be freed then. */
struct spans_run *spans_session_take(struct session *s);

/* A pattern_check_fn, of a root or a call within one: calls, without actions. */
int spans_pattern_check(struct pattern *p, const char *text, size_t *offset, struct error *err);

#endif
