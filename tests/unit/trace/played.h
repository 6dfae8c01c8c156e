/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A node that is played here, for tests of sessions: what was asked and told, and answers. */
#ifndef BEAMTOP_TESTS_PLAYED_H
#define BEAMTOP_TESTS_PLAYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/trace/session.h"

#define PLAYED_NODE "there@host"
#define PLAYED_MOST 64

struct played_question {
    enum question question;
    char *text;
    answer_fn *fn;
    void *arg;
    bool answered;
};

struct played {
    struct played_question asked[PLAYED_MOST];
    char *told[PLAYED_MOST];
    size_t n_asked, n_told;
    uint64_t now;
    bool refuse; /* asks fail at once */
};

struct session_port played_port(struct played *p, int otp);
void played_clear(struct played *p);

/* The last question, which is of that kind and open. */
struct played_question *played_last(struct played *p, enum question question);
/* Answers it with a term as Erlang writes it, or with an error. */
void played_answer(struct played *p, enum question question, const char *text);
void played_error(struct played *p, enum question question, enum err code);
struct builder *played_term(const char *text);
/* Answers it with that term, which ends at `at` or has another byte there. False: it is shorter. */
bool played_hostile(struct played *p, enum question question, const struct builder *answer,
                    size_t at, bool cut, uint8_t byte);

#endif
