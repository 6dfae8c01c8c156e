/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of two nodes as one: clocks, processes, what belongs to no request. */

#include "../../../test.h"
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
    "5002100000 1 receive <0.55.0> a@h<0.90.0> a@h<0.90.0> 0 1 call #Ref<1.2.3> 10 work",
    "5003000000 2 send <0.55.0> <0.56.0> a@h<0.90.0> 1 2 call #Ref<7.7.7> 5 leaf",
    "5003100000 3 receive <0.56.0> <0.55.0> a@h<0.90.0> 1 2 call #Ref<7.7.7> 5 leaf",
    "5006000000 4 send <0.56.0> - a@h<0.90.0> 2 3 reply #Ref<7.7.7> 4 -",
    "5006100000 5 receive <0.55.0> <0.56.0> a@h<0.90.0> 2 3 reply #Ref<7.7.7> 4 -",
    "5008900000 6 send <0.55.0> - a@h<0.90.0> 3 5 reply #Ref<1.2.3> 4 -",
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

static void join(struct spans *s, const struct spans *other, struct spans_clock *clock)
{
    struct spans_joined with = {other, *clock};
    spans_join(s, &with, 1);
    *clock = with.clock;
}

static struct spans *joined(struct spans_clock *clock, const char *const *a, size_t n_a,
                            const char *const *b, size_t n_b)
{
    struct spans *s = fed("a@h", a, n_a), *other = fed("b@h", b, n_b);
    join(s, other, clock);
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

TEST(test_a_callee_has_its_own_spans)
{
    struct spans *alone = fed("a@h", here, ARRAY_LEN(here));
    spans_build(alone);
    expect(alone, "root m:f/1 ok ~8.500 {call srv@b@h ok ~7.000} (call srv@b@h - ok ~7.000 leaf)");
    spans_free(alone);
    struct spans_clock clock = {0};
    struct spans *s = joined(&clock, here, ARRAY_LEN(here), there, ARRAY_LEN(there));
    expect(s, "root m:f/1 ok ~8.500 {call srv@b@h ok ~7.000} (call srv@b@h work ok ~6.800"
              " {call pid@b@h ok ~3.100} (call pid@b@h leaf ok ~2.900))");
    assert_int_equal(clock.ahead_ns, 5 * S);
    assert_int_equal(clock.within_ns, MS / 10);
    assert_true(clock.there == 1 && clock.back == 1 && clock.drift_ppm == 0);
    assert_int_equal(spans_at(s, 1)->queued_ns, MS / 10);
    assert_int_equal(spans_dropped(s).leaked, 0);
    spans_free(s);
}

/* Where one direction has no messages, what is known otherwise bounds it. */
TEST(test_one_way)
{
    static const char *const cast[] = {
        "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
        "2000000 2 send <0.90.0> b@h<0.55.0> <0.90.0> 0 1 cast - 10 work",
        "9500000 4 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
    };
    static const char *const taken[] = {
        "5002100000 1 receive <0.55.0> a@h<0.90.0> a@h<0.90.0> 0 1 cast - 10 work",
    };
    struct spans_clock clock = {.least_ns = 5 * S - MS / 10, .most_ns = 6 * S};
    struct spans *s = joined(&clock, cast, ARRAY_LEN(cast), taken, 1);
    assert_true(clock.there == 1 && clock.back == 0);
    assert_true(clock.ahead_ns == 5 * S && clock.within_ns == MS / 10);
    assert_int_equal(spans_count(s), 2);
    assert_true(spans_at(s, 1)->kind == SPAN_CAST && spans_at(s, 1)->queued_ns == MS / 10);
    spans_free(s);
    clock = (struct spans_clock){.least_ns = 5 * S + MS, .most_ns = 6 * S};
    s = joined(&clock, cast, ARRAY_LEN(cast), taken, 1);
    assert_int_equal(clock.within_ns, -1);
    spans_free(s);
}

/* Calls of 300 us, 100 us on the way each, over a while in which the clocks drift apart. */
static struct spans *drifted(struct spans_clock *clock, double ppm, int64_t for_ns)
{
    enum { CALLS = 20 };
    struct spans *s = fed("a@h", NULL, 0), *other = fed("b@h", NULL, 0);
    for (int i = 0; i < CALLS; i++) {
        const int64_t at = for_ns / CALLS * i;
        const struct span_process p = {.pid = {.id = 90 + (unsigned)i}};
        const struct span_process callee = {.node = slice_of("b@h"), .pid = {.id = 55}};
        const struct span_process back = {.node = slice_of("a@h"), .pid = p.pid};
        const struct span_process own = {.pid = callee.pid};
        const struct span_ref ref = {.n = 1, .words = {(unsigned)i + 1}};
        const struct {
            enum span_event_kind kind;
            enum span_tag tag;
            int64_t after;
            bool here;
            uint64_t serial;
        } events[] = {
            {SPAN_EVENT_ROOT, SPAN_TAG_MESSAGE, 0, true, 0},
            {SPAN_EVENT_SEND, SPAN_TAG_CALL, 10000, true, 1},
            {SPAN_EVENT_RECEIVE, SPAN_TAG_CALL, 110000, false, 1},
            {SPAN_EVENT_SEND, SPAN_TAG_REPLY, 410000, false, 2},
            {SPAN_EVENT_RECEIVE, SPAN_TAG_REPLY, 510000, true, 2},
            {SPAN_EVENT_RETURN, SPAN_TAG_MESSAGE, 520000, true, 0},
        };
        for (size_t k = 0; k < ARRAY_LEN(events); k++) {
            const int64_t true_ns = at + events[k].after;
            const int64_t ahead = 5 * S + (int64_t)((double)true_ns * ppm / 1e6);
            struct span_event e = {.kind = events[k].kind, .tag = events[k].tag, .label = p.pid};
            e.at_ns = events[k].here ? true_ns : true_ns + ahead;
            e.order = k;
            e.serial = events[k].serial;
            e.process = events[k].here ? p : own;
            e.label_node = slice_of(events[k].here ? "" : "a@h");
            if (events[k].serial > 0) {
                e.peer = events[k].here ? callee : back;
                e.ref = ref;
            }
            spans_feed(events[k].here ? s : other, &e);
        }
    }
    join(s, other, clock);
    spans_free(other);
    spans_build(s);
    return s;
}

TEST(test_drift)
{
    static const double ppms[] = {0, 0.1, 3.4, -10, 20, -100, 500};
    static const int64_t times[] = {S, 60 * S, 600 * S};
    for (size_t i = 0; i < ARRAY_LEN(ppms) * ARRAY_LEN(times); i++) {
        struct spans_clock clock = {0};
        struct spans *s = drifted(&clock, ppms[i / ARRAY_LEN(times)], times[i % ARRAY_LEN(times)]);
        assert_true(clock.within_ns >= 50000 && clock.within_ns <= 101000);
        assert_int_equal(spans_count(s), 40);
        assert_int_equal(spans_dropped(s).leaked, 0);
        for (uint32_t k = 0; k < spans_count(s); k++) {
            const struct span *span = spans_at(s, k);
            const int64_t took = span->ended_ns - span->started_ns;
            assert_true(span->outcome == SPAN_OK && !span->leaf);
            if (span->parent == SPAN_NONE)
                continue;
            /* It is where it was, within the error. */
            const int64_t after = span->started_ns - spans_at(s, span->parent)->started_ns;
            assert_true(took > 299000 && took < 301000);
            assert_true(llabs(after - 110000) <= clock.within_ns);
        }
        spans_free(s);
    }
}

/* Of tokens of other captures, and messages whose serial came again: they say nothing. */
TEST(test_what_does_not_count)
{
    static const char *const a[] = {
        "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
        "2000000 2 send <0.90.0> b@h<0.55.0> <0.90.0> 0 1 cast - 10 work",
        "3000000 3 send <0.90.0> b@h<0.57.0> <0.90.0> 0 1 cast - 10 work",
        "9500000 4 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
    };
    static const char *const b[] = {
        "5002100000 1 receive <0.55.0> a@h<0.90.0> a@h<0.90.0> 0 1 cast - 10 work",
        "5003100000 2 receive <0.57.0> a@h<0.90.0> a@h<0.90.0> 0 1 cast - 10 work",
        "5004100000 3 receive <0.58.0> a@h<0.44.0> a@h<0.44.0> 0 1 cast - 10 work",
    };
    struct spans_clock clock = {.least_ns = 5 * S - 9, .most_ns = 5 * S + 11};
    struct spans *s = joined(&clock, a, ARRAY_LEN(a), b, ARRAY_LEN(b));
    assert_true(clock.there == 0 && clock.back == 0);
    assert_true(clock.ahead_ns == 5 * S + 1 && clock.within_ns == 10);
    assert_int_equal(spans_dropped(s).leaked, 1);
    assert_int_equal(spans_count(s), 3);
    spans_free(s);
}

TEST(test_nothing)
{
    struct spans_clock clock = {.least_ns = -7, .most_ns = -7};
    struct spans *s = joined(&clock, here, ARRAY_LEN(here), NULL, 0);
    assert_true(clock.there == 0 && clock.within_ns == 0 && clock.ahead_ns == -7);
    assert_int_equal(spans_count(s), 2);
    spans_free(s);
    s = joined(&clock, NULL, 0, there, ARRAY_LEN(there));
    assert_int_equal(spans_count(s), 0);
    spans_free(s);
}

/* Any times, also those at which sums would overflow. */
TEST(test_extreme)
{
    static const int64_t times[] = {-(INT64_C(1) << 61), -1, 0, INT64_C(1) << 61};
    for (size_t i = 0; i < 256; i++) {
        struct spans *s = fed("a@h", NULL, 0), *other = fed("b@h", NULL, 0);
        struct span_event e = {.kind = SPAN_EVENT_ROOT, .at_ns = times[i % 4]};
        struct spans_clock clock = {.least_ns = times[i / 64], .most_ns = times[i % 4]};
        e.process.pid.id = e.label.id = 9;
        spans_feed(s, &e);
        e.kind = SPAN_EVENT_SEND;
        spans_feed(s, &e);
        e.peer = e.process;
        e.peer.node = slice_of("a@h");
        e.process.pid.id = 10;
        e.kind = SPAN_EVENT_RECEIVE;
        e.label_node = slice_of("a@h");
        e.at_ns = times[i / 4 % 4];
        spans_feed(other, &e);
        e.kind = SPAN_EVENT_SEND;
        e.serial = 1;
        spans_feed(other, &e);
        e.peer.node = slice_of("b@h");
        e.peer.pid.id = 10;
        e.process.pid.id = 9;
        e.kind = SPAN_EVENT_RECEIVE;
        e.label_node = (struct slice){0};
        e.at_ns = times[i / 16 % 4];
        spans_feed(s, &e);
        join(s, other, &clock);
        spans_build(s);
        spans_free(other);
        spans_free(s);
    }
}

/* ---- several nodes */

/* A request of a@h goes to b@h, from there to c@h and back; another one begins on c@h, in a process
 * whose pid has the same numbers. b@h is 5 s ahead, c@h 3 s behind; c@h and a@h have no message. */
static const char *const of_a[] = {
    "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
    "2000000 2 send <0.90.0> b@h/srv <0.90.0> 0 1 call #Ref<1.2.3> 10 work",
    "9000000 3 receive <0.90.0> b@h<0.55.0> <0.90.0> 4 5 reply #Ref<1.2.3> 4 -",
    "9500000 4 return <0.90.0> - - 0 0 - - 0 -",
};
static const char *const of_b[] = {
    "5002100000 1 receive <0.55.0> a@h<0.90.0> a@h<0.90.0> 0 1 call #Ref<1.2.3> 10 work",
    "5003000000 2 send <0.55.0> c@h/srv a@h<0.90.0> 1 2 call #Ref<7.7.7> 5 leaf",
    "5006100000 5 receive <0.55.0> c@h<0.56.0> a@h<0.90.0> 2 3 reply #Ref<7.7.7> 4 -",
    "5008900000 6 send <0.55.0> a@h<0.90.0> a@h<0.90.0> 3 5 reply #Ref<1.2.3> 4 -",
    "5012100000 7 receive <0.55.0> c@h<0.90.0> c@h<0.90.0> 0 1 call #Ref<9.9.9> 10 other",
    "5013900000 8 send <0.55.0> c@h<0.90.0> c@h<0.90.0> 1 2 reply #Ref<9.9.9> 4 -",
    "name <0.55.0> srv",
};
static const char *const of_c[] = {
    "-2996900000 3 receive <0.56.0> b@h<0.55.0> a@h<0.90.0> 1 2 call #Ref<7.7.7> 5 leaf",
    "-2994000000 4 send <0.56.0> b@h<0.55.0> a@h<0.90.0> 2 3 reply #Ref<7.7.7> 4 -",
    "-2989000000 5 root <0.90.0> - <0.90.0> 0 0 - - 0 m:g/0",
    "-2988000000 6 send <0.90.0> b@h/srv <0.90.0> 0 1 call #Ref<9.9.9> 10 other",
    "-2986000000 7 receive <0.90.0> b@h<0.55.0> <0.90.0> 1 2 reply #Ref<9.9.9> 4 -",
    "-2985500000 8 return <0.90.0> - - 0 0 - - 0 -",
    "name <0.56.0> srv",
};

TEST(test_three_nodes)
{
    struct spans *a = fed("a@h", of_a, ARRAY_LEN(of_a)), *b = fed("b@h", of_b, ARRAY_LEN(of_b));
    struct spans *c = fed("c@h", of_c, ARRAY_LEN(of_c));
    struct spans_joined others[] = {{c, {.least_ns = -4 * S, .most_ns = -2 * S}},
                                    {b, {.least_ns = 4 * S, .most_ns = 6 * S}}};
    spans_join(a, others, ARRAY_LEN(others));
    spans_free(b);
    spans_free(c);
    spans_build(a);
    expect(a, "root m:f/1 ok ~8.500 {call srv@b@h ok ~7.000} (call srv@b@h work ok ~6.800"
              " {call srv@c@h ok ~3.100} (call srv@c@h leaf ok ~2.900)); "
              "root m:g/0 ok ~3.500 {call srv@b@h ok ~2.000} (call srv@b@h other ok ~1.800)");
    assert_true(slice_is(spans_at(a, 3)->process.node, "c@h"));
    assert_int_equal(others[1].clock.ahead_ns, 5 * S);
    assert_int_equal(others[1].clock.within_ns, MS / 10);
    assert_int_equal(others[0].clock.ahead_ns, -3 * S);
    assert_int_equal(others[0].clock.within_ns, 2 * MS / 10);
    assert_true(others[0].clock.there == 2 && others[0].clock.back == 2);
    assert_int_equal(spans_dropped(a).leaked, 0);
    spans_free(a);
}

/* Of one node no message bounds the clock at all, and another one's contradict: only these do not
 * fit. */
TEST(test_who_does_not_fit)
{
    static const char *const moved[] = {
        "-2996900000 3 receive <0.56.0> b@h<0.55.0> a@h<0.90.0> 1 2 call #Ref<7.7.7> 5 leaf",
        "-2990000000 4 send <0.56.0> b@h<0.55.0> a@h<0.90.0> 2 3 reply #Ref<7.7.7> 4 -",
    };
    struct spans *a = fed("a@h", of_a, ARRAY_LEN(of_a)), *b = fed("b@h", of_b, ARRAY_LEN(of_b));
    struct spans *c = fed("c@h", moved, ARRAY_LEN(moved)), *d = fed("d@h", NULL, 0);
    struct spans_joined others[] = {{b, {.least_ns = 4 * S, .most_ns = 6 * S}},
                                    {c, {.least_ns = -4 * S, .most_ns = -2 * S}},
                                    {d, {.least_ns = 10, .most_ns = 30}}};
    spans_join(a, others, ARRAY_LEN(others));
    spans_free(b);
    spans_free(c);
    spans_free(d);
    assert_true(others[0].clock.ahead_ns == 5 * S && others[0].clock.within_ns == MS / 10);
    assert_int_equal(others[1].clock.within_ns, -1);
    assert_true(others[2].clock.ahead_ns == 20 && others[2].clock.within_ns == 10);
    spans_free(a);
}
