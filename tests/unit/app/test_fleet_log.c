/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One log of the logs of several nodes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "app/tracing/fleet_log.h"
#include "beamtop/base/attr.h"

#define SLICE(text)                                                                                \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static struct fleet_log *log_of(const char *pattern, size_t nodes, unsigned first)
{
    struct fleet_log *l = NULL;
    struct trace_request r;
    struct error err = {0};
    size_t offset = 0;
    trace_request_init(&r);
    r.pattern = pattern;
    r.first = first;
    assert_int_equal(fleet_log_new(&l, &r, nodes, &offset, &err), 0);
    return l;
}

static struct trace_log *node_log(enum session_phase phase)
{
    struct trace_log *log = trace_log_new(10, 100000);
    trace_log_state_edit(log)->status.phase = phase;
    return log;
}

static struct trace_event call(uint64_t id, int64_t mono_ns, enum event_outcome outcome)
{
    return (struct trace_event){.id = id,
                                .kind = EVENT_CALL,
                                .pid = {.id = 7},
                                .mono_ns = mono_ns,
                                .mfa = {SLICE("m"), SLICE("f"), 1},
                                .outcome = outcome};
}

/* Comes, waits for its turn, and is put. */
static void put(struct fleet_log *l, struct trace_log *of, size_t node, const char *name,
                const struct trace_event *e, int64_t here_ns)
{
    const struct trace_place place = {.node = slice_of(name),
                                      .here_us = here_ns / 1000,
                                      .here_ns = here_ns,
                                      .bound_us = 100,
                                      .same_time = node == 1};
    struct merge_line *line = fleet_log_keep(l, node, e, e->kind == EVENT_LOST);
    assert_non_null(line);
    assert_int_equal(line->line.mono_ns, e->mono_ns);
    line->node = node;
    fleet_log_put(l, of, line, &place);
    merge_line_free(line);
}

/* Both nodes number their events from 1: the log has numbers of its own, and results find theirs.
 */
TEST(test_results_find_their_calls)
{
    struct fleet_log *l = log_of("m:f(_) -> return", 2, 0);
    struct trace_log *a = node_log(SESSION_RUNNING), *b = node_log(SESSION_RUNNING);
    const struct trace_event of_a = call(1, 500, OUTCOME_OPEN), of_b = call(1, -900, OUTCOME_OPEN);
    const struct trace_log *all = fleet_log_trace(l);
    trace_log_add(a, &of_a);
    trace_log_add(b, &of_b);
    put(l, a, 0, "a@h", &of_a, 10000);
    put(l, b, 1, "b@h", &of_b, 20000);
    assert_int_equal(trace_log_len(all), 2);
    const struct trace_event *first = trace_log_at(all, 0), *second = trace_log_at(all, 1);
    assert_true(slice_is(first->node, "a@h") && slice_is(second->node, "b@h"));
    assert_true(!first->same_time && second->same_time && first->id != second->id);

    struct trace_event result = call(1, -900, OUTCOME_RETURN);
    result.latency_ns = 42;
    result.result = (struct kept_term){SLICE("a\7"), 0};
    assert_null(fleet_log_keep(l, 1, &result, true));
    assert_int_equal(first->outcome, OUTCOME_OPEN);
    assert_int_equal(second->outcome, OUTCOME_RETURN);
    assert_int_equal(second->latency_ns, 42);
    result.id = 9; /* of none that was put */
    assert_null(fleet_log_keep(l, 0, &result, true));
    fleet_log_free(l);
    trace_log_free(a);
    trace_log_free(b);
}

/* A call that returns before its turn is put with its result; one that the node's log let go is
 * left out; a loss keeps how long it lasted. */
