/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer as text, for the model and for the recorder. */
#ifndef TESTS_STORE_TAKE_H
#define TESTS_STORE_TAKE_H

#include "../model/answers.h"
#include "beamtop/recording/recording.h"

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

#endif
