/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of two nodes as one: clocks, processes, what belongs to no request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "events.h"
#include "tree.h"

#define S INT64_C(1000000000)
#define MS INT64_C(1000000)

/* The clock of b@h is five seconds ahead. */
static const char *const here[] = {
    "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
    "2000000 2 send <0.90.0> b@h/srv <0.90.0> 0 1 call #Ref<1.2.3> 10 work",
    "9000000 3 receive <0.90.0> b@h<0.55.0> <0.90.0> 4 5 reply #Ref<1.2.3> 4 -",
    "9500000 4 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
};
static const char *const there[] = {
    "5002100000 1 receive <0.55.0> a@h<0.90.0> <0.90.0> 0 1 call #Ref<1.2.3> 10 work",
    "5003000000 2 send <0.55.0> <0.56.0> <0.90.0> 1 2 call #Ref<7.7.7> 5 leaf",
    "5003100000 3 receive <0.56.0> <0.55.0> <0.90.0> 1 2 call #Ref<7.7.7> 5 leaf",
    "5006000000 4 send <0.56.0> - <0.90.0> 2 3 reply #Ref<7.7.7> 4 -",
    "5006100000 5 receive <0.55.0> <0.56.0> <0.90.0> 2 3 reply #Ref<7.7.7> 4 -",
    "5008900000 6 send <0.55.0> - <0.90.0> 3 5 reply #Ref<1.2.3> 4 -",
    "name <0.55.0> srv",
};

static struct spans *fed(const char *node, const char *const *events, size_t n)
{
    const struct spans_options options = {.node = slice_of(node), .capture = 7};
    struct spans *s = spans_new(&options);
    for (size_t i = 0; i < n; i++)
        event_feed(s, events[i]);
    return s;
}

static struct spans *joined(struct spans_clock *clock, const char *const *a, size_t n_a,
                            const char *const *b, size_t n_b)
{
    struct spans *s = fed("a@h", a, n_a), *other = fed("b@h", b, n_b);
    spans_join(s, other, clock);
    spans_free(other);
    spans_build(s);
    return s;
}

static void expect(const struct spans *s, const char *wanted)
{
    struct buf out;
    buf_init(&out, 0);
    tree_put_roots(&out, s);
    assert_string_equal(buf_cstr(&out), wanted);
    buf_clear(&out);
}

static void test_a_callee_has_its_own_spans(void **state)
{
    struct spans *alone = fed("a@h", here, ARRAY_LEN(here));
    (void)state;
    spans_build(alone);
    expect(alone, "root m:f/1 ok ~8.500 {call srv@b@h ok ~7.000} (call srv@b@h - ok ~7.000 leaf)");
    spans_free(alone);
    struct spans_clock clock = {0};
    struct spans *s = joined(&clock, here, ARRAY_LEN(here), there, ARRAY_LEN(there));
    expect(s, "root m:f/1 ok ~8.500 {call srv@b@h ok ~7.000} (call srv@b@h work ok ~6.800"
              " {call pid@b@h ok ~3.100} (call pid@b@h leaf ok ~2.900))");
    assert_int_equal(clock.ahead_ns, 5 * S);
    assert_int_equal(clock.within_ns, MS / 10);
    assert_int_equal(clock.messages, 2);
    assert_int_equal(spans_at(s, 1)->queued_ns, MS / 10);
    assert_int_equal(spans_dropped(s).leaked, 0);
    spans_free(s);
}

/* With messages of one way there is one bound, which the wall clocks may not pass. */
static void test_one_way(void **state)
{
    static const char *const cast[] = {
        "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
        "2000000 2 send <0.90.0> b@h<0.55.0> <0.90.0> 0 1 cast - 10 work",
        "9500000 4 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
    };
    static const char *const taken[] = {
        "5002100000 1 receive <0.55.0> a@h<0.90.0> <0.90.0> 0 1 cast - 10 work",
    };
    static const struct {
        int64_t wall, ahead;
    } rows[] = {{4 * S, 4 * S}, {5 * S, 5 * S}, {6 * S, 5 * S + MS / 10}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spans_clock clock = {.ahead_ns = rows[i].wall};
        struct spans *s = joined(&clock, cast, ARRAY_LEN(cast), taken, 1);
        assert_int_equal(clock.ahead_ns, rows[i].ahead);
        assert_int_equal(clock.within_ns, -1);
        assert_int_equal(clock.messages, 1);
        assert_int_equal(spans_count(s), 2);
        assert_true(spans_at(s, 1)->kind == SPAN_CAST && spans_at(s, 1)->queued_ns > 0);
        spans_free(s);
    }
}

