/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of native asks (query/native/run.h) without a node: what each step asks, and what it hears.
 */
#ifndef TESTS_QUERY_STEPS_H
#define TESTS_QUERY_STEPS_H

#include <stdio.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "query/native/run.h"
#include "terms.h"

#define STEPS_MOST 8
#define STEP_VALUES 32

/* Values of each step as text; the first NULL: it fails. One that is asked again hears the same. */
struct steps_said {
    const char *of[STEPS_MOST][STEP_VALUES];
};

struct steps_asked {
    struct buf of[STEPS_MOST]; /* what each step asked, as text */
    unsigned times[STEPS_MOST];
};

static const struct print_limits steps_limits = {.bytes = 100000};

static inline void steps_clear(struct steps_asked *asked)
{
    for (size_t i = 0; i < STEPS_MOST; i++)
        buf_clear(&asked->of[i]);
    *asked = (struct steps_asked){0};
}

static inline void steps_note(struct buf *to, const struct run_calls *calls)
{
    for (size_t i = 0; i < calls->n; i++) {
        const struct native_step *call = &calls->steps[i + 1];
        size_t len = 0;
        buf_printf(to, " %s:%s", call->module, call->function);
        if (call->args)
            buf_puts(to, call->args);
        if (calls->terms[i]) {
            const uint8_t *bytes = builder_bytes(calls->terms[i], &len);
            print_term(to, bytes, len, &steps_limits);
        }
    }
}

static inline void steps_take(const struct run_step *step, void *own, const char *const *texts,
                              size_t n)
{
    struct builder *kept[RUN_CALLS] = {0};
    struct slice values[RUN_CALLS];
    for (size_t i = 0; texts[0] && i < n; i++) {
        kept[i] = term_of(i < STEP_VALUES && texts[i] ? texts[i] : "[]", &values[i]);
        values[i].s++; /* the version */
        values[i].len--;
    }
    step->take(own, texts[0] ? values : NULL, n);
    for (size_t i = 0; i < n; i++)
        builder_free(kept[i]);
}

/* A question. */
static inline void steps_play(const struct run_step *steps, size_t n, void *own,
                              const struct steps_said *said, struct steps_asked *asked)
{
    for (size_t i = 0; i < n; i++)
        for (bool asks = true, again = true; asks && again; again = steps[i].repeats) {
            struct run_calls calls = {0};
            asks = steps[i].ask(own, &calls);
            if (asks) {
                assert_true(asked->times[i]++ < 40);
                steps_note(&asked->of[i], &calls);
                steps_take(&steps[i], own, said->of[i], calls.n);
            }
            for (size_t k = 0; k < calls.n; k++)
                builder_free(calls.terms[k]);
        }
}

static inline void steps_expect(struct steps_asked *asked, size_t step, const char *part)
{
    const char *text = buf_cstr(&asked->of[step]);
    if (!strstr(text, part))
        fail_msg("%s is not in %s", part, text);
}

/* Frees b. */
static inline void steps_expect_answer(struct builder *b, const char *expected)
{
    struct buf text;
    size_t len;
    buf_init(&text, 0);
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(&text, bytes, len, &steps_limits);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
    builder_free(b);
}

#endif
