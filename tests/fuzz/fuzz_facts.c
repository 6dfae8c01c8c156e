/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A value of the asks of `facts`, taken for each of them; what it asks then, and the answer. */
#include "beamtop/etf/check.h"
#include "one_term.h"
#include "query/facts/facts.h"
#include "query/facts/facts_terms.h"

static void ask_steps(struct facts_read *f)
{
    for (size_t i = 0; i < facts_question.n_steps; i++) {
        struct run_calls calls = {0};
        (void)facts_question.steps[i].ask(f, &calls);
        for (size_t k = 0; k < calls.n; k++)
            builder_free(calls.terms[k]);
    }
}

static void read_value(struct slice value)
{
    struct facts_read f = {0};
    struct builder *b = builder_new();
    struct error err = {0};
    size_t len, used = 0;
    facts_question.init(&f, NULL);
    for (size_t i = 0; i < FACTS_TERMS; i++)
        buf_put(&f.kept[i], value.s, value.len);
    ask_steps(&f);
    facts_question.build(b, &f, 0);
    const uint8_t *bytes = builder_bytes(b, &len);
    FUZZ_REQUIRE(etf_check(bytes, len, &used, &err) == 0 && used == len);
    error_clear(&err);
    builder_free(b);
    facts_question.clear(&f);
}