/* Clocks that drift apart would have messages taken before they are sent. */
static void test_drift(void **state)
{
    static const char *const later[] = {
        "20000000 11 root <0.91.0> - <0.91.0> 0 0 - - 0 m:f/1",
        "21000000 12 send <0.91.0> b@h/srv <0.91.0> 0 1 call #Ref<1.2.4> 10 work",
        "23000000 13 receive <0.91.0> b@h<0.55.0> <0.91.0> 1 2 reply #Ref<1.2.4> 4 -",
        "24000000 14 return <0.91.0> - <0.91.0> 0 0 - - 0 -",
    };
    static const char *const later_there[] = {
        "5020800000 11 receive <0.55.0> a@h<0.91.0> <0.91.0> 0 1 call #Ref<1.2.4> 10 work",
        "5022700000 12 send <0.55.0> - <0.91.0> 1 2 reply #Ref<1.2.4> 4 -",
    };
    const char *a[ARRAY_LEN(here) + ARRAY_LEN(later)], *b[ARRAY_LEN(there) + 2];
    struct spans_clock clock = {0};
    (void)state;
    memcpy(a, here, sizeof here);
    memcpy(a + ARRAY_LEN(here), later, sizeof later);
    memcpy(b, there, sizeof there);
    memcpy(b + ARRAY_LEN(there), later_there, sizeof later_there);
    struct spans *s = joined(&clock, a, ARRAY_LEN(a), b, ARRAY_LEN(b));
    assert_true(clock.ahead_ns == 5 * S - 3 * MS / 20 && clock.within_ns == MS / 20);
    assert_int_equal(spans_dropped(s).leaked, 0);
    size_t roots = 0;
    for (uint32_t i = 0; i < spans_count(s); i++) {
        const struct span *span = spans_at(s, i);
        roots += span->parent == SPAN_NONE;
        assert_true(span->outcome == SPAN_OK && !span->leaf);
        if (span->parent != SPAN_NONE)
            assert_true(span->started_ns > spans_at(s, span->parent)->started_ns);
    }
    assert_int_equal(roots, 2);
    spans_free(s);
}

/* Of tokens of other captures, and messages whose serial came again: they say nothing. */
static void test_what_does_not_count(void **state)
{
    static const char *const a[] = {
        "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
        "2000000 2 send <0.90.0> b@h<0.55.0> <0.90.0> 0 1 cast - 10 work",
        "3000000 3 send <0.90.0> b@h<0.57.0> <0.90.0> 0 1 cast - 10 work",
        "9500000 4 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
    };
    static const char *const b[] = {
        "5002100000 1 receive <0.55.0> a@h<0.90.0> <0.90.0> 0 1 cast - 10 work",
        "5003100000 2 receive <0.57.0> a@h<0.90.0> <0.90.0> 0 1 cast - 10 work",
        "5004100000 3 receive <0.58.0> a@h<0.44.0> <0.44.0> 0 1 cast - 10 work",
    };
    struct spans_clock clock = {.ahead_ns = 5 * S};
    (void)state;
    struct spans *s = joined(&clock, a, ARRAY_LEN(a), b, ARRAY_LEN(b));
    assert_int_equal(clock.messages, 0);
    assert_int_equal(clock.ahead_ns, 5 * S);
    assert_int_equal(spans_dropped(s).leaked, 1);
    assert_int_equal(spans_count(s), 3);
    spans_free(s);
}

static void test_nothing(void **state)
{
    struct spans_clock clock = {.ahead_ns = -7};
    (void)state;
    struct spans *s = joined(&clock, here, ARRAY_LEN(here), NULL, 0);
    assert_true(clock.messages == 0 && clock.within_ns == -1 && clock.ahead_ns == -7);
    assert_int_equal(spans_count(s), 2);
    spans_free(s);
    s = joined(&clock, NULL, 0, there, ARRAY_LEN(there));
    assert_int_equal(spans_count(s), 0);
    spans_free(s);
}

/* Any times, also those at which sums would overflow. */
static void test_extreme(void **state)
{
    static const int64_t times[] = {-(INT64_C(1) << 61), -1, 0, INT64_C(1) << 61};
    (void)state;
    for (size_t i = 0; i < 256; i++) {
        struct spans *s = fed("a@h", NULL, 0), *other = fed("b@h", NULL, 0);
        struct span_event e = {.kind = SPAN_EVENT_ROOT, .at_ns = times[i % 4]};
        struct spans_clock clock = {.ahead_ns = times[i / 64]};
        e.process.pid.id = e.label.id = 9;
        spans_feed(s, &e);
        e.kind = SPAN_EVENT_SEND;
        spans_feed(s, &e);
        e.peer = e.process;
        e.peer.node = slice_of("a@h");
        e.process.pid.id = 10;
        e.kind = SPAN_EVENT_RECEIVE;
        e.at_ns = times[i / 4 % 4];
        spans_feed(other, &e);
        e.kind = SPAN_EVENT_SEND;
        e.serial = 1;
        spans_feed(other, &e);
        e.peer.node = slice_of("b@h");
        e.peer.pid.id = 10;
        e.process.pid.id = 9;
        e.kind = SPAN_EVENT_RECEIVE;
        e.at_ns = times[i / 16 % 4];
        spans_feed(s, &e);
        spans_join(s, other, &clock);
        spans_build(s);
        spans_free(other);
        spans_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_callee_has_its_own_spans),
        cmocka_unit_test(test_one_way),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_what_does_not_count),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_extreme),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
