/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value of the asks of `apps`, taken for each of them; what it asks then, and the answer. */
#include "one_term.h"
#include "query/apps/apps_terms.h"

#define STEP_TIMES 5

static void play_step(const struct run_step *step, void *own, struct slice value)
{
    bool asks = true;
    for (int i = 0; asks && i < (step->repeats ? STEP_TIMES : 1); i++) {
        struct run_calls calls = {0};
        struct slice values[RUN_CALLS];
        for (size_t k = 0; k < RUN_CALLS; k++)
            values[k] = value;
        asks = step->ask(own, &calls);
        if (asks)
            step->take(own, values, calls.n);
        for (size_t k = 0; k < calls.n; k++)
            builder_free(calls.terms[k]);
    }
}

/* Frees it. */
static void check_answer(struct builder *b)
{
    struct error err = {0};
    size_t len, used = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    FUZZ_REQUIRE(etf_check(bytes, len, &used, &err) == 0 && used == len);
    error_clear(&err);
    builder_free(b);
}

static bool is_own(const void *own, const struct etf_pid *pid)
{
    (void)own;
    return pid->id == 99;
}

static void read_value(struct slice value)
{
    uint64_t paid_ms = 0;
    struct apps_read a = {.paid_ms = &paid_ms, .node = {.name = "nonode@nohost"}, .is_own = is_own};
    struct builder *b = builder_new();
    apps_init(&a);
    apps_begin(&a, 100000);
    for (size_t i = 0; i < APPS_STEPS; i++)
        play_step(&apps_steps[i], &a, value);
    apps_build(b, &a);
    check_answer(b);
    apps_clear(&a);
}
