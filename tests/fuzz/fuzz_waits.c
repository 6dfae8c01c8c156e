/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value of the asks of `waits`, taken for each of them; what it asks then, and the answer. */
#include <stdlib.h>

#include "one_term.h"
#include "query/waits/waits_internal.h"

#define ASKS_MOST 20 /* of a step that repeats */

static void run_step_on(struct waits_ask *a, const struct run_step *step, struct slice value)
{
    bool asks = true;
    for (size_t i = 0; asks && i < ASKS_MOST; i++) {
        struct run_calls calls = {0};
        asks = step->ask(a, &calls);
        for (size_t k = 0; k < calls.n; k++)
            builder_free(calls.terms[k]);
        if (asks)
            step->take(a, i % 4 == 3 ? NULL : &value, 1);
        asks = asks && step->repeats;
    }
}

static void read_value(struct slice value)
{
    struct waits_ask *a = calloc(1, sizeof *a);
    struct builder *b = builder_new();
    struct error err = {0};
    size_t len, used = 0;
    waits_init(a);
    waits_begin(a, "n@h", 0);
    a->n_list = 3;
    for (uint32_t i = 0; i < 3; i++) {
        a->list[i] = (struct etf_pid){.id = i};
        waits_table_add(&a->table, &a->list[i]);
    }
    for (size_t i = 0; i < waits_steps_count; i++)
        run_step_on(a, &waits_steps[i], value);
    waits_table_build(b, &a->table, NULL, 0, "n@h", false);
    const uint8_t *bytes = builder_bytes(b, &len);
    FUZZ_REQUIRE(etf_check(bytes, len, &used, &err) == 0 && used == len);
    error_clear(&err);
    builder_free(b);
    waits_clear(a);
    free(a);
}
