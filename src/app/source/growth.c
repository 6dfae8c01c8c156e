/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "growth.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "encode.h"

#define EVERY_MS 10000.0
#define DEADLINE_MS 10000u
#define BUDGET_SHARE 0.1 /* of the cost limit: an expensive answer comes less often */

struct growth {
    void (*answered)(void *arg, const uint8_t *value, size_t len);
    void *arg;
    struct live *live; /* that was asked last */
    struct model *model;
    uint64_t due_ms; /* 0: at the next tick */
    bool waits, told;
};

static void tell(struct growth *g, double cost_us, double every_ms)
{
    char cost[32], every[32];
    if (g->told)
        return;
    g->told = true;
    model_journal(g->model, clock_wall_us(), false,
                  "measured growth for findings (processes, atoms, ETS tables, ports, sockets, "
                  "code): cost %s, every %s",
                  text_duration(cost, sizeof cost, cost_us / 1e6),
                  text_duration(every, sizeof every, every_ms / 1000));
}

static void on_answer(void *arg, const struct answer *answer)
{
    struct growth *g = arg;
    double budget = model_interval(g->model).budget;
    double every_ms = budget > 0 ? answer->target_us / 1000 / (budget * BUDGET_SHARE) : 0;
    g->waits = false;
    if (every_ms > EVERY_MS)
        g->due_ms += (uint64_t)(every_ms - EVERY_MS);
    else
        every_ms = EVERY_MS;
    live_note_cost(g->live, answer->target_us);
    if (answer->value == NULL)
        return; /* rules say what they do not know */
    tell(g, answer->target_us, every_ms);
    g->answered(g->arg, answer->value, answer->len);
}

void growth_tick(struct growth *g, struct live *live, struct model *model, uint64_t now_ms)
{
    struct error ignored = {.code = ERR_NONE}; /* asked again when it is due */
    if (g->waits || now_ms < g->due_ms)
        return;
    g->live = live;
    g->model = model;
    g->due_ms = now_ms + (uint64_t)EVERY_MS;
    struct builder *arg = encode_question(QUESTION_GROWTH, NULL, NULL, NULL);
    g->waits = live_ask(live, QUESTION_GROWTH, arg, DEADLINE_MS, on_answer, g, &ignored) == 0;
    builder_free(arg);
}

void growth_forget(struct growth *g)
{
    g->waits = g->told = false;
    g->due_ms = 0;
}

struct growth *growth_new(void (*answered)(void *arg, const uint8_t *value, size_t len), void *arg)
{
    struct growth *g = alloc_zero(1, sizeof *g);
    g->answered = answered;
    g->arg = arg;
    return g;
}

void growth_free(struct growth *g)
{
    free(g);
}
