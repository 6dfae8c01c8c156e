/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far away a node is, and its clock: of the header's question, which has the node's time in its
 * answer (docs/queries.md). */
#include <math.h>

#include "beamtop/base/clock.h"
#include "live_internal.h"

void live_clock_asked(struct live *l)
{
    l->clock.asked_ns = clock_mono_ns();
    l->clock.asked_us = clock_wall_us();
}

void live_clock_answered(struct live *l)
{
    const struct system_sample *s = model_system(l->model);
    struct live_clock *c = &l->clock;
    if (!s || c->asked_ns == 0)
        return;
    const uint64_t took_ns = clock_mono_ns() - c->asked_ns;
    const double us = (double)took_ns / 1e3;
    const uint64_t node_ns = s->mono_ns ^ (UINT64_C(1) << 63); /* as the node has it */
    const uint64_t middle_ns = c->asked_ns + took_ns / 2;
    c->rounds[c->n++ % LIVE_ROUNDS] =
        (struct live_round){.us = us,
                            .offset_us = (double)(s->wall_us - c->asked_us) - us / 2,
                            .mono_ns = (int64_t)(node_ns - middle_ns),
                            .middle_ns = (int64_t)middle_ns};
    c->asked_ns = 0;
}

bool live_round_trip(const struct live *l, struct live_round *out)
{
    const size_t n = l->clock.n < LIVE_ROUNDS ? l->clock.n : LIVE_ROUNDS;
    *out = (struct live_round){.us = (double)NAN, .offset_us = (double)NAN};
    for (size_t i = 0; i < n; i++)
        if (i == 0 || l->clock.rounds[i].us < out->us)
            *out = l->clock.rounds[i];
    return n > 0;
}

bool live_last_round(const struct live *l, struct live_round *out)
{
    const struct live_clock *c = &l->clock;
    if (c->n > 0)
        *out = c->rounds[(c->n - 1) % LIVE_ROUNDS];
    return c->n > 0;
}

void live_clock_forget(struct live *l)
{
    l->clock = (struct live_clock){0};
}
