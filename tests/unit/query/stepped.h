/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A question of steps (query/stepped/stepped.h) that is answered by texts, as the node n@h. */
#ifndef TESTS_QUERY_STEPPED_H
#define TESTS_QUERY_STEPPED_H

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "query/stepped/stepped.h"
#include "steps.h"

/* Values of an ask of that step, the first NULL: it failed. One after the other; a step that asks
 * more often than it has answers is refused. */
struct stepped_said {
    size_t step;
    const char *values[STEP_VALUES];
};

/* How many calls the step asks; what they are is appended as text, where asked is not NULL. */
static inline size_t stepped_ask(const struct stepped *kind, void *read, size_t step,
                                 struct buf *asked)
{
    struct run_calls *calls = alloc_zero(1, sizeof *calls);
    const size_t n = kind->steps[step].ask(read, calls) ? calls->n : 0;
    if (n > 0 && asked)
        steps_note(asked, calls);
    for (size_t i = 0; i < calls->n; i++)
        builder_free(calls->terms[i]);
    free(calls);
    return n;
}

/* What it reads; stepped_end() frees it. */
static inline void *stepped_start(const struct stepped *kind)
{
    void *read = alloc_zero(1, kind->bytes);
    kind->init(read);
    return read;
}

static inline void stepped_end(const struct stepped *kind, void *read)
{
    kind->clear(read);
    free(read);
}

/* All steps, as a run goes through them. */
static inline void stepped_run(const struct stepped *kind, void *read, uint64_t ms,
                               const struct stepped_said *said, size_t n_said, struct buf *asked)
{
    const struct stepped_now now = {ms, NODE, 0};
    size_t at = 0, n;
    kind->begin(read, &now);
    for (size_t step = 0; step < kind->n_steps; step++)
        while ((n = stepped_ask(kind, read, step, asked)) > 0) {
            if (at == n_said || said[at].step != step)
                fail_msg("step %zu asks, and has no answer", step);
            steps_take(&kind->steps[step], read, said[at++].values, n);
            if (!kind->steps[step].repeats)
                break;
        }
    if (at != n_said)
        fail_msg("step %zu does not ask", said[at].step);
}

static inline const struct who_entry *stepped_nobody(const void *arg, const struct etf_pid *pid)
{
    (void)arg;
    (void)pid;
    return NULL;
}

/* The answer as text; the caller's. */
static inline struct buf stepped_answer(const struct stepped *kind, void *read)
{
    const struct stepped_who who = {stepped_nobody, NULL};
    struct builder *b = builder_new();
    struct buf text;
    size_t len;
    buf_init(&text, 0);
    kind->build(b, read, 7000000, &who);
    const uint8_t *bytes = builder_bytes(b, &len);
    print_term(&text, bytes, len, &steps_limits);
    builder_free(b);
    return text;
}

static inline void stepped_expect(const struct stepped *kind, void *read, const char *expected)
{
    struct buf text = stepped_answer(kind, read);
    assert_string_equal(buf_cstr(&text), expected);
    buf_clear(&text);
}

#endif
