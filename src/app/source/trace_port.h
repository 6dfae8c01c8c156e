/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way of traces to the target, over a live source: one for a source, used by one trace at a
 * time. A question's place is kept until its answer, whether or not the trace still waits for it,
 * so the route outlives the source's questions.
 */
#ifndef BEAMTOP_APP_SOURCE_TRACE_PORT_H
#define BEAMTOP_APP_SOURCE_TRACE_PORT_H

#include "beamtop/base/error.h"
#include "beamtop/model/model.h"
#include "beamtop/trace/calls.h"
#include "beamtop/trace/session.h"
#include "live.h"

struct trace_route;

struct trace_route *trace_route_new(struct live *live, const struct model *model);
void trace_route_free(struct trace_route *r); /* after live_close(); NULL is fine */

/*
 * Fills a port for trace_open(), good until trace_route_detach(). ERR_LOST while there is no
 * connection, or the model does not know its node yet. The owner gives the source's on_event to
 * trace_message().
 */
int trace_route_port(struct trace_route *r, struct trace_port *port, struct error *err);
/* The same for calls_open(). */
int trace_route_calls_port(struct trace_route *r, struct calls_port *port, struct error *err);
/* Right after trace_free(): answers that are still to come go nowhere. */
void trace_route_detach(struct trace_route *r);
/* At on_link(false), before trace_link_lost(): what was asked stays without an answer. */
void trace_route_link_lost(struct trace_route *r);

#endif
