/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trace, from its text to the proof that nothing of it is left: parse, preflight, ask, arm,
 * events under credit, end, verify. It talks to the target through a port, so that tests can play
 * the target, and fills a trace_log. One thread: the loop's; time is an argument.
 *
 * docs/tracing.md is the protocol.
 */
#ifndef BEAMTOP_TRACE_SESSION_H
#define BEAMTOP_TRACE_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/query/query.h"
#include "beamtop/trace/caps.h"
#include "beamtop/trace/log.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/trace/procs.h"

struct trace_session;

/* The way to the target. */
struct trace_port {
    /* As query_ask(): the answer comes to fn exactly once, never from within the call, unless the
       session is freed first. */
    int (*ask)(void *ctx, enum question question, const struct builder *arg, unsigned deadline_ms,
               answer_fn *fn, void *fn_arg, struct error *err);
    /* As query_tell(): no answer. */
    int (*tell)(void *ctx, const struct builder *term, struct error *err);
    uint64_t (*now_ns)(void *ctx); /* monotonic, here */
    void *ctx;
    const char *node;  /* the target's name, borrowed */
    uint32_t creation; /* of its pids */
    int otp;
};

struct trace_options {
    const char *const *patterns; /* texts; each may hold several */
    size_t n_patterns;
    const char *procs;           /* NULL: all */
    enum syntax syntax;
    struct caps caps;
    uint64_t slower_us;          /* of every call pattern that has none of its own; 0: none */
    bool on_rate_stop;           /* end instead of shedding */
    bool force;                  /* do not ask when it is dear; lifts no cap */
    bool dry_run;                /* end after the preflight, in TRACE_ASKING */
};

struct trace_handlers {
    /* Something in the log has changed. May be called often; never from within trace_open. */
    void (*on_change)(void *arg);
    /* An event was added (call, send, receive, lost) or finished (a call's result is there). */
    void (*on_event)(void *arg, const struct trace_event *event, bool finished);
};

/* A mistake in the words is ERR_USAGE; *pattern and *offset (may be NULL) tell where. */
int trace_open(struct trace_session **out, const struct trace_options *options,
               const struct trace_port *port, const struct trace_handlers *handlers, void *arg,
               size_t *pattern, size_t *offset, struct error *err);
/* Frees. A trace that is armed is told to stop first; the target cleans up by itself. */
void trace_free(struct trace_session *t);
const struct trace_log *trace_session_log(const struct trace_session *t);

void trace_confirm(struct trace_session *t); /* the answer yes, in TRACE_ASKING */
void trace_stop(struct trace_session *t);    /* any phase: to its end, by the shortest way */
void trace_pause(struct trace_session *t, bool paused); /* shuts the budget; time runs on */
/* Within the ceilings; counted from the start, as the first value was. */
int trace_set_cap(struct trace_session *t, enum cap cap, uint64_t value, struct error *err);
/* From now on only this process, or only this pattern. */
void trace_narrow_pid(struct trace_session *t, const struct etf_pid *pid);
void trace_narrow_pattern(struct trace_session *t, unsigned pattern);

/* {t, …} from the target: query's on_event. */
void trace_message(struct trace_session *t, const uint8_t *payload, size_t len);
void trace_link_lost(struct trace_session *t, const struct error *why);
/* Called about four times a second while it lives: deadlines, rates, names of processes. */
void trace_tick(struct trace_session *t);
/*
 * Credit: events are granted anew as the owner tells that it has dealt with them. A session starts
 * with hold=false and grants by itself what it has taken; an owner whose terminal does not take
 * more says hold=true meanwhile.
 */
void trace_hold(struct trace_session *t, bool hold);

#endif
