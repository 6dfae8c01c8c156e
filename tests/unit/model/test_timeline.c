/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One process in time: nesting, own time, waits, gaps, lost ends; and events that make no sense. */

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/stacks.h"
#include "beamtop/model/timeline.h"

#define MS INT64_C(1000000)

static void call(struct timeline *t, uint64_t id, int64_t at_ms, const char *name)
{
    assert_true(timeline_call(t, id, at_ms * MS, slice_of(name)));
}

static void end(struct timeline *t, uint64_t id, int64_t at_ms)
{
    assert_true(timeline_end(t, id, at_ms * MS, false, (struct slice){0}));
}

static void off(struct timeline *t, int64_t from_ms, int64_t until_ms, const char *name,
                enum timeline_why why)
{
    assert_true(timeline_off(t, from_ms * MS, until_ms * MS, (until_ms - from_ms) * MS, 1,
                             slice_of(name), why));
}

static struct timeline *followed(void)
{
    struct timeline *t = timeline_new();
    timeline_follow(t, 0, true);
    return t;
}

static const struct timeline_row *row(const struct timeline *t, size_t i, enum timeline_kind kind,
                                      const char *function, uint32_t depth)
{
    const struct timeline_row *r = timeline_row(t, i);
    if (r->kind != kind || !slice_is(r->function, function) || r->depth != depth)
        fail_msg("row %zu: %s %.*s at depth %u", i, timeline_kind_key(r->kind),
                 (int)r->function.len, r->function.s, r->depth);
    return r;
}

static const struct timeline_function *function(const struct timeline *t, const char *name)
{
    for (size_t i = 0; i < timeline_functions(t); i++)
        if (slice_is(timeline_function(t, i)->name, name))
            return timeline_function(t, i);
    fail_msg("no function %s", name);
    return NULL;
}

/* a 0..100 has b 10..40 and b 50..60; it waits 20..35 within the first, and 70..90 by itself. */
TEST(nests_calls_and_waits)
{
    struct timeline *t = followed();
    end(t, (call(t, 1, 0, "m:a/0"), 1), 100);
    call(t, 2, 10, "m:b/1");
    end(t, 2, 40);
    off(t, 20, 35, "m:b/1", TIMELINE_WAITS);
    call(t, 3, 50, "m:b/1");
    end(t, 3, 60);
    off(t, 70, 90, "m:a/0", TIMELINE_READY);
    timeline_build(t, 0, 200 * MS);
    assert_int_equal(timeline_rows(t), 5);
    const struct timeline_row *a = row(t, 0, TIMELINE_CALL, "m:a/0", 0);
    const struct timeline_row *b = row(t, 1, TIMELINE_CALL, "m:b/1", 1);
    const struct timeline_row *wait = row(t, 2, TIMELINE_WAITING, "m:b/1", 2);
    row(t, 3, TIMELINE_CALL, "m:b/1", 1);
    row(t, 4, TIMELINE_OFF_CPU, "m:a/0", 1);
    assert_int_equal(a->own_ns, 40 * MS);
    assert_int_equal(a->waiting_ns, 15 * MS);
    assert_int_equal(a->off_cpu_ns, 20 * MS);
    assert_true(a->off_known && !wait->inferred);
    assert_int_equal(b->own_ns, 15 * MS);
    assert_int_equal(b->parent, 0);
    assert_int_equal(wait->parent, 1);
    const struct timeline_function *f = function(t, "m:b/1");
    assert_true(f->off_known);
    assert_int_equal(f->calls, 2);
    assert_int_equal(f->total_ns, 40 * MS);
    assert_int_equal(f->own_ns, 25 * MS);
    assert_int_equal(f->max_ns, 30 * MS);
    assert_int_equal(f->waiting_ns, 15 * MS);
    assert_int_equal(timeline_sums(t).calls_ns, 100 * MS);
    timeline_free(t);
}

/* 400 time slices of a computing call, at two functions in turn, and one long time among them are
   one row; what comes after a call is another one. Long times fold at one function only. */
