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
    free(run);
}

void spans_run_join(struct spans_run *run, const struct spans_run *side)
{
    struct spans_side *is = &run->side;
    snprintf(is->node, sizeof is->node, "%s", side->node);
    snprintf(is->otp, sizeof is->otp, "%s", side->otp);
    is->events = side->events;
    is->skipped = side->skipped;
    is->end = side->end;
    is->arm_us = side->arm_us;
    is->disarm_us = side->disarm_us;
    is->target_us = side->target_us;
    is->bytes = side->bytes;
    is->by = side->by;
    is->check = side->status.check;
    is->clock = (struct spans_clock){.least_ns = side->here.least_ns - run->here.most_ns,
                                     .most_ns = side->here.most_ns - run->here.least_ns};
    spans_join(run->spans, side->spans, &is->clock);
    spans_build(run->spans);
    run->version++;
}

int64_t spans_run_wall_ns(const struct spans_run *run, int64_t mono_ns)
{
    return run->wall_us * 1000 + (mono_ns - run->mono_ns);
}
