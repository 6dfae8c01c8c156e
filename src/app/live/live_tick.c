/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ticks: begun by the timer or by what the user changes, ended with their last answer. */
#include <math.h>
#include <string.h>

#include "live_internal.h"

/* The header's second tick comes early, so that rates are there soon after the start. */
#define SECOND_TICK_MS 300u
/* After that long a header is a tick of a recording, whether or not the first one is over. */
#define FIRST_TICK_MS 2000u

void live_reset_tick(struct live *l)
{
    l->had_tick = false;
    l->asked = l->pending = l->deferred = l->again = l->reported = l->holding = 0;
    l->spent_next = 0;
    l->rows_due_ms = l->seldom_due_ms = 0;
    governor_begin(&l->governor);
    memset(l->spent, 0, sizeof l->spent);
}

void live_end_tick(struct live *l)
{
    struct governor_plan plan;
    live_plan(l, &plan);
    const double real_s = live_paced_by(l) & l->governor.apart ? plan.apart_s : plan.others_s;
    if (l->tick_full || live_paced_by(l) == 0 || l->options.recorded)
        live_take_cost(l);
    l->cost.share = live_spent_share(l, fmax(plan.others_s, plan.apart_s));
    live_plan_again(l, &plan);
    live_log_why(l, &plan);
    model_set_cost(l->model, &l->cost);
    model_set_interval(l->model, &(struct interval_info){l->governor.interval_s, real_s,
                                                         l->governor.budget, plan.why, plan.idle});
    if (l->handlers.on_tick)
        l->handlers.on_tick(l->arg);
}

/* ---- begun by the timer */

void live_tick_timer(struct live *l)
{
    struct governor_plan plan;
    question_mask all = live_wanted(&l->want), questions = 0;
    uint64_t now = uv_now(l->loop);
    live_plan(l, &plan);

    if (l->pending & QUESTION_BIT(QUESTION_SYSTEM))
        live_note_silence(l);
    /* All answers are of one moment: ask again only when all have come. */
    if (live_waits_for_all(l) && l->pending != 0) {
        if (!l->options.together)
            live_arm(l, l->first_until_ms);
        return;
    }
    if (now >= l->header_due_ms) {
        questions |= QUESTION_BIT(QUESTION_SYSTEM);
        l->header_began_ms = now;
        l->header_due_ms = live_after_s(now, plan.header_s);
    }
    if (now >= l->others_due_ms) {
        questions |= all & ~l->governor.apart;
        l->others_began_ms = now;
        l->others_due_ms = live_after_s(now, plan.others_s);
        /* Ask them together while they have the same interval. */
        if (plan.others_s <= plan.header_s)
            l->header_due_ms = l->others_due_ms;
        l->had_second = true;
    }
    if (questions && !l->paused && !l->held && live_seldom_is_due(l, now))
        questions |= QUESTION_BIT(QUESTION_SCAN);
    if (questions && (l->options.together || live_apart_is_due(l, &plan, now))) {
        questions |= all & l->governor.apart;
        l->apart_began_ms = now;
    }
    if (!l->paused && !l->held)
        live_ask_all(l, questions);
    if (l->rows_due_ms != 0 && now >= l->rows_due_ms) {
        live_plan_rows(l);
        l->deferred |= l->rows_due_ms != 0 ? QUESTION_BIT(QUESTION_ROWS) : 0;
        if (!(l->pending & QUESTION_BIT(QUESTION_SYSTEM)))
            live_ask_deferred(l);
    }
    live_arm_next(l);
}

void live_tick_start(struct live *l)
{
    struct governor_plan plan;
    live_plan(l, &plan);
    l->header_due_ms = l->others_due_ms = uv_now(l->loop) + SECOND_TICK_MS;
    l->others_began_ms = uv_now(l->loop);
    l->apart_began_ms = plan.apart_s > plan.header_s ? uv_now(l->loop) : 0;
    l->first_until_ms = uv_now(l->loop) + FIRST_TICK_MS;
    l->had_second = false;
    live_ask_all(l, QUESTION_BIT(QUESTION_NODE) | live_wanted(&l->want));
    live_arm_next(l);
}

void live_tick_now(struct live *l)
{
    if (l->phase != PHASE_RUNNING || l->paused || l->held)
        return;
    l->header_due_ms = l->others_due_ms = uv_now(l->loop);
    l->apart_began_ms = 0;
    live_arm_next(l);
}

void live_refresh(struct live *l)
{
    if (l->phase == PHASE_RUNNING)
        live_ask_all(l, live_wanted(&l->want));
}

/* ---- what the user changes */

/* Asks these now, or once the answers on their way are here. */
static void ask_soon(struct live *l, question_mask questions)
{
    if (l->phase != PHASE_RUNNING)
        return;
    l->again |= questions & l->pending;
    questions &= ~l->pending;
    if (questions)
        live_ask_all(l, questions);
}

void live_set_want(struct live *l, const struct want *want)
{
    struct want before = l->want;
    l->want = *want;
    l->want.needs |= NEED(SYSTEM);
    if (!live_is_seldom(&l->want))
        l->governor.seldom_us = 0;
    live_end_unwanted(l);
    if (live_wants_more(&l->want, &before))
        ask_soon(l, live_wanted(&l->want) & ~QUESTION_BIT(QUESTION_SYSTEM));
}

int live_set_filter(struct live *l, const char *expression, size_t *error_offset, struct error *err)
{
    int rc = filter_set(l->filter, expression, error_offset, err);
    live_tell_filter(l);
    if (rc == 0 && (live_wanted(&l->want) & NEED(SCAN)))
        ask_soon(l, QUESTION_BIT(QUESTION_SCAN));
    return rc;
}
