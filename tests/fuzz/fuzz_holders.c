/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value of the asks of `holders`, taken for each of them; what it asks then, and the answers. */
#include <stdlib.h>

#include "one_term.h"
#include "query/holders/holders_internal.h"

#define ASKS_MOST 10 /* of a step that repeats */

static void run_steps_on(struct holders_read *r, const struct run_step *steps, size_t n,
                         struct slice value)
{
    const struct slice values[] = {value, value};
    for (size_t i = 0; i < n; i++)
        for (size_t times = 0; times < (steps[i].repeats ? ASKS_MOST : 1); times++) {
            struct run_calls calls = {0};
            const bool asks = steps[i].ask(r, &calls);
            for (size_t k = 0; k < calls.n; k++)
                builder_free(calls.terms[k]);
            if (!asks)
                break;
            steps[i].take(r, times % 4 == 3 ? NULL : values, calls.n);
        }
}

static void require_term(struct builder *b)
{
    struct error err = {0};
    size_t len, used = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    FUZZ_REQUIRE(etf_check(bytes, len, &used, &err) == 0 && used == len);
    error_clear(&err);
    builder_free(b);
}

static void read_value(struct slice value)
{
    struct holders_read *r = calloc(1, sizeof *r);
    struct etf_pid pids[3] = {{.id = 1}, {.id = 2}, {.id = 3}};
    const struct holders_moment at = {"n@h", 0, 0, 0, false};
    uint64_t paid_ms = 0;
    r->node.name = "n@h";
    r->paid_ms = &paid_ms;
    holders_table_init(&r->table);
    holders_begin_list(r);
    run_steps_on(r, holders_list_steps, holders_list_count, value);
    for (int look = 0; look < 2; look++) {
        holders_table_list(&r->table, pids, 3, look == 0);
        r->next = r->end = 0;
        if (holders_next_slice(r))
            run_steps_on(r, holders_slice_steps, holders_slice_count, value);
    }
    struct builder *rows = builder_new(), *facts = builder_new();
    holders_build(rows, &r->table, &at);
    require_term(rows);
    holders_build_facts(facts, &r->table, &at);
    require_term(facts);
    holders_table_clear(&r->table);
    free(r->list);
    free(r);
}
