/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "governor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"

/* Weight of the newest cost: one expensive answer must not slow the list down for many ticks. */
#define WEIGHT 0.5

/* The header and the rows shown are never older than this, or than the interval: a screen that
   stands still says nothing of an incident. */
#define HEADER_MAX_S 2.0

/* Ticks of an idle node, in intervals; no further apart than the header may be. */
#define IDLE_INTERVALS 2.0

/* Idle: others use some milliseconds of a scheduler per second. Native code counts few reductions:
   each scheduler must be known to be used little, too, by others than us. */
#define IDLE_REDUCTIONS_PER_S 200000.0
#define IDLE_USE 0.05
/* The node is idle after so many idle answers in a row, and busy again after one. They are
 * counted, not timed: a pause of a busy node is not idleness. */
#define IDLE_ANSWERS 20u

/* Whatever the header costs, the others get this share of the budget. */
#define OTHERS_MIN_SHARE 0.25

/* What is asked apart gets this share of what the header leaves, and what the others need not. */
#define APART_SHARE 0.5

/* Whatever the rows cost between two scans, the others keep this share of what they had. */
#define SCANS_MIN_SHARE 0.5

/* A sweep of all processes: fixed cost, and cost of each process. */
#define SWEEP_US 3000.0
#define SWEPT_US 0.35
/* The second answers come early, so that rates are there soon after the start; where they are
   expensive, the first ones have spent the budget of more than an interval. */
#define SECOND_S 0.3
#define SECOND_INTERVALS 2.0

/* A stretch below this is kept, but not reported: at the edge of the budget it comes and goes. */
#define WORTH_SAYING 1.25

/* Of the budget: what the header takes of it is named beside what it slows down. */
#define HEADER_WORTH_SAYING 0.5

void governor_init(struct governor *g, double interval_s, double budget)
{
    *g = (struct governor){0};
    g->interval_s = interval_s;
    g->budget = budget;
    g->apart = question_paced(PACE_APART);
}

void governor_begin(struct governor *g)
{
    g->begun = 0;
    g->idle_answers = 0;
    g->idle = false;
}

void governor_expect(struct governor *g, long long processes)
{
    if (g->cost_us[QUESTION_SCAN] <= 0 && processes > 0)
        g->cost_us[QUESTION_SCAN] = SWEEP_US + SWEPT_US * (double)processes;
}

void governor_note(struct governor *g, enum question q, double target_us)
{
    bool first = !(g->begun & QUESTION_BIT(q));
    g->begun |= QUESTION_BIT(q);
    if (first)
        return;
    double old = g->cost_us[q];
    g->cost_us[q] = old > 0 ? old + (target_us - old) * WEIGHT : target_us;
}

static double at_most(double seconds)
{
    return seconds > GOVERNOR_MAX_INTERVAL_S ? GOVERNOR_MAX_INTERVAL_S : seconds;
}

/* The sum of their costs, and the costliest of them. */
static double cost_of(const struct governor *g, question_mask questions, enum question *costliest)
{
    double sum_us = 0;
    *costliest = QUESTION_SYSTEM;
    for (unsigned i = 0; i < QUESTIONS; i++) {
        if (!(questions & QUESTION_BIT(i)) || i == QUESTION_SYSTEM)
            continue;
        sum_us += g->cost_us[i];
        if (*costliest == QUESTION_SYSTEM || g->cost_us[i] > g->cost_us[*costliest])
            *costliest = (enum question)i;
    }
    return sum_us;
}

/* The cost of all of them, named after the costliest. */
static void say_why(const struct governor *g, double every_s, double all_us,
                    struct governor_plan *plan)
{
    char every[32], cost[32], header[32], share[32], beside[64] = "";
    enum question q = plan->costliest;
    plan->why_s = every_s;
    double header_us = g->cost_us[QUESTION_SYSTEM];
    if (!g->together && header_us / plan->header_s > g->budget * 1e6 * HEADER_WORTH_SAYING)
        snprintf(beside, sizeof beside, "the header %s, ",
                 text_duration(header, sizeof header, header_us / 1e6));
    snprintf(
        plan->why, sizeof plan->why, "%s%s every %s: costs the node %s, %scost limit %s (`budget`)",
        question_name(q), all_us > g->cost_us[q] * WORTH_SAYING ? " and others" : "",
        text_duration(every, sizeof every, every_s), text_duration(cost, sizeof cost, all_us / 1e6),
        beside, text_percent_set(share, sizeof share, g->budget));
}

/* What the budget says, where a run that ends is not stretched so far. */
static void say_capped(double wanted_s, struct governor_plan *plan)
{
    char wanted[32];
    size_t len = strlen(plan->why);
    snprintf(plan->why + len, sizeof plan->why - len, "; the limit itself asks for every %s",
             text_duration(wanted, sizeof wanted, wanted_s));
}

/* The shortest interval, no shorter than the header's, at which that costs no more. */
static double interval_of(double cost_us, double budget_us, double header_s)
{
    return cost_us > budget_us * header_s ? at_most(cost_us / budget_us) : header_s;
}

