/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trace on several nodes: prepared on each, set when all have said yes, each within its part of
 * the events and ended by its VM; what they send is put into one order (fleet/merge.h). A node
 * that is lost ends its part only, and is cleared by itself. Who uses it says what becomes of the
 * lines: the command line prints them, the screen shows them.
 *
 * One thread: the loop's. It is a kind of fleet_sessions: what their header says holds. */
#ifndef BEAMTOP_APP_TRACING_FLEET_TRACE_H
#define BEAMTOP_APP_TRACING_FLEET_TRACE_H

#include "app/fleet/fleet_sessions.h"
#include "app/fleet/merge.h"
#include "beamtop/trace/log.h"
#include "beamtop/trace/request.h"

struct fleet_trace;
struct traced_node;

struct fleet_trace_user {
    /* Of an event that has come, or of a result (finished): what is needed of it in its turn, with
     * line.kind, line.id and line.mono_ns. NULL: nothing. */
    struct merge_line *(*keep)(void *user, const struct fleet_part *p, const struct trace_log *log,
                               const struct trace_event *event, bool finished);
    /* A line in its turn; borrowed for the call, as the place is. */
    void (*put)(void *user, const struct merge_line *line, const struct trace_place *place);
    /* A part has a session. Or a pattern is wrong, at that byte. Both may be NULL. */
    void (*opened)(void *user, const struct fleet_part *p);
    void (*wrong)(void *user, size_t pattern, size_t offset, const struct error *err);
    void (*estimated)(void *user, size_t ready);
    /* None runs any more, all lines were put: calls fleet_sessions_end(). */
    void (*ended)(void *user);
};

/* use, user, request, patterns and first are the caller's to fill in, and of `all` what its header
 * says, but for kind and arg. All are borrowed. All else is zero. */
struct fleet_trace {
    struct fleet_sessions all;
    const struct fleet_trace_user *use;
    void *user;
    const struct trace_request *request;
    const char *const *patterns;
    size_t n_patterns;
    uint64_t first; /* events anywhere, which end it everywhere; 0: each node has its part */

    struct traced_node *nodes;
    size_t n_nodes;
    struct node_clock *clocks;
    struct merge *merge;
    uint64_t came, written;    /* events: beginnings, not results */
    int64_t wall_less_mono_us; /* of this host, at the start */
    bool stopped;
};

void fleet_trace_init(struct fleet_trace *t);  /* before the sessions are opened or run */
void fleet_trace_clear(struct fleet_trace *t); /* after they were closed; zeroed is fine */
/* trace_extend() of all that run; how many. With `first` only their time goes on. */
size_t fleet_trace_extend(struct fleet_trace *t, struct error *err);
/* `CAP VALUE` of all that run, or, where one of them refuses it, of none; events are divided among
 * them. */
int fleet_trace_set(struct fleet_trace *t, const char *words, struct error *err);
/* From now on only that process of that node: the parts of others end, each verified.
 * ERR_NOT_FOUND: its own part has ended. */
int fleet_trace_narrow_pid(struct fleet_trace *t, struct slice node, const struct etf_pid *pid,
                           struct error *err);
/* From now on only that pattern, on all that run. */
void fleet_trace_narrow_pattern(struct fleet_trace *t, unsigned pattern);
/* Puts all that has come, whatever may come yet. */
void fleet_trace_put_all(struct fleet_trace *t);
/* As --syntax, or the first pattern has it. */
bool fleet_trace_is_elixir(const struct fleet_trace *t, const struct trace_log *log);
/* Events that came after the first ones, before all nodes had ended. */
uint64_t fleet_trace_more(const struct fleet_trace *t);

#endif
