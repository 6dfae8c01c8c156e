/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/log.h"

static struct slice text(const char *s)
{
    return (struct slice){s, strlen(s)};
}

static bool same(struct slice s, const char *wanted)
{
    return s.len == strlen(wanted) && memcmp(s.s, wanted, s.len) == 0;
}

static struct trace_event call(uint64_t id, uint32_t pid)
{
    return (struct trace_event){
        .id = id,
        .kind = EVENT_CALL,
        .pid = {.id = pid},
        .mono_ns = 1000 * (int64_t)id,
        .mfa = {{"m", 1}, {"f", 1}, 1},
        .outcome = OUTCOME_OPEN,
    };
}

TEST(test_copies)
{
    struct trace_log *l = trace_log_new(8, 100000);
    char module[] = "mod", function[] = "fun", args[] = "args", name[] = "proc";
    struct mfa stack[2] = {{{module, 3}, {function, 3}, 1}, {{function, 3}, {module, 3}, 2}};
    struct trace_event e = call(7, 3);
    e.mfa = stack[0];
    e.caller = stack[1];
    e.stack = stack;
    e.n_stack = 2;
    e.args.bytes = (struct slice){args, 4};
    e.name = (struct slice){name, 4};
    trace_log_add(l, &e);
    memset(module, 'x', 3);
    memset(function, 'x', 3);
    memset(args, 'x', 4);
    memset(name, 'x', 4);
    memset(stack, 0, sizeof stack);
    const struct trace_event *kept = trace_log_at(l, 0);
    assert_ptr_equal(kept, trace_log_find(l, 7));
    assert_true(same(kept->mfa.module, "mod"));
    assert_true(same(kept->caller.module, "fun"));
    assert_true(same(kept->args.bytes, "args"));
    assert_true(same(kept->name, "proc"));
    assert_int_equal(kept->n_stack, 2);
    assert_true(same(kept->stack[1].function, "mod"));
    assert_int_equal(kept->stack[1].arity, 2);
    assert_null(kept->message.bytes.s);
    trace_log_free(l);
}

TEST(test_ring_of_events)
{
    struct trace_log *l = trace_log_new(4, 1000000);
    for (uint64_t id = 1; id <= 10; id++) {
        struct trace_event e = call(id * 4096, 1); /* all in one bucket */
        trace_log_add(l, &e);
    }
    assert_int_equal(trace_log_len(l), 4);
    assert_int_equal(trace_log_dropped(l), 6);
    assert_null(trace_log_find(l, 6 * 4096));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(trace_log_at(l, i)->id, (7 + i) * 4096);
        assert_ptr_equal(trace_log_find(l, (7 + i) * 4096), trace_log_at(l, i));
    }
    assert_int_equal(trace_log_state(l)->total.shown, 10);
    trace_log_free(l);
}

TEST(test_ring_of_bytes)
{
    struct trace_log *l = trace_log_new(100, 20000);
    static char big[8000];
    for (uint64_t id = 1; id <= 5; id++) {
        struct trace_event e = call(id, 1);
        e.args.bytes = (struct slice){big, sizeof big};
        trace_log_add(l, &e);
    }
    assert_int_equal(trace_log_len(l), 2);
    /* A result counts too. */
    struct kept_term result = {{big, sizeof big}, 0};
    trace_log_finish(l, 5, OUTCOME_RETURN, (struct slice){0}, &result, 9000);
    assert_int_equal(trace_log_len(l), 1);
    assert_int_equal(trace_log_at(l, 0)->id, 5);
    /* One that is too large alone is kept. */
    static char huge[50000];
    struct trace_event e = call(6, 1);
    e.args.bytes = (struct slice){huge, sizeof huge};
    trace_log_add(l, &e);
    assert_int_equal(trace_log_len(l), 1);
    assert_int_equal(trace_log_at(l, 0)->id, 6);
    trace_log_free(l);
}