TEST(test_what_comes_before_its_turn)
{
    struct fleet_log *l = log_of("m:f(_) -> return", 1, 0);
    struct trace_log *a = node_log(SESSION_RUNNING);
    struct trace_event e = call(1, 500, OUTCOME_OPEN), gone = call(2, 600, OUTCOME_OPEN);
    const struct kept_term value = {SLICE("a\7"), 0};
    trace_log_add(a, &e);
    struct merge_line *line = fleet_log_keep(l, 0, &e, false);
    trace_log_finish(a, 1, OUTCOME_RETURN, (struct slice){0}, &value, 900);
    fleet_log_put(l, a, line, &(struct trace_place){.here_ns = 77000, .bound_us = NAN});
    merge_line_free(line);
    put(l, a, 0, "a@h", &gone, 78000);
    struct trace_event lost = {.kind = EVENT_LOST, .mono_ns = 1000, .until_ns = 1300, .lost = 5};
    put(l, a, 0, "a@h", &lost, 80000);
    const struct trace_log *all = fleet_log_trace(l);
    assert_int_equal(trace_log_len(all), 2);
    assert_int_equal(trace_log_at(all, 0)->outcome, OUTCOME_RETURN);
    assert_int_equal(trace_log_at(all, 0)->latency_ns, 400);
    assert_int_equal(trace_log_at(all, 1)->until_ns - trace_log_at(all, 1)->mono_ns, 300);
    fleet_log_free(l);
    trace_log_free(a);
}

/* "showing 2 of 7 calls" is said of one node: calls of another are none of them. */
TEST(test_loss_is_of_its_node)
{
    struct fleet_log *l = log_of("m:f(_)", 2, 0);
    struct trace_log *a = node_log(SESSION_RUNNING), *b = node_log(SESSION_RUNNING);
    for (uint64_t id = 1; id <= 3; id++) {
        const struct trace_event e = call(id, (int64_t)id, OUTCOME_NONE);
        trace_log_add(a, &e);
        put(l, a, 0, "a@h", &e, 1000 * (int64_t)id);
    }
    const struct trace_event one = call(1, 7, OUTCOME_NONE);
    const struct trace_event lost = {.kind = EVENT_LOST, .mono_ns = 9, .lost = 5};
    trace_log_add(b, &one);
    put(l, b, 1, "b@h", &one, 5000);
    const struct trace_event kept = *trace_log_add(b, &lost);
    assert_int_equal(kept.shown, 1);
    put(l, b, 1, "b@h", &kept, 6000);
    const struct trace_log *all = fleet_log_trace(l);
    assert_int_equal(trace_log_at(all, 4)->shown, 1);
    fleet_log_free(l);
    trace_log_free(a);
    trace_log_free(b);
}

/* Counts add up, time is that of the longest, and one that was not verified spoils the check. */
TEST(test_sums)
{
    struct fleet_log *l = log_of("m:f(_)", 3, 0);
    struct trace_log *a = node_log(SESSION_ENDED), *b = node_log(SESSION_ENDED);
    struct trace_state *of_a = trace_log_state_edit(a), *of_b = trace_log_state_edit(b);
    of_a->total = (struct trace_counts){.seen = 3, .missed = 2, .calls = 5, .calls_known = true};
    of_b->total = (struct trace_counts){.seen = 4, .over = 1};
    of_a->used[CAP_TIME_MS] = 900;
    of_b->used[CAP_TIME_MS] = 400;
    of_a->caps.value[CAP_EVENTS] = 50;
    of_b->caps.value[CAP_EVENTS] = 51;
    of_a->status.check = (struct session_check){.done = true, .clean = true, .after_us = 4};
    fleet_log_name(l, 0, "a@h");
    fleet_log_name(l, 2, "b@h"); /* the one between takes no part */
    fleet_log_take(l, 0, a);
    fleet_log_take(l, 2, b);
    fleet_log_sum(l);
    const struct trace_state *s = trace_log_state(fleet_log_trace(l));
    assert_int_equal(s->total.seen, 7);
    assert_int_equal(s->total.missed, 2);
    assert_false(s->total.calls_known);
    assert_int_equal(s->used[CAP_TIME_MS], 900);
    assert_int_equal(s->caps.value[CAP_EVENTS], 101);
    assert_int_equal(s->status.phase, SESSION_ENDED);
    assert_false(s->status.check.clean || s->status.check.done);
    assert_int_equal(trace_log_nodes(fleet_log_trace(l)), 2);
    assert_string_equal(trace_log_node(fleet_log_trace(l), 1)->name, "b@h");
    assert_int_equal(trace_log_node(fleet_log_trace(l), 1)->counts.over, 1);

    of_b->status.check = (struct session_check){.done = true, .clean = true, .after_us = 9};
    of_b->status.phase = SESSION_RUNNING;
    fleet_log_take(l, 0, a);
    fleet_log_take(l, 2, b);
    fleet_log_sum(l);
    assert_int_equal(s->status.phase, SESSION_RUNNING);
    assert_int_equal(s->total.seen, 7);
    assert_true(s->status.check.clean);
    assert_int_equal(s->status.check.after_us, 9);
    fleet_log_free(l);
    trace_log_free(a);
    trace_log_free(b);
}

