/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Caps of a trace of several nodes that are changed while it runs, and what it is narrowed to; the
 * nodes are played. */
#include <string.h>

#include "../../test.h"
#include "../trace/session_world.h"
#include "app/fleet/fleet.h"
#include "app/tracing/fleet_trace.h"

#define NODES 2

struct traced {
    uv_loop_t loop;
    struct cli_options cli;
    struct app_env env;
    struct world *worlds[NODES];
    struct fleet_part parts[NODES];
    struct trace_request request;
    struct fleet_trace trace;
};

/* The first node is still asked what matches; the second one, and the first later, is traced. */
static void open_traced_nodes(struct traced *t)
{
    static const struct trace_options plain = {0};
    struct error err = {0};
    *t = (struct traced){.cli = {.timeout_s = 5}};
    uv_loop_init(&t->loop);
    const struct fleet_setup setup = {.cli = &t->cli, .env = &t->env, .loop = &t->loop};
    trace_request_init(&t->request);
    t->worlds[0] = new_world("lists:seq(_, _)", &plain);
    t->worlds[1] = running_world("lists:seq(_, _)", &plain);
    for (size_t i = 0; i < NODES; i++)
        t->parts[i].session = t->worlds[i]->t;
    t->trace = (struct fleet_trace){.all = {.parts = t->parts, .n = NODES}, .request = &t->request};
    assert_int_equal(fleet_open(&t->trace.all.fleet, "a@h,b@h", &setup, &err), 0);
}

static void close_traced_nodes(struct traced *t)
{
    fleet_close(t->trace.all.fleet);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&t->loop), 0);
    for (size_t i = 0; i < NODES; i++)
        end_world(t->worlds[i]);
    trace_request_clear(&t->request);
}

static uint64_t cap_of(const struct traced *t, size_t node, enum cap cap)
{
    return state(t->worlds[node])->caps.value[cap];
}

TEST(test_none_where_one_refuses)
{
    struct traced t;
    struct error err = {0};
    open_traced_nodes(&t);
    const uint64_t before = cap_of(&t, 0, CAP_FUNCTIONS);
    assert_int_not_equal(before, 10);
    assert_int_equal(fleet_trace_set(&t.trace, "functions 10", &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "b@h: functions can only be set before"));
    assert_int_equal(cap_of(&t, 0, CAP_FUNCTIONS), before);
    assert_int_equal(cap_of(&t, 1, CAP_FUNCTIONS), before);
    close_traced_nodes(&t);
}

TEST(test_all)
{
    struct traced t;
    struct error err = {0};
    open_traced_nodes(&t);
    assert_int_equal(fleet_trace_set(&t.trace, "events 5", &err), 0);
    assert_int_equal(cap_of(&t, 0, CAP_EVENTS), 3);
    assert_int_equal(cap_of(&t, 1, CAP_EVENTS), 2);
    assert_non_null(strstr(last_told(t.worlds[1]), ",events,2}"));
    assert_int_equal(fleet_trace_set(&t.trace, "events 1", &err), ERR_USAGE);
    assert_int_equal(cap_of(&t, 0, CAP_EVENTS), 3);
    close_traced_nodes(&t);
}

TEST(test_narrowed_to_a_process)
{
    static const struct etf_pid pid = {.id = 9};
    struct traced t;
    struct error err = {0};
    open_traced_nodes(&t);
    const size_t told = t.worlds[1]->n_told;
    assert_int_equal(fleet_trace_narrow_pid(&t.trace, slice_of("c@h"), &pid, &err), ERR_NOT_FOUND);
    assert_int_equal(t.worlds[1]->n_told, told);
    err = (struct error){0};
    assert_int_equal(fleet_trace_narrow_pid(&t.trace, slice_of("b@h"), &pid, &err), 0);
    assert_non_null(strstr(last_told(t.worlds[1]), "{pid,<0.9.0>}"));
    assert_int_equal(phase(t.worlds[1]), SESSION_RUNNING);
    answer(t.worlds[0], QUESTION_PREFLIGHT, FOUND);
    assert_false(session_runs(t.worlds[0]->t));
    close_traced_nodes(&t);
}