TEST(folds_time_slices)
{
    enum { SLICES = 400, US = 1000 };
    static const struct {
        int64_t from_ms, until_ms;
        const char *at;
    } later[] = {{60, 61, "m:f/0"}, {62, 63, "m:f/0"}, {64, 65, "m:g/0"}};
    struct timeline *t = followed();
    call(t, 1, 0, "m:a/0");
    for (int64_t i = 0; i < SLICES; i++)
        assert_true(timeline_off(t, (100 * i + 1) * US, (100 * i + 11) * US, 10 * US, 1,
                                 slice_of(i % 2 == 0 ? "m:f/0" : "m:g/0"), TIMELINE_UNKNOWN));
    off(t, 41, 42, "m:h/0", TIMELINE_READY);
    call(t, 2, 50, "m:b/0");
    end(t, 2, 51);
    for (size_t i = 0; i < ARRAY_LEN(later); i++)
        off(t, later[i].from_ms, later[i].until_ms, later[i].at, TIMELINE_READY);
    end(t, 1, 100);
    timeline_build(t, 0, 200 * MS);
    assert_int_equal(timeline_rows(t), 5);
    const struct timeline_row *slices = row(t, 1, TIMELINE_OFF_CPU, "m:h/0", 1);
    assert_int_equal(slices->times, SLICES + 1);
    assert_int_equal(slices->total_ns, SLICES * 10 * US + MS);
    assert_int_equal(slices->until_ns, 42 * MS);
    row(t, 2, TIMELINE_CALL, "m:b/0", 1);
    assert_int_equal(row(t, 3, TIMELINE_OFF_CPU, "m:f/0", 1)->times, 2);
    assert_int_equal(row(t, 4, TIMELINE_OFF_CPU, "m:g/0", 1)->times, 1);
    assert_int_equal(row(t, 0, TIMELINE_CALL, "m:a/0", 0)->off_cpu_ns, SLICES * 10 * US + 4 * MS);
    timeline_free(t);
}

TEST(tells_waits_from_other_times)
{
    static const struct {
        const char *at;
        enum timeline_why why;
        enum timeline_kind kind;
        bool inferred;
    } rows[] = {
        {"m:loop/1", TIMELINE_WAITS, TIMELINE_WAITING, false},
        {"m:loop/1", TIMELINE_UNKNOWN, TIMELINE_WAITING, true},
        {"m:loop/1", TIMELINE_READY, TIMELINE_OFF_CPU, false},
        {"m:burn/1", TIMELINE_UNKNOWN, TIMELINE_OFF_CPU, false},
        {"timer:sleep/1", TIMELINE_UNKNOWN, TIMELINE_WAITING, true},
        {"gen:do_call/4", TIMELINE_UNKNOWN, TIMELINE_WAITING, true},
        {"gen_server:loop/7", TIMELINE_READY, TIMELINE_WAITING, true},
        {"", TIMELINE_UNKNOWN, TIMELINE_OFF_CPU, false},
    };
    struct timeline *t = followed();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        off(t, (int64_t)i * 10, (int64_t)i * 10 + 1, rows[i].at, rows[i].why);
    timeline_build(t, 0, 200 * MS);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(timeline_row(t, i)->kind, rows[i].kind);
        assert_int_equal(timeline_row(t, i)->inferred, rows[i].inferred);
    }
    assert_int_equal(timeline_sums(t).waiting_ns, 5 * MS);
    timeline_free(t);
}

/* A tail call ends with its caller; recursion counts once. */
TEST(tail_calls_and_recursion)
{
    struct timeline *t = followed();
    for (uint64_t i = 1; i <= 4; i++)
        call(t, i, (int64_t)i * 10, "m:loop/1");
    for (uint64_t i = 4; i >= 1; i--)
        end(t, i, 60);
    call(t, 5, 70, "m:loop/1");
    end(t, 5, 75);
    timeline_build(t, 0, 100 * MS);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(row(t, i, TIMELINE_CALL, "m:loop/1", i)->own_ns, (i < 3 ? 10 : 20) * MS);
    row(t, 4, TIMELINE_CALL, "m:loop/1", 0);
    assert_int_equal(function(t, "m:loop/1")->total_ns, 55 * MS);
    assert_int_equal(function(t, "m:loop/1")->own_ns, 55 * MS);
    timeline_free(t);
}

