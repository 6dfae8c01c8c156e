/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the target bore for us, and whether it does anything else. */
#include "live_internal.h"

/* The shortest time over which the share of a scheduler is worked out. */
#define SHARE_WINDOW_MS 10000u
/* What a scan waits for a process that does not yield is none of its work, but looks like it. */
#define LATE_MS 200

/* Idle: others use some milliseconds of a scheduler per second. Native code counts few reductions:
   each scheduler must be known to be used little, too, by others than us. */
#define IDLE_REDUCTIONS_PER_S 200000.0
#define IDLE_USE 0.05
/* So many answers in a row say so; one that does not ends it. Ticks count alike, however far apart:
   a pause of a busy node must not. */
#define IDLE_ANSWERS 20u

void live_note_cost(struct live *l, double target_us)
{
    l->spent[l->spent_next++ % SPENT_ENTRIES] = (struct spent){uv_now(l->loop), target_us};
    l->tick_us += target_us;
}

/* Our work of that last time in us; when the oldest answer of it came. */
static double spent_us(const struct live *l, uint64_t window_ms, uint64_t *oldest_ms)
{
    uint64_t now = uv_now(l->loop);
    double sum_us = 0;
    *oldest_ms = now;
    for (size_t i = 0; i < SPENT_ENTRIES; i++) {
        const struct spent *s = &l->spent[i];
        if (s->at_ms == 0 || s->at_ms + window_ms < now)
            continue;
        sum_us += s->target_us;
        if (s->at_ms < *oldest_ms)
            *oldest_ms = s->at_ms;
    }
    return sum_us;
}

double live_spent_share(const struct live *l, double others_s)
{
    uint64_t window_ms = (uint64_t)(others_s * 3000), oldest_ms;
    double sum_us =
        spent_us(l, window_ms < SHARE_WINDOW_MS ? SHARE_WINDOW_MS : window_ms, &oldest_ms);
    /* The oldest answer paid for the interval that followed it. */
    double span_s = (double)(uv_now(l->loop) - oldest_ms) / 1000.0 + others_s;
    return sum_us / 1e6 / span_s;
}

bool live_is_late(const struct live *l)
{
    const struct system_sample *s = model_system(l->model);
    return s && s->late_ms >= LATE_MS;
}

static bool is_idle(const struct live *l, const struct system_sample *s)
{
    uint64_t oldest_ms;
    if (!(s->interval_s > 0) || live_is_late(l))
        return false;
    double our_use =
        spent_us(l, (uint64_t)(s->interval_s * 1000), &oldest_ms) / 1e6 / s->interval_s;
    for (size_t i = 0; i < s->n_schedulers; i++)
        if (!(s->schedulers[i].use <= IDLE_USE + our_use))
            return false;
    return s->reductions_per_s - s->own_reductions_per_s < IDLE_REDUCTIONS_PER_S;
}

void live_look_for_work(struct live *l)
{
    const struct system_sample *s = model_system(l->model);
    l->idle_answers = s && !l->want.steady && is_idle(l, s) ? l->idle_answers + 1 : 0;
    l->governor.idle = l->idle_answers >= IDLE_ANSWERS;
}