TEST(test_finish)
{
    struct trace_log *l = trace_log_new(4, 100000);
    trace_log_add_pattern(l, NULL);
    struct trace_event e = call(1, 1);
    trace_log_add(l, &e);
    e = call(2, 1);
    trace_log_add(l, &e);
    assert_int_equal(trace_log_state(l)->total.open, 2);
    char value[] = "value";
    struct kept_term result = {{value, 5}, 77};
    trace_log_finish(l, 1, OUTCOME_RETURN, (struct slice){0}, &result, 1000 + 5000);
    memset(value, 'x', 5);
    const struct trace_event *kept = trace_log_find(l, 1);
    assert_int_equal(kept->outcome, OUTCOME_RETURN);
    assert_int_equal(kept->latency_ns, 5000);
    assert_true(same(kept->result.bytes, "value"));
    assert_int_equal(kept->result.full_bytes, 77);
    trace_log_finish(l, 2, OUTCOME_EXCEPTION, text("error"), &result, 1);
    kept = trace_log_find(l, 2);
    assert_true(same(kept->class, "error"));
    assert_int_equal(kept->latency_ns, 0); /* clocks that go back give no huge number */
    trace_log_finish(l, 99, OUTCOME_RETURN, text(""), &result, 1);       /* nobody's */
    trace_log_finish(l, 1, OUTCOME_EXCEPTION, text("exit"), &result, 1); /* a second result */
    assert_int_equal(trace_log_find(l, 1)->outcome, OUTCOME_RETURN);
    const struct trace_pattern_info *p = trace_log_pattern(l, 0);
    assert_int_equal(p->counts.shown, 2);
    assert_int_equal(p->counts.open, 0);
    assert_int_equal(trace_log_state(l)->total.open, 0);
    assert_int_equal(p->latency.total, 2);
    assert_int_equal(p->latency.max_ns, 5000);
    trace_log_free(l);
}

/* Lost calls stand beside those that were shown since the ones before, also when these are gone. */
TEST(test_shown_beside_lost)
{
    struct trace_log *l = trace_log_new(2, 100000);
    const struct trace_event lost = {.kind = EVENT_LOST, .lost = 1600};
    const struct trace_event sent = {.kind = EVENT_SEND, .id = 9};
    for (uint64_t i = 1; i <= 3; i++) {
        struct trace_event e = call(i, 1);
        trace_log_add(l, &e);
    }
    trace_log_add(l, &sent);
    assert_int_equal(trace_log_add(l, &lost)->shown, 3);
    assert_int_equal(trace_log_add(l, &lost)->shown, 0);
    trace_log_free(l);
}

TEST(test_names)
{
    struct trace_log *l = trace_log_new(4, 100000);
    struct trace_event e = call(1, 1);
    trace_log_add(l, &e);
    struct trace_event lost = {.kind = EVENT_LOST, .lost = 3};
    trace_log_add(l, &lost);
    trace_log_name(l, &(struct etf_pid){.id = 1}, text("first"));
    trace_log_name(l, &(struct etf_pid){.id = 2}, text(""));
    trace_log_name(l, &(struct etf_pid){0}, text("zero"));
    assert_true(same(trace_log_at(l, 0)->name, "first"));
    assert_int_equal(trace_log_at(l, 1)->name.len, 0); /* nobody's event */
    for (uint32_t i = 10; i < 500; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%u", i);
        trace_log_name(l, &(struct etf_pid){.id = i}, text(name));
    }
    e = call(2, 444);
    assert_true(same(trace_log_add(l, &e)->name, "p444"));
    e = call(3, 1);
    assert_true(same(trace_log_add(l, &e)->name, "first"));
    e = call(4, 2);
    assert_int_equal(trace_log_add(l, &e)->name.len, 0);
    trace_log_free(l);
}

TEST(test_functions)
{
    struct trace_log *l = trace_log_new(4, 100000);
    char name[] = "abc";
    struct trace_function f[2] = {{.mfa = {{name, 3}, {name, 1}, 2}, .calls = 5}, {.pattern = 1}};
    trace_log_set_functions(l, f, 2);
    memset(name, 'x', 3);
    assert_int_equal(trace_log_functions(l), 2);
    assert_true(same(trace_log_function(l, 0)->mfa.module, "abc"));
    assert_int_equal(trace_log_function(l, 0)->calls, 5);
    /* From the log's own. */
    trace_log_set_functions(l, trace_log_function(l, 0), 1);
    assert_true(same(trace_log_function(l, 0)->mfa.module, "abc"));
    trace_log_set_functions(l, NULL, 0);
    assert_int_equal(trace_log_functions(l), 0);
    trace_log_free(l);
}
