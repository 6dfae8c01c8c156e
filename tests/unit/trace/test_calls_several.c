/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the windows of several nodes, and how each form shows them. */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/calls_several.h"

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof text - 1                                                                      \
    }
#define UNTIMED                                                                                    \
    .timed_calls = CALLS_UNKNOWN, .own_us = CALLS_UNKNOWN, .words = CALLS_UNKNOWN,                 \
    .us_per_call = NAN, .words_per_call = NAN, .own_share = NAN

static const struct calls_function at_a[] = {
    {S("w"), S("f"), S("shop"), 1, 1000, 500, 0.6, NAN, 10, 50, 20, 5, 2, 0.1, false, {0}},
    {S("w"), S("g"), S("shop"), 1, 600, 300, 0.4, NAN, UNTIMED, .name = {0}},
};
static const struct calls_function at_b[] = {
    {S("w"), S("f"), S("shop"), 1, 200, 200, 0.7, NAN, 30, 30, 60, 1, 2, 0.1, false, {0}},
    {S("w"), S("h"), S("shop"), 1, 80, 80, 0.3, NAN, UNTIMED, .name = {0}},
};
static const struct calls_sum shop = {S(""), S("shop"), 2, 1600, 800, 1, NAN, .name = {0}};
static const struct slice excluded[] = {S("w:h/1")};

static struct calls_window window_of(const struct calls_function *rows, size_t n, uint64_t called,
                                     uint64_t calls, double per_s)
{
    return (struct calls_window){.number = 1,
                                 .functions = 10,
                                 .called = called,
                                 .calls = calls,
                                 .calls_per_s = per_s,
                                 .rows = rows,
                                 .n_rows = n,
                                 .applications = &shop,
                                 .n_applications = 1};
}

static const struct calls_several_function *find(const struct calls_several *w, const char *name)
{
    for (size_t i = 0; i < w->n_rows; i++)
        if (slice_is(w->rows[i].function, name))
            return &w->rows[i];
    fail_msg("no %s", name);
    return NULL;
}

static void make(struct calls_several *out, struct arena *arena, const struct calls_window *a,
                 const struct calls_window *b, bool b_counts, size_t top)
{
    const struct calls_part parts[] = {{S("a@h"), a, true, {0}},
                                       {S("b@h"), b, b_counts, S("lost")},
                                       {S("c@h"), NULL, false, S("left out")}};
    arena_init(arena);
    calls_several_make(out, arena, 7, parts, 3, top);
}

TEST(test_sums_have_their_spread)
{
    struct calls_several w;
    struct arena arena;
    const struct calls_window a = window_of(at_a, 2, 2, 1600, 800);
    const struct calls_window b = window_of(at_b, 2, 2, 280, 280);
    make(&w, &arena, &a, &b, true, 10);
    assert_true(w.number == 7 && w.nodes == 3 && w.counted == 2 && w.calls == 1880);
    assert_true(w.calls_per_s == 1080);
    const struct calls_several_function *f = &w.rows[0];
    assert_true(slice_is(f->function, "f") && f->nodes == 2 && f->calls == 1200);
    assert_true(f->calls_per_s == 700 && f->unlisted == 0 && f->bound == BOUND_NONE);
    assert_true(slice_is(f->most_node, "a@h") && f->most_per_s == 500);
    assert_true(slice_is(f->least_node, "b@h") && f->least_per_s == 200);
    assert_true(f->own_us == 80 && f->timed_calls == 40 && f->us_per_call == 2);
    assert_true(f->least_us == 1 && slice_is(f->least_us_node, "b@h") && f->most_us == 5);
    assert_true(f->n_by_node == 2 && slice_is(f->by_node[0].node, "a@h"));
    /* A node whose list is complete has not called what it does not list. */
    assert_true(find(&w, "g")->least_per_s == 0 && slice_is(find(&w, "g")->least_node, "b@h"));
    assert_true(find(&w, "g")->own_us == CALLS_UNKNOWN && isnan(find(&w, "g")->us_per_call));
    assert_true(w.n_applications == 1 && w.applications[0].calls == 3200);
    assert_true(w.n_parts == 3 && w.parts[2].calls == CALLS_UNKNOWN && !w.parts[2].counted);
    arena_clear(&arena);
}

TEST(test_what_a_list_leaves_out_is_said)
{
    struct calls_several w;
    struct arena arena;
    const struct calls_window a = window_of(at_a, 2, 9, 1600, 800);
    struct calls_window b = window_of(at_b, 2, 2, 280, 280);
    make(&w, &arena, &a, &b, true, 10);
    /* The list of a ends at 600 calls. */
    assert_true(find(&w, "h")->unlisted == 600 && find(&w, "h")->bound == BOUND_AT_LEAST);
    /* a may have called it less, or more. */
    assert_true(isnan(find(&w, "h")->least_per_s) && find(&w, "h")->least_node.len == 0);
    assert_true(isnan(find(&w, "h")->most_per_s) && find(&w, "h")->most_node.len == 0);
    assert_true(find(&w, "f")->unlisted == 0 && find(&w, "g")->unlisted == 0);
    arena_clear(&arena);
    /* Not counted there, or its counter is lost: nobody knows. */
    struct calls_window whole = window_of(at_a, 2, 2, 1600, 800);
    whole.excluded = excluded;
    whole.n_excluded = 1;
    make(&w, &arena, &whole, &b, true, 10);
    assert_true(find(&w, "h")->unlisted == CALLS_UNKNOWN && find(&w, "g")->unlisted == 0);
    arena_clear(&arena);
    b.lost = 1;
    make(&w, &arena, &a, &b, true, 10);
    assert_true(find(&w, "g")->unlisted == CALLS_UNKNOWN);
    arena_clear(&arena);
}

TEST(test_a_lost_node_is_in_no_sum)
{
    struct calls_several w;
    struct arena arena;
    const struct calls_window a = window_of(at_a, 2, 2, 1600, 800);
    const struct calls_window b = window_of(at_b, 2, 2, 280, 280);
    make(&w, &arena, &a, &b, false, 1);
    assert_true(w.counted == 1 && w.calls == 1600 && w.n_rows == 1 && w.rows[0].calls == 1000);
    assert_true(w.parts[1].calls == 280 && slice_is(w.parts[1].why, "lost"));
    arena_clear(&arena);
}

/* A node may name a function twice, count to the end of numbers, or have nothing. */
TEST(test_odd_windows)
{
    struct calls_several w;
    struct arena arena;
    struct calls_function twice[] = {at_a[0], at_a[0]};
    twice[0].calls = UINT64_MAX - 1;
    const struct calls_window a = window_of(twice, 2, 2, UINT64_MAX - 1, NAN);
    const struct calls_window b = window_of(at_b, 2, 2, 280, 280);
    const struct calls_window none = window_of(NULL, 0, 0, 0, NAN);
    make(&w, &arena, &a, &b, true, 10);
    assert_true(w.rows[0].nodes == 2 && w.rows[0].calls == CALLS_UNKNOWN - 1);
    assert_true(w.calls == CALLS_UNKNOWN - 1);
    arena_clear(&arena);
    make(&w, &arena, &none, &none, true, 10);
    assert_true(w.n_rows == 0 && w.calls == 0 && w.n_modules == 0);
    arena_clear(&arena);
}