/* Where nothing was set nothing is left: what ended and was verified is. */
TEST(test_failed_part_spoils_no_check)
{
    struct fleet_log *l = log_of("m:f(_)", 2, 0);
    struct trace_log *a = node_log(SESSION_ENDED), *b = node_log(SESSION_FAILED);
    trace_log_state_edit(a)->status.check = (struct session_check){.done = true, .clean = true};
    fleet_log_name(l, 0, "a@h");
    fleet_log_name(l, 1, "b@h");
    fleet_log_take(l, 0, a);
    fleet_log_take(l, 1, b);
    fleet_log_sum(l);
    const struct session_status *s = &trace_log_state(fleet_log_trace(l))->status;
    assert_int_equal(s->phase, SESSION_ENDED);
    assert_true(s->check.done && s->check.clean);
    fleet_log_free(l);
    trace_log_free(a);
    trace_log_free(b);
}

/* What it would cost one scheduler, beside the calls there that cost it. */
TEST(test_estimate_is_of_the_dearest)
{
    struct fleet_log *l = log_of("m:f(_)", 2, 0);
    struct trace_log *a = node_log(SESSION_ASKING), *b = node_log(SESSION_ASKING);
    trace_log_state_edit(a)->preflight =
        (struct trace_preflight){.calls_per_s = 1000, .count_ms = 200, .load = 0.1};
    trace_log_state_edit(b)->preflight =
        (struct trace_preflight){.calls_per_s = 2000, .count_ms = 100, .load = 0.2};
    fleet_log_take(l, 0, b);
    fleet_log_take(l, 1, a);
    fleet_log_sum(l);
    const struct trace_preflight *p = &trace_log_state(fleet_log_trace(l))->preflight;
    assert_true(p->load == 0.2 && p->calls_per_s == 2000 && p->count_ms == 100);
    fleet_log_free(l);
    trace_log_free(a);
    trace_log_free(b);
}

/* One that could not be set is said beside those that could; with --first the events are those. */
TEST(test_left_out_and_first)
{
    struct fleet_log *l = log_of("m:f(_)", 2, 3);
    struct trace_log *a = node_log(SESSION_RUNNING);
    struct error why = {.code = ERR_REFUSED, .text = "no"};
    fleet_log_name(l, 0, "a@h");
    fleet_log_name(l, 1, "b@h");
    fleet_log_leave_out(l, 1, "no node of this name");
    fleet_log_take(l, 0, a);
    fleet_log_sum(l);
    const struct trace_log *all = fleet_log_trace(l);
    assert_int_equal(trace_log_state(all)->status.phase, SESSION_RUNNING);
    assert_int_equal(trace_log_state(all)->caps.value[CAP_EVENTS], 3);
    assert_int_equal(trace_log_node(all, 1)->phase, SESSION_FAILED);
    assert_string_equal(trace_log_node(all, 1)->says, "no node of this name");
    fleet_log_fail(l, &why);
    trace_log_state_edit(a)->status.phase = SESSION_ENDED;
    fleet_log_take(l, 0, a);
    fleet_log_refused(l);
    assert_int_equal(trace_log_state(all)->status.phase, SESSION_FAILED);
    assert_int_equal(trace_log_node(all, 0)->phase, SESSION_ENDED);
    fleet_log_free(l);
    trace_log_free(a);
}

