/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "trace_port.h"

#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"

struct place {
    struct trace_route *route;
    bool used;
    answer_fn *fn; /* NULL: nobody waits any more */
    void *arg;
};

struct trace_route {
    struct live *live;
    const struct model *model;
    char node[LIMIT_NODE_NAME_BYTES + 1];
    struct place places[LIMIT_CALLS_IN_FLIGHT];
};

struct trace_route *trace_route_new(struct live *live, const struct model *model)
{
    struct trace_route *r = alloc_zero(1, sizeof *r);
    r->live = live;
    r->model = model;
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        r->places[i].route = r;
    return r;
}

void trace_route_free(struct trace_route *r)
{
    free(r);
}

static void on_answer(void *arg, const struct answer *answer)
{
    struct place *place = arg;
    answer_fn *fn = place->fn;
    place->used = false;
    live_note_cost(place->route->live, answer->target_us);
    if (fn != NULL)
        fn(place->arg, answer);
}

static int port_ask(void *ctx, enum question question, const struct builder *arg,
                    unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err)
{
    struct trace_route *r = ctx;
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++) {
        struct place *place = &r->places[i];
        if (place->used)
            continue;
        int rc = live_ask(r->live, question, arg, deadline_ms, on_answer, place, err);
        if (rc == 0) {
            place->used = true;
            place->fn = fn;
            place->arg = fn_arg;
        }
        return rc;
    }
    return error_set(err, ERR_LIMIT, "too many questions to the node are open");
}

static int port_tell(void *ctx, const struct builder *term, struct error *err)
{
    struct trace_route *r = ctx;
    return live_tell(r->live, QUESTION_TRACE, term, err);
}

static int port_tell_calls(void *ctx, const struct builder *term, struct error *err)
{
    struct trace_route *r = ctx;
    return live_tell(r->live, QUESTION_CALLS, term, err);
}

static uint64_t port_now_ns(void *ctx)
{
    (void)ctx;
    return clock_mono_ns();
}

static int release(struct slice otp)
{
    int major = 0;
    for (size_t i = 0; i < otp.len && otp.s[i] >= '0' && otp.s[i] <= '9' && major < 1000; i++)
        major = major * 10 + (otp.s[i] - '0');
    return major;
}

int trace_route_port(struct trace_route *r, struct trace_port *port, struct error *err)
{
    const struct node_info *node = model_node(r->model);
    const char *name = live_peer_node(r->live);
    if (name == NULL || node == NULL)
        return error_set(err, ERR_LOST, "there is no connection to trace over");
    snprintf(r->node, sizeof r->node, "%s", name);
    *port = (struct trace_port){
        .ask = port_ask,
        .tell = port_tell,
        .now_ns = port_now_ns,
        .ctx = r,
        .node = r->node,
        .creation = live_peer_creation(r->live),
        .otp = release(node->otp),
    };
    return 0;
}

int trace_route_calls_port(struct trace_route *r, struct calls_port *port, struct error *err)
{
    struct trace_port trace;
    int rc = trace_route_port(r, &trace, err);
    if (rc)
        return rc;
    *port = (struct calls_port){
        .ask = trace.ask, .tell = port_tell_calls, .now_ns = trace.now_ns, .ctx = r,
        .otp = trace.otp};
    return 0;
}

void trace_route_detach(struct trace_route *r)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        r->places[i].fn = NULL;
}

void trace_route_link_lost(struct trace_route *r)
{
    for (size_t i = 0; i < LIMIT_CALLS_IN_FLIGHT; i++)
        r->places[i].used = false;
}
