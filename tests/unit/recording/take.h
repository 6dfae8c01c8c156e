/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer as text, for the model and for the recorder. */
#ifndef TESTS_STORE_TAKE_H
#define TESTS_STORE_TAKE_H

#include "../model/answers.h"
#include "beamtop/recording/recording.h"
#include "beamtop/trace/calls_state.h"

static inline void take(struct recorder *r, struct model *m, enum answer_kind kind,
                        const char *text)
{
    const char *question = question_name((enum question)kind);
    struct error err = {0};
    struct term t = term_of(text);
    if (give_bytes(m, kind, t.bytes, t.len, &scan_want, 0, &err) < 0) {
        fprintf(stderr, "%s: %s\n%s\n", question, err.text, text);
        abort();
    }
    recorder_answer(r, question, t.bytes + 1, t.len - 1, kind == ANSWER_SCAN ? &scan_want : NULL);
    term_free(&t);
}

/* A function in a window of counted calls; -1: unknown. */
static inline struct calls_function counted_call(const char *module, const char *function,
                                                 int arity, int64_t calls, int64_t own_us,
                                                 int64_t words, double share)
{
    return (struct calls_function){.module = slice_of(module),
                                   .function = slice_of(function),
                                   .arity = (uint64_t)arity,
                                   .calls = (uint64_t)calls,
                                   .own_us = (uint64_t)own_us,
                                   .words = (uint64_t)words,
                                   .share = share};
}

#endif
