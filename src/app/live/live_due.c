/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When questions are due: as the governor says, and what else is asked between two ticks. */
#include <math.h>
#include <stdio.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "live_internal.h"

/* Without an answer to the header's question for so long, what is shown is old. */
#define SILENT_MS 1000u
/* Of the header's interval: what is due that much later is asked with it. */
#define EARLY 0.1
/* A batch run whose ticks are so far apart says why: else it is silent for that long. */
#define WORTH_WAITING_S 2.0
/* So many times further apart than the log says, the reason is logged again. */
#define WORTH_LOGGING 2.0

uint64_t live_after_s(uint64_t ms, double seconds)
{
    return ms + (uint64_t)(seconds * 1000.0);
}

void live_plan(const struct live *l, struct governor_plan *plan)
{
    governor_plan(&l->governor, live_wanted(&l->want) | (l->want.needs & NEED(ROWS)), plan);
}

question_mask live_paced_by(const struct live *l)
{
    const question_mask apart = live_wanted(&l->want) & l->governor.apart;
    const question_mask swept = live_wanted(&l->want) & question_paced(PACE_TICK) & ~apart;
    return swept ? swept : apart;
}

void live_arm(struct live *l, uint64_t due_ms)
{
    uint64_t now = uv_now(l->loop);
    uv_timer_start(l->timer, l->on_timer, due_ms > now ? due_ms - now : 0, 0);
}

void live_arm_next(struct live *l)
{
    uint64_t due = l->header_due_ms < l->others_due_ms ? l->header_due_ms : l->others_due_ms;
    if (l->rows_due_ms != 0 && l->rows_due_ms < due)
        due = l->rows_due_ms;
    uint64_t silent_ms = l->asked_at_ms + SILENT_MS;
    if (l->pending & QUESTION_BIT(QUESTION_SYSTEM) && silent_ms > uv_now(l->loop) &&
        silent_ms < due)
        due = silent_ms;
    live_arm(l, due);
}

void live_note_silence(struct live *l)
{
    if (uv_now(l->loop) < l->asked_at_ms + SILENT_MS)
        return;
    model_set_link(l->model, LINK_STALE, "");
    if (l->handlers.on_change)
        l->handlers.on_change(l->arg, 0);
}

void live_plan_again(struct live *l, const struct governor_plan *plan)
{
    uint64_t now = uv_now(l->loop);
    if (l->phase != PHASE_RUNNING || l->header_due_ms <= now || l->others_due_ms <= now ||
        !l->had_second)
        return;
    l->others_due_ms = live_after_s(l->others_began_ms, plan->others_s);
    l->header_due_ms = live_after_s(l->header_began_ms, plan->header_s);
    if (plan->others_s <= plan->header_s)
        l->header_due_ms = l->others_due_ms;
    live_arm_next(l);
}

void live_plan_rows(struct live *l)
{
    struct governor_plan plan;
    live_plan(l, &plan);
    l->rows_due_ms = plan.rows_s > 0 ? live_after_s(uv_now(l->loop), plan.rows_s) : 0;
}

/* Uses the costs of the current plan, not of the plan when the questions were last asked. */
bool live_apart_is_due(const struct live *l, const struct governor_plan *plan, uint64_t now)
{
    return live_after_s(now, plan->header_s * EARLY) >=
           live_after_s(l->apart_began_ms, plan->apart_s);
}

bool live_waits_for_all(const struct live *l)
{
    return l->options.together ||
           (l->options.recorded && !l->had_tick && uv_now(l->loop) < l->first_until_ms);
}

double live_next_s(const struct live *l)
{
    const question_mask paced = live_paced_by(l);
    struct governor_plan plan;
    uint64_t due_ms = l->others_due_ms;
    if (l->phase != PHASE_RUNNING || l->paused || l->held || paced == 0 || (l->pending & paced))
        return (double)NAN;
    live_plan(l, &plan);
    if (paced & l->governor.apart)
        due_ms = live_after_s(l->apart_began_ms, plan.apart_s);
    return ((double)due_ms - (double)uv_now(l->loop)) / 1000;
}

/* ---- why they are further apart than asked for */

void live_log_why(struct live *l, const struct governor_plan *plan)
{
    double logged_s = l->logged_s;
    bool waits =
        l->options.together && plan->why_s >= WORTH_WAITING_S && logged_s < WORTH_WAITING_S;
    if (plan->why_s > 0 && !waits && logged_s > 0 && plan->why_s < logged_s * WORTH_LOGGING)
        return;
    l->logged_s = plan->why_s;
    if (plan->why_s > 0)
        model_journal(l->model, clock_wall_us(), true, "%s", plan->why);
    if (waits && l->handlers.on_notice)
        l->handlers.on_notice(l->arg, plan->why);
}

/* ---- a scan that no view shows */

/* So often at most, and for so much of the cost limit. */
#define SELDOM_MS 10000.0
#define SELDOM_SHARE 0.25

/* Whether a scan that no view shows is due: the more it costs, the longer the wait. Before the
 * first one its cost is estimated from the number of processes. */
bool live_seldom_is_due(struct live *l, uint64_t now)
{
    const struct system_sample *s = model_system(l->model);
    if (!live_is_seldom(&l->want) || !s || l->governor.budget <= 0)
        return false;
    governor_expect(&l->governor, s->processes);
    const double paid_ms =
        l->governor.cost_us[QUESTION_SCAN] / 1000 / (l->governor.budget * SELDOM_SHARE);
    if (l->seldom_due_ms == 0)
        l->seldom_due_ms = now + (uint64_t)(2 * paid_ms); /* the first starts the parts, too */
    if (now < l->seldom_due_ms)
        return false;
    const double every_ms = fmax(paid_ms, SELDOM_MS);
    l->seldom_due_ms = now + (uint64_t)every_ms;
    l->governor.seldom_us = l->governor.cost_us[QUESTION_SCAN] / (every_ms / 1000);
    return true;
}

/* ---- the second tick */

/* Two sweeps of so many processes with an interval between them take more than WORTH_WAITING_S. */
#define MANY 500000

/* Says why a batch run prints nothing yet. */
static void tell_first_sweep(const struct live *l, const struct system_sample *s)
{
    char text[100], n[32];
    if (s->processes < MANY || !(live_wanted(&l->want) & question_paced(PACE_TICK)) ||
        !l->handlers.on_notice)
        return;
    snprintf(text, sizeof text, "%s processes: the first answer takes several seconds",
             text_integer(n, sizeof n, (int64_t)s->processes));
    l->handlers.on_notice(l->arg, text);
}

/* The second sweep may not come as early as the header's second tick. The first sweep has not
 * been measured yet, so its cost is estimated from the number of processes. */
void live_space_out(struct live *l)
{
    struct governor_plan plan;
    const struct system_sample *s = model_system(l->model);
    if (l->had_tick || l->had_second || !s)
        return;
    if (l->options.together) {
        tell_first_sweep(l, s);
        return;
    }
    governor_expect(&l->governor, s->processes);
    live_plan(l, &plan);
    l->others_due_ms = live_after_s(l->others_began_ms, plan.second_s);
    live_arm_next(l);
}
