/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/spans_run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"

#define SPANS_KEY(name, key, text) {key, text},
static const struct {
    const char *key, *text;
} ends[] = {SPANS_END_LIST(SPANS_KEY)};
#undef SPANS_KEY

const char *spans_end_key(enum spans_end end)
{
    assert((size_t)end < ARRAY_LEN(ends));
    return ends[end].key;
}

const char *spans_end_text(enum spans_end end)
{
    return (size_t)end < ARRAY_LEN(ends) ? ends[end].text : "-";
}

struct spans_run *spans_run_new(const struct spans_options *options)
{
    struct spans_run *run = alloc_zero(1, sizeof *run);
    run->spans = spans_new(options);
    run->full = options->full;
    run->calls_per_s = run->load = run->seconds = (double)NAN;
    run->arm_us = run->disarm_us = run->target_us = (double)NAN;
    return run;
}

void spans_run_free(struct spans_run *run)
{
    if (!run)
        return;
    spans_free(run->spans);
    free(run->sides);
    free(run);
}

static struct spans_side side_of(const struct spans_run *of, const struct spans_clock *clock)
{
    struct spans_side side = {
        .roots = of->roots,
        .open = of->open,
        .functions = of->functions,
        .events = of->events,
        .skipped = of->skipped,
        .end = of->end,
        .arm_us = of->arm_us,
        .disarm_us = of->disarm_us,
        .target_us = of->target_us,
        .bytes = of->bytes,
        .by = of->by,
        .check = of->status.check,
        .clock = *clock,
    };
    snprintf(side.node, sizeof side.node, "%s", of->node);
    snprintf(side.otp, sizeof side.otp, "%s", of->otp);
    return side;
}

void spans_run_join(struct spans_run *run, const struct spans_run *const *others, size_t n)
{
    struct spans_joined *joined = alloc_zero(n + 1, sizeof *joined);
    for (size_t i = 0; i < n; i++)
        joined[i] =
            (struct spans_joined){others[i]->spans,
                                  {.least_ns = others[i]->here.least_ns - run->here.most_ns,
                                   .most_ns = others[i]->here.most_ns - run->here.least_ns}};
    spans_join(run->spans, joined, n);
    run->sides = alloc_zero(n + 1, sizeof *run->sides);
    run->n_sides = n;
    for (size_t i = 0; i < n; i++) {
        run->sides[i] = side_of(others[i], &joined[i].clock);
        run->roots += others[i]->roots;
        run->open += others[i]->open;
    }
    free(joined);
    spans_build(run->spans);
    run->version++;
}

int64_t spans_run_wall_ns(const struct spans_run *run, int64_t mono_ns)
{
    return run->wall_us * 1000 + (mono_ns - run->mono_ns);
}
