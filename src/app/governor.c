#include "governor.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"

/* Weight of the newest cost. The cost is wall time: one answer that had to wait for a scheduler must
   not slow the list down for many ticks. */
#define WEIGHT 0.5

/* Whatever the header costs, the others get this share of the budget. */
#define OTHERS_MIN_SHARE 0.25

/* A stretch below this is kept, but not told: at the edge of the budget it comes and goes. */
#define WORTH_SAYING 1.25

void governor_init(struct governor *g, double interval_s, double budget)
{
    memset(g, 0, sizeof *g);
    g->interval_s = interval_s;
    g->budget = budget;
}

void governor_note(struct governor *g, enum question q, double target_us)
{
    double old = g->cost_us[q];
    g->cost_us[q] = old > 0 ? old + (target_us - old) * WEIGHT : target_us;
}

static double at_most(double seconds)
{
    return seconds > GOVERNOR_MAX_INTERVAL_S ? GOVERNOR_MAX_INTERVAL_S : seconds;
}

void governor_plan(const struct governor *g, unsigned questions, struct governor_plan *plan)
{
    double others_us = 0;
    *plan = (struct governor_plan){.dearest = QUESTION_SYSTEM};
    for (unsigned i = 0; i < QUESTIONS; i++) {
        if (!(questions & (1u << i)) || i == QUESTION_SYSTEM)
            continue;
        others_us += g->cost_us[i];
        if (plan->dearest == QUESTION_SYSTEM || g->cost_us[i] > g->cost_us[plan->dearest])
            plan->dearest = (enum question)i;
    }

    double budget_us = g->budget * 1e6; /* in a second */
    double header_us = g->cost_us[QUESTION_SYSTEM];
    double header_budget_us = budget_us * (1 - OTHERS_MIN_SHARE);
    plan->header_s = g->interval_s;
    if (header_us > header_budget_us * plan->header_s)
        plan->header_s = at_most(header_us / header_budget_us);

    double left_us = budget_us - header_us / plan->header_s;
    plan->others_s = plan->header_s;
    if (others_us > left_us * plan->others_s)
        plan->others_s = at_most(others_us / left_us);
    if (plan->others_s < g->interval_s * WORTH_SAYING)
        return;

    char every[32], cost[32], share[32];
    enum question q = plan->dearest;
    snprintf(plan->why, sizeof plan->why, "%s every %s: costs the target %s, budget %s (:set budget)",
             question_name(q), text_duration(every, sizeof every, plan->others_s),
             text_duration(cost, sizeof cost, g->cost_us[q] / 1e6),
             text_percent(share, sizeof share, g->budget));
}
