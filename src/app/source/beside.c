/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beside.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "encode.h"

#define DEADLINE_MS 10000u
#define BUDGET_SHARE 0.1 /* of the cost limit, for each of them */

struct beside {
    answer_fn *answered;
    void *arg;
    struct live *live; /* that was asked last */
    struct model *model;
    struct {
        uint64_t due_ms; /* 0: at once */
        bool waits, reported;
    } asked[QUESTIONS];
};

static void tell(struct beside *b, enum question q, double cost_us, double every_ms)
{
    char cost[32], every[32];
    if (b->asked[q].reported || question_rows[q].pace != PACE_BESIDE || !question_rows[q].log)
        return;
    b->asked[q].reported = true;
    model_journal(b->model, clock_wall_us(), false, "%s: cost %s, every %s", question_rows[q].log,
                  text_duration(cost, sizeof cost, cost_us / 1e6),
                  text_duration(every, sizeof every, every_ms / 1000));
}

static void on_answer(void *arg, const struct answer *answer)
{
    struct beside *b = arg;
    enum question q = answer->question;
    double budget = model_interval(b->model).budget, least_ms = question_rows[q].every_s * 1000.0;
    double every_ms = budget > 0 ? answer->target_us / 1000 / (budget * BUDGET_SHARE) : 0;
    b->asked[q].waits = false;
    if (every_ms > least_ms)
        b->asked[q].due_ms += (uint64_t)(every_ms - least_ms);
    else
        every_ms = least_ms;
    if (answer->value)
        tell(b, q, answer->target_us, every_ms);
    b->answered(b->arg, answer);
}

void beside_ask(struct beside *b, unsigned questions, struct live *live, struct model *model,
                uint64_t now_ms)
{
    b->live = live;
    b->model = model;
    for (unsigned q = 0; q < QUESTIONS; q++) {
        struct error ignored = {.code = ERR_NONE}; /* asked again when it is due */
        if (!(questions & QUESTION_BIT(q)) || b->asked[q].waits || now_ms < b->asked[q].due_ms)
            continue;
        struct builder *arg = encode_question((enum question)q, NULL, NULL, NULL);
        b->asked[q].due_ms = now_ms + (uint64_t)question_rows[q].every_s * 1000;
        b->asked[q].waits =
            live_ask(live, (enum question)q, arg, DEADLINE_MS, on_answer, b, &ignored) == 0;
        builder_free(arg);
    }
}

void beside_again(struct beside *b, bool lost)
{
    for (unsigned q = 0; q < QUESTIONS; q++) {
        b->asked[q].due_ms = 0;
        if (lost)
            b->asked[q].waits = b->asked[q].reported = false;
    }
}

struct beside *beside_new(answer_fn *answered, void *arg)
{
    struct beside *b = alloc_zero(1, sizeof *b);
    b->answered = answered;
    b->arg = arg;
    return b;
}

void beside_free(struct beside *b)
{
    free(b);
}
