/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of processes go to the innermost span of that moment. */

#include "../../../test.h"
#include "beamtop/model/stacks.h"
#include "events.h"

#define MS INT64_C(1000000)

/* The root calls srv from 2 to 9 ms. */
static const char *const events[] = {
    "1000000 1 root <0.90.0> - <0.90.0> 0 0 - - 0 m:f/1",
    "2000000 2 send <0.90.0> <0.55.0> <0.90.0> 0 1 call #Ref<1.2.3> 10 work",
    "2100000 3 receive <0.55.0> <0.90.0> <0.90.0> 0 1 call #Ref<1.2.3> 10 work",
    "8900000 4 send <0.55.0> - <0.90.0> 1 5 reply #Ref<1.2.3> 4 -",
    "9000000 5 receive <0.90.0> <0.55.0> <0.90.0> 1 5 reply #Ref<1.2.3> 4 -",
    "9500000 6 return <0.90.0> - <0.90.0> 0 0 - - 0 -",
};

static struct spans *built(void)
{
    const struct spans_options options = {.node = slice_of("a@h"), .capture = 7};
    struct spans *s = spans_new(&options);
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        event_feed(s, events[i]);
    spans_build(s);
    assert_int_equal(spans_count(s), 2);
    return s;
}

static uint32_t stack_of(struct stacks *stacks, const char *const *names)
{
    uint32_t at = 0;
    for (; *names; names++) {
        const struct sample_frame f = {.kind = FRAME_ERLANG, .name = slice_of(*names)};
        at = stacks_step(stacks, at, stacks_frame(stacks, &f));
    }
    return at;
}

static void expect_stack(const struct spans *s, const struct span_stack *of, const char *first,
                         size_t depth)
{
    const struct sample_frame *frames[LIMIT_STACK_DEPTH];
    assert_int_equal(span_stack_frames(s, of, frames), depth);
    assert_true(slice_is(frames[0]->name, first));
}

TEST(test_innermost)
{
    static const char *const in_root[] = {"proc_lib:init/3", "m:f/1", "m:inner/0", NULL};
    static const char *const in_other[] = {"proc_lib:init/3", "m:f/1", "m:other/0", NULL};
    static const char *const in_server[] = {"proc_lib:init/3", "srv:work/1", NULL};
    struct spans *s = built();
    struct stacks *stacks = stacks_new();
    const uint32_t root = stack_of(stacks, in_root), other = stack_of(stacks, in_other),
                   server = stack_of(stacks, in_server);
    /* Not by time: a sampler has a reader for each CPU. */
    const struct span_sample samples[] = {
        {55, 0, 3 * MS, server},  {90, 0, 9200000, root},   {90, 0, 1500000, other},
        {90, 0, 1600000, root},   {55, 0, 5 * MS, server},  {90, 0, MS / 2, root},
        {90, 0, 9600000, root},   {55, 0, 2050000, server}, {55, 0, 8950000, server},
        {90, 1, 1500000, root},   {99, 0, 1500000, root},   {0, 0, 1500000, root},
        {90, 0, INT64_MIN, root}, {90, 0, INT64_MAX, root},
    };
    struct stacks *before = spans_stacks(s, SPAN_NONE, false);
    size_t n;
    assert_false(spans_have_samples(s));
    assert_null(spans_sampled(s, 0, &n));
    assert_int_equal(spans_take_samples(s, stacks, samples, ARRAY_LEN(samples)), 5);
    assert_true(spans_have_samples(s));
    const struct span_stack *of = spans_sampled(s, 0, &n);
    assert_int_equal(n, 2);
    assert_int_equal(of[0].samples, 2);
    assert_int_equal(of[1].samples, 1);
    expect_stack(s, &of[0], "m:inner/0", 1); /* within the function of the span */
    expect_stack(s, &of[1], "m:other/0", 1);
    of = spans_sampled(s, 1, &n);
    assert_int_equal(n, 1);
    assert_int_equal(of[0].samples, 2);
    expect_stack(s, &of[0], "proc_lib:init/3", 2);
    /* The same time, by more frames. */
    struct stacks *after = spans_stacks(s, SPAN_NONE, false);
    assert_true(stacks_total(before) - stacks_total(after) < 1e-6 &&
                stacks_total(after) - stacks_total(before) < 1e-6);
    assert_true(stacks_nodes(after) > stacks_nodes(before));
    stacks_free(before);
    stacks_free(after);
    spans_free(s);
}

TEST(test_nothing)
{
    struct spans *s = built();
    size_t n;
    assert_int_equal(spans_take_samples(s, stacks_new(), NULL, 0), 0);
    assert_true(spans_have_samples(s));
    assert_null(spans_sampled(s, 1, &n));
    spans_free(s);
}
