/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of lines of several nodes, by simulated clocks. */
#include <math.h>
#include <stdlib.h>

#include "../../test.h"
#include "app/fleet/merge.h"
#include "beamtop/base/alloc.h"

#define MS INT64_C(1000000)
#define SECOND (1000 * MS)

/* A VM's monotonic clock: from `step_ns` on it runs 1% fast, as one that corrects a step of 5 s. */
struct clock {
    int64_t start_ns, step_ns;
};

static int64_t clock_at(const struct clock *c, int64_t ns)
{
    return c->start_ns + ns + (c->step_ns > 0 && ns > c->step_ns ? (ns - c->step_ns) / 100 : 0);
}

static uint64_t seed;

static int64_t random_below(int64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* One a second, with ways of 0.1 to 2 ms that differ there and back. */
static void compare_clocks(struct node_clock *out, const struct clock *c, int64_t until_ns)
{
    for (int64_t at = 0; at < until_ns; at += SECOND) {
        const int64_t there = 100000 + random_below(MS), back = 100000 + random_below(MS);
        const int64_t middle = at + (there + back) / 2;
        node_clock_add(out, &(struct clock_round){.here_ns = middle,
                                                  .offset_ns = clock_at(c, at + there) - middle,
                                                  .bound_ns = (there + back) / 2});
    }
}

static void add_line(struct merge *m, size_t node, int64_t mono_ns, int64_t id, int64_t arrived_ns)
{
    struct merge_line *line = alloc_zero(1, sizeof *line);
    arena_init(&line->arena);
    line->line.mono_ns = mono_ns;
    line->line.id = id;
    line->node = node;
    line->arrived_ns = arrived_ns;
    merge_add(m, line);
}

/* Events of three nodes, at distances of 0 to 4 ms: whatever stands in the wrong order is said to
 * be of the same time, and what is further apart than all bounds is not. */
TEST(test_order_is_never_wrong)
{
    static const struct clock clocks[] = {
        {-576460752303423488, 0}, {-576460752303423488, 20 * SECOND}, {12345, 33 * SECOND}};
    for (unsigned round = 0; round < 20; round++) {
        struct node_clock known[3] = {0};
        int64_t true_ns[3000], latest_ns = 0;
        seed = round;
        for (size_t i = 0; i < 3; i++)
            compare_clocks(&known[i], &clocks[i], 50 * SECOND);
        struct merge *m = merge_new(known, 3);
        for (int64_t id = 0, at = 18 * SECOND; id < 3000; id++, at += random_below(4 * MS)) {
            const size_t node = (size_t)random_below(3);
            true_ns[id] = at;
            add_line(m, node, clock_at(&clocks[node], at), id, at + random_below(300 * MS));
        }
        size_t taken = 0, same = 0;
        for (struct merge_line *line; (line = merge_take(m, INT64_MAX)); taken++) {
            const int64_t when = true_ns[line->line.id];
            assert_true(llabs(line->here_ns - when) <= line->bound_ns);
            if (when < latest_ns)
                assert_true(line->same_time);
            same += line->same_time;
            latest_ns = when > latest_ns ? when : latest_ns;
            assert_false(line->late);
            merge_line_free(line);
        }
        assert_int_equal(taken, 3000);
        assert_true(same < 3000);
        merge_free(m);
    }
}

TEST(test_far_events_are_ordered)
{
    struct node_clock known[2] = {0};
    const struct clock a = {1000, 0}, b = {-5 * SECOND, 0};
    compare_clocks(&known[0], &a, 10 * SECOND);
    compare_clocks(&known[1], &b, 10 * SECOND);
    struct merge *m = merge_new(known, 2);
    for (int64_t id = 0; id < 20; id++)
        add_line(m, id % 2 ? 1 : 0, clock_at(id % 2 ? &b : &a, 2 * SECOND + id * 20 * MS), id,
                 5 * SECOND);
    for (int64_t id = 0; id < 20; id++) {
        struct merge_line *line = merge_take(m, 9 * SECOND);
        assert_non_null(line);
        assert_int_equal(line->line.id, id);
        assert_false(line->same_time);
        merge_line_free(line);
    }
    assert_null(merge_take(m, 9 * SECOND));
    merge_free(m);
}

TEST(test_what_comes_too_late_is_marked)
{
    struct node_clock known[2] = {0};
    const struct clock c = {0, 0};
    compare_clocks(&known[0], &c, 10 * SECOND);
    compare_clocks(&known[1], &c, 10 * SECOND);
    struct merge *m = merge_new(known, 2);
    add_line(m, 0, 3 * SECOND, 1, 3 * SECOND);
    add_line(m, 0, 8 * SECOND, 2, 8 * SECOND);
    struct merge_line *line = merge_take(m, 4 * SECOND);
    assert_int_equal(line->line.id, 1);
    merge_line_free(line);
    assert_null(merge_take(m, 4 * SECOND)); /* the other is of later */
    add_line(m, 1, 2 * SECOND, 3, 5 * SECOND);
    line = merge_take(m, 4 * SECOND);
    assert_int_equal(line->line.id, 3);
    assert_true(line->late);
    merge_line_free(line);
    assert_int_equal(merge_len(m), 1);
    merge_free(m);
}

/* One that waits for ten minutes has the clock of its own time. */
TEST(test_a_line_that_waits_stays_exact)
{
    struct node_clock known[1] = {0};
    const struct clock c = {0, 20 * SECOND};
    compare_clocks(&known[0], &c, 10 * SECOND);
    struct merge *m = merge_new(known, 1);
    add_line(m, 0, 3 * SECOND, 1, 4 * SECOND);
    merge_settle(m, 5 * SECOND);
    for (int64_t at = 10 * SECOND; at < 600 * SECOND; at += SECOND)
        node_clock_add(&known[0], &(struct clock_round){.here_ns = at,
                                                        .offset_ns = clock_at(&c, at) - at,
                                                        .bound_ns = MS});
    struct merge_line *line = merge_take(m, INT64_MAX);
    assert_true(line->bound_ns < 10 * MS);
    assert_true(llabs(line->here_ns - 3 * SECOND) <= line->bound_ns);
    merge_line_free(line);
    merge_free(m);
}

/* What a node says of its clock may be anything. */
TEST(test_absurd_clocks)
{
    struct node_clock known[2] = {0};
    const int64_t absurd[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, 0};
    for (size_t i = 0; i < ARRAY_LEN(absurd); i++)
        node_clock_add(&known[0], &(struct clock_round){.here_ns = (int64_t)i * SECOND,
                                                        .offset_ns = absurd[i],
                                                        .bound_ns = MS});
    struct merge *m = merge_new(known, 2);
    for (size_t i = 0; i < ARRAY_LEN(absurd); i++)
        for (size_t node = 0; node < 2; node++)
            add_line(m, node, absurd[i], (int64_t)i, 7 * SECOND);
    size_t n = 0;
    for (struct merge_line *line; (line = merge_take(m, INT64_MAX)); n++)
        merge_line_free(line);
    assert_int_equal(n, 2 * ARRAY_LEN(absurd));
    merge_free(m);
}