TEST(open_lost_and_raised)
{
    struct timeline *t = followed();
    call(t, 1, 0, "m:server/0");
    call(t, 2, 10, "m:a/0"); /* ends, but what it calls has lost its end */
    call(t, 3, 20, "m:b/0");
    end(t, 2, 30);
    call(t, 4, 40, "m:c/0");
    assert_true(timeline_end(t, 4, 45 * MS, true, slice_of("error: badarg")));
    assert_true(timeline_gap(t, 50 * MS, 60 * MS, 17, true, slice_of("rate")));
    timeline_build(t, 0, 100 * MS);
    const struct timeline_row *r = row(t, 0, TIMELINE_CALL, "m:server/0", 0);
    assert_int_equal(r->outcome, TIMELINE_OPEN);
    assert_int_equal(r->until_ns, 100 * MS);
    r = row(t, 2, TIMELINE_CALL, "m:b/0", 2);
    assert_int_equal(r->outcome, TIMELINE_LOST);
    assert_int_equal(r->until_ns, 30 * MS);
    r = row(t, 3, TIMELINE_CALL, "m:c/0", 1);
    assert_int_equal(r->outcome, TIMELINE_RAISED);
    assert_true(slice_is(r->reason, "error: badarg"));
    r = row(t, 4, TIMELINE_GAP, "rate", 1);
    assert_int_equal(r->calls, 17);
    const struct timeline_sums s = timeline_sums(t);
    assert_int_equal(s.open, 1);
    assert_int_equal(s.lost, 1);
    assert_int_equal(s.raised, 1);
    assert_int_equal(s.gaps, 1);
    assert_int_equal(s.missing, 17);
    timeline_free(t);
}

/* Of the first caller it is known some time after its call only. */
TEST(says_when_off_cpu_is_known)
{
    struct timeline *t = timeline_new();
    call(t, 1, 0, "m:a/0");
    end(t, 1, 10);
    call(t, 2, 20, "m:a/0");
    end(t, 2, 30);
    call(t, 3, 40, "m:a/0");
    end(t, 3, 50);
    timeline_build(t, 0, 60 * MS);
    assert_false(timeline_row(t, 1)->off_known);
    timeline_follow(t, 5 * MS, true);
    timeline_follow(t, 45 * MS, false);
    timeline_build(t, 0, 60 * MS);
    assert_false(timeline_row(t, 0)->off_known);
    assert_true(timeline_row(t, 1)->off_known);
    assert_false(timeline_row(t, 2)->off_known);
    assert_false(timeline_function(t, 0)->off_known); /* not of all its calls */
    timeline_free(t);
}

static double weight(const struct stacks *s, const char *leaf)
{
    double sum = 0;
    for (uint32_t i = 1; i < stacks_nodes(s); i++)
        if (slice_is(stacks_frame_at(s, stacks_node(s, i)->frame)->name, leaf))
            sum += stacks_node(s, i)->self;
    return sum;
}

TEST(stacks_cover_the_time)
{
    struct timeline *t = followed();
    call(t, 1, 10, "m:a/0");
    end(t, 1, 60);
    call(t, 2, 20, "m:b/0");
    end(t, 2, 30);
    off(t, 40, 55, "timer:sleep/1", TIMELINE_UNKNOWN);
    off(t, 70, 80, "m:loop/0", TIMELINE_WAITS);
    timeline_build(t, 0, 100 * MS);
    struct stacks *s = timeline_stacks(t);
    assert_float_equal(weight(s, "m:a/0"), 25000, 0.5);
    assert_float_equal(weight(s, "m:b/0"), 10000, 0.5);
    assert_float_equal(weight(s, "WAITING(timer:sleep/1)"), 15000, 0.5);
    assert_float_equal(weight(s, "WAITING(m:loop/0)"), 10000, 0.5);
    assert_float_equal(weight(s, "[outside these calls]"), 40000, 0.5);
    assert_float_equal(stacks_total(s), 100000, 0.5);
    stacks_free(s);
    timeline_free(t);
}

