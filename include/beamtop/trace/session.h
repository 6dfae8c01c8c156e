/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A session on a node: a trace (trace/trace.h), a count of calls (trace/calls.h), a capture of
 * causal spans (trace/spans.h) or a watch for system events (trace/events.h). Each runs the same
 * way: prepare, estimate, confirm or refuse, set, run, end, verify that nothing is left. All I/O
 * goes through a port, so tests can simulate the node. Time is the port's. */
#ifndef BEAMTOP_TRACE_SESSION_H
#define BEAMTOP_TRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/query/query.h"
#include "beamtop/trace/status.h"

struct session;
struct trace_event;  /* beamtop/trace/log.h */
struct off_cpu;      /* beamtop/trace/log.h */
struct calls_window; /* beamtop/trace/calls_state.h */
struct system_event; /* beamtop/trace/events_run.h */

/* The way to the node. A session uses it until its connection is lost or it is freed. */
struct session_port {
    /* As query_ask(): the answer comes to fn exactly once, never from within the call, unless it is
       dropped first. */
    int (*ask)(void *ctx, enum question question, const struct builder *arg, unsigned deadline_ms,
               answer_fn *fn, void *fn_arg, struct error *err);
    /* As query_tell(): no answer. */
    int (*tell)(void *ctx, enum question question, const struct builder *term, struct error *err);
    /* As query_listen(): what the node pushes under this number. */
    void (*listen)(void *ctx, uint64_t id, event_fn *fn, void *fn_arg);
    /* As query_drop(): answers and events for fn_arg do not come any more. */
    void (*drop)(void *ctx, const void *fn_arg);
    uint64_t (*now_ns)(void *ctx); /* monotonic, here */
    /* A process that only asked something for us, which no trace shows; NULL: none is known. */
    bool (*is_own)(void *ctx, const struct etf_pid *pid);
    void *ctx;
    const char *node;  /* the target's name; a session copies it */
    uint32_t creation; /* of its pids */
    int otp;
};

/* One tool at a time, and one session of ours. */
static inline bool session_port_is_shared(const struct session_port *port)
{
    return port->otp < OTP_SESSIONS;
}

struct session_handlers {
    /* Its status or log has changed. May be called often; never from within the opening. */
    void (*on_change)(void *arg);
    /* Of a trace: an event was added (call, send, receive, lost) or finished (a call's result). */
    void (*on_event)(void *arg, const struct trace_event *event, bool finished);
    /* Of a trace of one process: a time in which it did not run. */
    void (*on_off_cpu)(void *arg, const struct off_cpu *off);
    /* … when it runs is known from this time on, or until it. */
    void (*on_follow)(void *arg, int64_t mono_ns, bool on);
    /* Of counted calls: a window is complete; borrowed for the call. */
    void (*on_window)(void *arg, const struct calls_window *window);
    /* Of system events: one has come; borrowed for the call. */
    void (*on_system_event)(void *arg, const struct system_event *event);
};

/* Frees. Stops first what is set; the node cleans up by itself. NULL is fine. */
void session_free(struct session *s);
const struct session_status *session_status(const struct session *s);
const struct session_port *session_port(const struct session *s);
bool session_runs(const struct session *s); /* not NULL, and not at its end */
/* It runs, and another session of ours cannot stand beside it: one that speaks to the process of
   QUESTION_TRACE, QUESTION_CALLS, QUESTION_SPANS or QUESTION_EVENTS there. */
bool session_excludes(const struct session *s, enum question other);
/* ERR_REFUSED: what it would cost the node, by its estimate. */
void session_refuse_cost(struct error *err, const struct session *s);
/* The share of one core that it would cost the node; NaN: unknown. */
double session_load(const struct session *s);
/* What went wrong with one that is at its end: it left something on the node (ERR_TARGET), or else
   failed, or was ended by the node or the connection (ERR_LOST). ERR_NONE: nothing. */
struct error session_trouble(const struct session *s);
void session_confirm(struct session *s); /* yes, in SESSION_ASKING */
void session_stop(struct session *s);    /* any phase: to its end, by the shortest way */
/* The port cannot be used any more, and is not. */
void session_link_lost(struct session *s, const struct error *why);
/* Its end is not waited for, as the link ends soon: ended as with that, while the port works. */
void session_abandon(struct session *s, const struct error *why);
/* Called some ten times a second while it lives: deadlines, rates, the next window. */
void session_tick(struct session *s);

#endif
