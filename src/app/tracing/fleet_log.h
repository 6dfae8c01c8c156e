/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One log of a trace on several nodes, made of the log of each: events in the order and by the
 * times of fleet/merge.h, the sums of their counters, and what became of each node. A view reads it
 * as it reads the log of one node.
 *
 * One thread. It copies what it keeps, but pids stay those of their node: they mean nothing on
 * another. */
#ifndef BEAMTOP_APP_TRACING_FLEET_LOG_H
#define BEAMTOP_APP_TRACING_FLEET_LOG_H

#include "app/fleet/merge.h"
#include "beamtop/trace/log.h"
#include "beamtop/trace/request.h"

struct fleet_log;

/* Of so many nodes. ERR_USAGE: the request's pattern is wrong, at *offset of it. */
int fleet_log_new(struct fleet_log **out, const struct trace_request *request, size_t nodes,
                  size_t *offset, struct error *err);
void fleet_log_free(struct fleet_log *l); /* NULL is fine */
const struct trace_log *fleet_log_trace(const struct fleet_log *l);

/* The name of a node, which takes no part until fleet_log_take() says more. */
void fleet_log_name(struct fleet_log *l, size_t node, const char *name);
/* None was traced, since … */
void fleet_log_fail(struct fleet_log *l, const struct error *why);
/* Why it takes none. */
void fleet_log_leave_out(struct fleet_log *l, size_t node, const char *why);

/* An event that has come: what fleet_log_put() needs in its turn. NULL: it is a result, which is
 * added at once where its call was put. */
struct merge_line *fleet_log_keep(struct fleet_log *l, size_t node, const struct trace_event *event,
                                  bool finished);
/* In its turn: the event as the node's log has it by now. */
void fleet_log_put(struct fleet_log *l, const struct trace_log *of_node,
                   const struct merge_line *line, const struct trace_place *place);

/* The next sum has counts by function, too: where patterns count, that takes longer. */
void fleet_log_count(struct fleet_log *l);
/* What the node's log says by now; the sums follow with fleet_log_sum(). */
void fleet_log_take(struct fleet_log *l, size_t node, const struct trace_log *of_node);
/* The state of all that were taken since the last sum. */
void fleet_log_sum(struct fleet_log *l);
/* In its place after fleet_log_fail(), which stays: what became of each node. */
void fleet_log_refused(struct fleet_log *l);

#endif