TEST(refuses_what_makes_no_sense)
{
    struct timeline *t = followed();
    call(t, 1, 10, "m:a/0");
    assert_false(timeline_call(t, 1, 20 * MS, slice_of("m:b/0")));
    assert_false(timeline_call(t, 2, INT64_MIN, slice_of("m:b/0")));
    assert_false(timeline_end(t, 1, 5 * MS, false, (struct slice){0}));
    assert_false(timeline_end(t, 7, 50 * MS, false, (struct slice){0}));
    end(t, 1, 20);
    assert_false(timeline_end(t, 1, 30 * MS, false, (struct slice){0}));
    assert_false(timeline_off(t, 9, 8, 1, 1, slice_of("m:a/0"), TIMELINE_WAITS));
    assert_false(timeline_gap(t, 0, INT64_MAX, 1, false, slice_of("rate")));
    timeline_build(t, 0, 100 * MS);
    assert_int_equal(timeline_rows(t), 1);
    assert_int_equal(timeline_sums(t).dropped, 7);
    timeline_free(t);
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Times near each other, and the largest there are; ids that come again; any order. */
static int64_t any_time(uint64_t *seed)
{
    const uint64_t n = next(seed);
    return n % 11 == 0 ? (int64_t)next(seed) >> n % 5 : (int64_t)(n % 1000);
}

static void check_rows(const struct timeline *t)
{
    const size_t n = timeline_rows(t);
    for (size_t i = 0; i < n; i++) {
        const struct timeline_row *r = timeline_row(t, i);
        assert_true(r->from_ns <= r->until_ns);
        assert_true(i == 0 || timeline_row(t, i - 1)->from_ns <= r->from_ns);
        assert_true(r->own_ns >= 0 && r->waiting_ns >= 0 && r->off_cpu_ns >= 0);
        assert_true(r->total_ns >= 0 && r->total_ns <= r->until_ns - r->from_ns);
        if (r->parent == TIMELINE_NONE) {
            assert_int_equal(r->depth, 0);
            continue;
        }
        const struct timeline_row *around = timeline_row(t, r->parent);
        assert_true(r->parent < i && around->kind == TIMELINE_CALL);
        assert_int_equal(r->depth, around->depth + 1);
        assert_true(r->from_ns >= around->from_ns);
    }
}

TEST(hostile_events)
{
    for (uint64_t round = 1; round <= 300; round++) {
        struct timeline *t = timeline_new();
        uint64_t seed = round * 0x9e3779b97f4a7c15u;
        static const char *const names[] = {"m:a/0", "m:b/0", "", "timer:sleep/1", "\x1b[2J\xff"};
        for (size_t i = 0; i < 200; i++) {
            const struct slice name = slice_of(names[next(&seed) % ARRAY_LEN(names)]);
            const int64_t a = any_time(&seed), b = any_time(&seed);
            switch (next(&seed) % 6) {
            case 0:
            case 1:
                timeline_call(t, next(&seed) % 100, a, name);
                break;
            case 2:
                timeline_end(t, next(&seed) % 100, a, next(&seed) % 2, name);
                break;
            case 3:
                timeline_off(t, a, b, any_time(&seed), next(&seed), name,
                             (enum timeline_why)(next(&seed) % 3));
                break;
            case 4:
                timeline_gap(t, a, b, next(&seed), next(&seed) % 2, name);
                break;
            case 5:
                timeline_follow(t, a, next(&seed) % 2);
                break;
            }
        }
        timeline_build(t, any_time(&seed), any_time(&seed));
        check_rows(t);
        timeline_build(t, 0, 1000);
        check_rows(t);
        stacks_free(timeline_stacks(t));
        timeline_free(t);
    }
}

/* Deeper than a stack may be, and more than is kept. */
TEST(very_many)
{
    struct timeline *t = followed();
    size_t kept = 0;
    for (uint64_t i = 1; i <= LIMIT_TIMELINE_EVENTS + 10; i++)
        kept += timeline_call(t, i, (int64_t)i, slice_of("m:deep/0"));
    assert_int_equal(kept, LIMIT_TIMELINE_EVENTS);
    timeline_build(t, 0, 2 * (int64_t)LIMIT_TIMELINE_EVENTS);
    assert_int_equal(timeline_sums(t).dropped, 10);
    assert_int_equal(timeline_row(t, kept - 1)->depth, kept - 1);
    assert_int_equal(function(t, "m:deep/0")->open, kept);
    struct stacks *s = timeline_stacks(t);
    assert_true(stacks_nodes(s) <= LIMIT_STACK_DEPTH);
    stacks_free(s);
    timeline_free(t);
}
