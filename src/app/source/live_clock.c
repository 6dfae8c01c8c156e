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
    const double us = (double)(clock_mono_ns() - c->asked_ns) / 1e3;
    c->rounds[c->n++ % LIVE_ROUNDS] =
        (struct live_round){us, (double)(s->wall_us - c->asked_us) - us / 2};
    c->asked_ns = 0;
}

bool live_round_trip(const struct live *l, struct live_round *out)
{
    const size_t n = l->clock.n < LIVE_ROUNDS ? l->clock.n : LIVE_ROUNDS;
    *out = (struct live_round){(double)NAN, (double)NAN};
    for (size_t i = 0; i < n; i++)
        if (i == 0 || l->clock.rounds[i].us < out->us)
            *out = l->clock.rounds[i];
    return n > 0;
}

void live_clock_forget(struct live *l)
{
    l->clock = (struct live_clock){0};
}