TEST(test_wrong_pattern)
{
    struct fleet_log *l = NULL;
    struct trace_request r;
    struct error err = {0};
    size_t offset = 0;
    trace_request_init(&r);
    r.pattern = "m:f(";
    assert_int_equal(fleet_log_new(&l, &r, 2, &offset, &err), ERR_USAGE);
    assert_null(l);
    assert_true(offset > 0);
}

/* Calls that are only counted: one row a function, whatever each node has of it. */
TEST(test_counted_functions)
{
    static const struct trace_function of_a[] = {{{SLICE("m"), SLICE("f"), 1}, 0, 5, 100, false},
                                                 {{SLICE("m"), SLICE("g"), 1}, 0, 0, 0, false}};
    static const struct trace_function of_b[] = {{{SLICE("m"), SLICE("f"), 1}, 0, 7, 50, false},
                                                 {{SLICE("m"), SLICE("f"), 2}, 0, 1, 0, false},
                                                 {{SLICE("m"), SLICE("f"), 2}, 9, 1, 0, false}};
    struct fleet_log *l = log_of("m:_/_ -> count;time", 2, 0);
    struct trace_log *a = node_log(SESSION_RUNNING), *b = node_log(SESSION_RUNNING);
    trace_log_set_functions(a, of_a, ARRAY_LEN(of_a));
    trace_log_set_functions(b, of_b, ARRAY_LEN(of_b));
    for (int sum = 0; sum < 3; sum++) {
        if (sum != 1)
            fleet_log_count(l);
        fleet_log_take(l, 0, a);
        fleet_log_take(l, 1, b);
        fleet_log_sum(l);
        const struct trace_log *all = fleet_log_trace(l);
        assert_int_equal(trace_log_functions(all), 2);
        assert_int_equal(trace_log_function(all, 0)->calls, 12);
        assert_int_equal(trace_log_function(all, 0)->time_us, 150);
        assert_int_equal(trace_log_function(all, 1)->mfa.arity, 2);
    }
    fleet_log_count(l);
    fleet_log_take(l, 0, a); /* and no sum */
    fleet_log_free(l);
    trace_log_free(a);
    trace_log_free(b);
}

/* A node may say anything: its times are not trusted, and no list grows without an end. */
TEST(test_hostile_node)
{
    static const int64_t absurd[] = {INT64_MIN, INT64_MAX, -1, 0};
    struct fleet_log *l = log_of("m:f(_) -> return", 1, 0);
    struct trace_log *a = node_log(SESSION_RUNNING);
    for (size_t i = 0; i < ARRAY_LEN(absurd); i++)
        for (size_t k = 0; k < ARRAY_LEN(absurd); k++) {
            struct trace_event lost = {
                .kind = EVENT_LOST, .mono_ns = absurd[i], .until_ns = absurd[k]};
            put(l, a, 0, "a@h", &lost, 1000);
        }
    struct trace_event e = call(1, INT64_MIN, OUTCOME_OPEN);
    trace_log_add(a, &e);
    put(l, a, 0, "a@h", &e, 1000);
    put(l, a, 0, "a@h", &e, 1001); /* the same number again */
    e.outcome = OUTCOME_RETURN;
    e.latency_ns = UINT64_MAX;
    assert_null(fleet_log_keep(l, 0, &e, true));
    for (uint64_t id = 2; id < LIMIT_TRACE_EVENTS + 50; id++) {
        struct trace_event next = call(id, 0, OUTCOME_OPEN);
        trace_log_add(a, &next);
        put(l, a, 0, "a@h", &next, 2000);
    }
    assert_int_equal(trace_log_len(fleet_log_trace(l)), LIMIT_TRACE_EVENTS);
    fleet_log_free(l);
    trace_log_free(a);
}
