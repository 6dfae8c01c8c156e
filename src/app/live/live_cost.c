/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What beamtop costs the node, and whether the node does anything else. */
#include <math.h>

#include "live_internal.h"

/* The shortest time over which the share of a scheduler is worked out. */
#define SHARE_WINDOW_MS 10000u
/* A failure raises a question's price at most so many times; limit of the first price. */
#define FAILED_MOST 4.0
#define FAILED_FIRST_US 1e6

void live_note_cost(struct live *l, double target_us)
{
    l->spent[l->spent_next++ % SPENT_ENTRIES] = (struct spent){uv_now(l->loop), target_us};
    l->tick_us += target_us;
}

static uint64_t link_bytes(const struct live *l)
{
    const struct conn_stats *stats = conn_stats(l->conn);
    return stats->bytes_in + stats->bytes_out;
}

void live_begin_cost(struct live *l)
{
    l->tick_us = 0;
    l->bytes_before = link_bytes(l);
}

void live_take_cost(struct live *l)
{
    l->cost.target_us = l->tick_us;
    l->cost.bytes = (double)(link_bytes(l) - l->bytes_before);
}

void live_end_header(struct live *l)
{
    if (l->options.recorded) {
        live_take_cost(l);
        live_begin_cost(l);
        model_set_cost(l->model, &l->cost);
    }
    if (l->handlers.on_tick)
        l->handlers.on_tick(l->arg);
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
    double period_s = (double)(uv_now(l->loop) - oldest_ms) / 1000.0 + others_s;
    return sum_us / 1e6 / period_s;
}

bool live_is_late(const struct live *l)
{
    const struct system_sample *s = model_system(l->model);
    return s && s->late_ms >= GOVERNOR_LATE_MS;
}

/* A failed or stopped question cost the node something too, but it may have waited for most of
 * that time: its price rises by steps. Times of a late node are ignored. */
void live_note_answer(struct live *l, const struct answer *answer)
{
    const double us = answer->target_us, known_us = l->governor.cost_us[answer->question];
    if (us <= 0)
        return;
    live_note_cost(l, us);
    if (live_is_late(l) && known_us > 0)
        return;
    if (answer->value)
        governor_note(&l->governor, answer->question, us);
    else if (us > known_us)
        governor_note(&l->governor, answer->question,
                      fmin(us, known_us > 0 ? FAILED_MOST * known_us : FAILED_FIRST_US));
}

/* Of their mean, as a process that just ran is often seen in a queue. */
#define BUSY_USE 0.9

static void tell_price(struct live *l, const struct system_sample *s)
{
    const struct node_info *n = model_node(l->model);
    const double normal = n ? (double)n->schedulers : 0;
    const double all = n ? (double)(n->schedulers + n->dirty_cpu + n->dirty_io) : 0;
    query_node(l->query, all, s->use_normal > 0 ? fmin(s->use_normal, 1) : 0,
               s->use_normal >= BUSY_USE || (normal > 0 && (double)s->run_queue > normal));
}

void live_look_for_work(struct live *l)
{
    const struct system_sample *s = model_system(l->model);
    uint64_t oldest_ms;
    if (!s)
        return;
    tell_price(l, s);
    double us = spent_us(l, s->interval_s > 0 ? (uint64_t)(s->interval_s * 1000) : 0, &oldest_ms);
    governor_look_for_work(&l->governor, s, us / 1e6 / s->interval_s, l->want.steady);
}