/* What the header, the questions beside ticks and a seldom scan leave of the budget, a second. */
static double left_for_others(const struct governor *g, double header_us_per_s)
{
    double budget_us = g->budget * 1e6;
    const double left_us = budget_us - header_us_per_s - g->beside_us - g->seldom_us;
    return fmax(left_us, budget_us * OTHERS_MIN_SHARE);
}

static void plan_together(const struct governor *g, question_mask questions,
                          struct governor_plan *plan)
{
    double all_us = g->cost_us[QUESTION_SYSTEM] + cost_of(g, questions, &plan->costliest);
    double wanted_s = interval_of(all_us, left_for_others(g, 0), g->interval_s);
    double most_s = g->most_s > g->interval_s ? g->most_s : g->interval_s;
    plan->others_s = g->most_s > 0 && wanted_s > most_s ? most_s : wanted_s;
    plan->header_s = plan->apart_s = plan->others_s;
    if (plan->others_s >= g->interval_s * WORTH_SAYING)
        say_why(g, plan->others_s, all_us, plan);
    if (plan->others_s < wanted_s)
        say_capped(wanted_s, plan);
}

static double header_most_s(const struct governor *g)
{
    return fmax(g->interval_s, HEADER_MAX_S);
}

/* Spaces ticks of an idle node, unless their costs space them further already. */
static void slow_down(const struct governor *g, struct governor_plan *plan)
{
    double idle_s = fmin(g->interval_s * IDLE_INTERVALS, header_most_s(g));
    plan->idle = plan->others_s < idle_s;
    plan->others_s = fmax(plan->others_s, idle_s);
    plan->header_s = fmax(plan->header_s, idle_s);
    plan->apart_s = fmax(plan->apart_s, idle_s);
}

/* What is left for the others where the rows are asked between two scans. */
static double left_beside_rows(const struct governor *g, double rows_s, double left_us)
{
    double rows_us = g->cost_us[QUESTION_ROWS] / rows_s, most_us = left_us * (1 - SCANS_MIN_SHARE);
    return left_us - (rows_us < most_us ? rows_us : most_us);
}

void governor_plan(const struct governor *g, question_mask questions, struct governor_plan *plan)
{
    enum question apart;
    bool wants_rows = questions & question_paced(PACE_BETWEEN);
    questions &= ~question_paced(PACE_BETWEEN);
    *plan = (struct governor_plan){.costliest = QUESTION_SYSTEM, .second_s = SECOND_S};
    if (g->together) {
        plan_together(g, questions, plan);
        return;
    }
    double apart_us = cost_of(g, questions & g->apart, &apart);
    double others_us = cost_of(g, questions & ~g->apart, &plan->costliest);
    double budget_us = g->budget * 1e6; /* per second */
    double header_us = g->cost_us[QUESTION_SYSTEM];
    double most_s = header_most_s(g);
    plan->header_s = interval_of(header_us, budget_us * (1 - OTHERS_MIN_SHARE), g->interval_s);
    if (plan->header_s > most_s)
        plan->header_s = most_s;

    double left_us = left_for_others(g, header_us / plan->header_s);
    double spare_us = fmax(left_us * APART_SHARE, left_us - others_us / plan->header_s);
    plan->apart_s = interval_of(apart_us, spare_us, plan->header_s);
    left_us = fmax(left_us - apart_us / plan->apart_s, 0);
    plan->others_s = interval_of(others_us, left_us, plan->header_s);
    if (wants_rows && plan->others_s > most_s) {
        plan->rows_s = most_s;
        plan->others_s =
            interval_of(others_us, left_beside_rows(g, plan->rows_s, left_us), plan->header_s);
    }
    if (plan->others_s >= g->interval_s * WORTH_SAYING) {
        plan->second_s = plan->others_s * SECOND_INTERVALS;
        say_why(g, plan->others_s, others_us, plan);
    } else if (plan->apart_s >= g->interval_s * WORTH_SAYING) {
        plan->costliest = apart;
        say_why(g, plan->apart_s, apart_us, plan);
    }
    if (g->idle)
        slow_down(g, plan);
}

/* ---- a node that does nothing */

static bool is_resting(const struct system_sample *s, double own_use)
{
    if (!(s->interval_s > 0) || s->late_ms >= GOVERNOR_LATE_MS)
        return false;
    for (size_t i = 0; i < s->n_schedulers; i++)
        if (!(s->schedulers[i].use <= IDLE_USE + own_use))
            return false;
    return s->reductions_per_s - s->own_reductions_per_s < IDLE_REDUCTIONS_PER_S;
}

void governor_look_for_work(struct governor *g, const struct system_sample *sample, double own_use,
                            bool steady)
{
    g->idle_answers = !steady && is_resting(sample, own_use) ? g->idle_answers + 1 : 0;
    g->idle = g->idle_answers >= IDLE_ANSWERS;
}
