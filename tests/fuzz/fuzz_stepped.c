/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The elements of a list, taken in turn for the values of the asks of each question of steps; what
 * it asks then, and the answer. */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "one_term.h"
#include "query/native/values.h"
#include "query/stepped_questions.h"

#define VALUES_KEPT 64
#define TIMES 4 /* that a step is asked again */

struct said {
    struct slice values[VALUES_KEPT];
    size_t n, at;
};

static const struct who_entry *find_nobody(const void *arg, const struct etf_pid *pid)
{
    (void)arg;
    (void)pid;
    return NULL;
}

static void take_values(const struct run_step *step, void *read, struct said *said, size_t n)
{
    struct slice values[RUN_CALLS];
    for (size_t i = 0; i < n; i++)
        values[i] = said->values[said->at++ % said->n];
    step->take(read, values, n);
}

static void go_through(const struct stepped *kind, void *read, struct said *said)
{
    struct run_calls *calls = alloc_zero(1, sizeof *calls);
    for (size_t i = 0; i < kind->n_steps; i++) {
        const struct run_step *step = &kind->steps[i];
        bool asks = true;
        for (unsigned times = 0; asks && times < TIMES; times++) {
            calls->n = 0;
            asks = step->ask(read, calls);
            if (asks)
                take_values(step, read, said, calls->n);
            for (size_t k = 0; k < calls->n; k++)
                builder_free(calls->terms[k]);
            asks = asks && step->repeats;
        }
    }
    free(calls);
}

static void check_answer(const struct stepped *kind, void *read)
{
    const struct stepped_who who = {find_nobody, NULL};
    struct builder *b = builder_new();
    struct error err = {0};
    size_t len, used = 0;
    kind->build(b, read, 1, &who);
    const uint8_t *bytes = builder_bytes(b, &len);
    FUZZ_REQUIRE(etf_check(bytes, len, &used, &err) == 0 && used == len);
    error_clear(&err);
    builder_free(b);
}

/* Two looks: what the first has left is there at the second. */
static void ask_kind(const struct stepped *kind, struct said *said)
{
    void *read = alloc_zero(1, kind->bytes);
    struct etf_pid *pids = alloc_zero(1000, sizeof *pids);
    kind->init(read);
    for (uint64_t look = 1; look <= 2; look++) {
        const struct stepped_now now = {look * 40000, "n@h", 0};
        kind->begin(read, &now);
        go_through(kind, read, said);
        if (kind->whom)
            (void)kind->whom(read, pids);
        check_answer(kind, read);
    }
    kind->clear(read);
    free(pids);
    free(read);
}

static void read_value(struct slice value)
{
    struct said said = {.values = {value}, .n = 1};
    struct cursor c;
    size_t n;
    if (values_enter_list(value, &c, &n) && n > 0)
        for (said.n = 0; said.n < n && said.n < VALUES_KEPT; said.n++)
            (void)cursor_raw(&c, &said.values[said.n]);
    for (size_t i = 0; i < stepped_questions_count; i++) {
        said.at = 0;
        ask_kind(stepped_questions[i], &said);
    }
}
