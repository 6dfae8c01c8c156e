/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What plays of a session against a hostile target share: the questions that the session asked and
 * that the target may answer, late, wrongly or never, with terms in
 * Erlang's spelling. */
#ifndef BEAMTOP_TESTS_PLAY_H
#define BEAMTOP_TESTS_PLAY_H

#include <string.h>

#include "beamtop/etf/check.h"
#include "beamtop/etf/parse.h"
#include "beamtop/query/query.h"
#include "fuzz.h"

#define NODE "there@host"

enum { OPEN_MOST = 16, STEPS_MOST = 200 };

struct open_question {
    answer_fn *fn;
    void *arg;
    enum question question;
};

struct questions {
    struct open_question open[OPEN_MOST]; /* oldest first */
    size_t n;
    bool refuse; /* later ones cannot be asked */
};

static inline int questions_ask(struct questions *q, enum question question, answer_fn *fn,
                                void *arg, struct error *err)
{
    if (q->refuse || q->n == OPEN_MOST)
        return error_set(err, ERR_LOST, "no link");
    q->open[q->n++] = (struct open_question){fn, arg, question};
    return 0;
}

static inline void questions_drop(struct questions *q)
{
    q->n = 0;
}

static inline void questions_answer(struct questions *q, size_t which, const struct answer *a)
{
    if (which >= q->n)
        return;
    struct open_question open = q->open[which];
    q->n--;
    memmove(&q->open[which], &q->open[which + 1], (q->n - which) * sizeof *q->open);
    struct answer full = *a;
    full.question = open.question;
    open.fn(open.arg, &full);
}

static inline void questions_fail_oldest(struct questions *q)
{
    struct answer a = {0};
    error_set(&a.err, ERR_TIMEOUT, "no answer");
    questions_answer(q, 0, &a);
}

/* NULL: no term, or one deeper than what the wire lets in. Owned. */
static inline struct builder *term_of(const char *text, size_t len)
{
    struct builder *b = builder_new();
    struct error err = {0};
    size_t n = 0, used = 0;
    const uint8_t *bytes = NULL;
    if (etf_parse(b, text, len, NODE, &err) == 0)
        bytes = builder_bytes(b, &n);
    if (bytes && etf_check(bytes, n, &used, &err) == 0 && used == n)
        return b;
    builder_free(b);
    return NULL;
}

/* The term without its version byte, in memory of exactly that size, so that a read behind it is
 * seen. */
static inline uint8_t *exact_copy(const struct builder *term, size_t *len)
{
    size_t n;
    const uint8_t *bytes = builder_bytes(term, &n);
    uint8_t *exact = malloc(n);
    FUZZ_REQUIRE(exact != NULL);
    *len = n - 1;
    memcpy(exact, bytes + 1, n - 1);
    return exact;
}

static inline void questions_answer_text(struct questions *q, size_t which, const char *text,
                                         size_t len)
{
    struct builder *b = term_of(text, len);
    if (!b)
        return;
    struct answer a = {0};
    uint8_t *exact = exact_copy(b, &a.len);
    a.value = exact;
    questions_answer(q, which, &a);
    free(exact);
    builder_free(b);
}

/* What we send is well-formed. */
static inline struct cursor cursor_of(const struct builder *term)
{
    size_t len, used;
    const uint8_t *bytes = builder_bytes(term, &len);
    struct error broken = {0};
    struct cursor c;
    FUZZ_REQUIRE(etf_check(bytes, len, &used, &broken) == 0 && used == len);
    cursor_init(&c, bytes + 1, len - 1);
    return c;
}

static inline uint64_t number_of(const char *text, size_t len)
{
    uint64_t n = 0;
    for (size_t i = 0; i < len && text[i] >= '0' && text[i] <= '9' && n < 1000000000; i++)
        n = n * 10 + (uint64_t)(text[i] - '0');
    return n;
}

/* A sink's writer: ctx is a size_t, the bytes so far. */
static inline int write_nowhere(void *ctx, const char *bytes, size_t len)
{
    (void)bytes;
    *(size_t *)ctx += len;
    return 0;
}

#endif
