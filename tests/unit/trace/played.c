/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "../../test.h"
#include "played.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/parse.h"
#include "beamtop/etf/print.h"

static char *print(const struct builder *b)
{
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    struct buf out;
    buf_init(&out, 0);
    print_term(&out, bytes, len, &(struct print_limits){0});
    return buf_take(&out);
}

static int ask(void *ctx, enum question question, const struct builder *arg, unsigned deadline_ms,
               answer_fn *fn, void *fn_arg, struct error *err)
{
    struct played *p = ctx;
    assert_in_range(deadline_ms, 1, 60000);
    if (p->refuse)
        return error_set(err, ERR_LOST, "no link");
    assert_true(p->n_asked < PLAYED_MOST);
    p->asked[p->n_asked++] = (struct played_question){question, print(arg), fn, fn_arg, false};
    return 0;
}

static int tell(void *ctx, enum question question, const struct builder *term, struct error *err)
{
    struct played *p = ctx;
    (void)question;
    (void)err;
    assert_true(p->n_told < PLAYED_MOST);
    p->told[p->n_told++] = print(term);
    return 0;
}

static void dropped(void *arg, const struct answer *answer)
{
    (void)arg;
    (void)answer;
}

static void drop(void *ctx, const void *fn_arg)
{
    struct played *p = ctx;
    for (size_t i = 0; i < p->n_asked; i++)
        if (p->asked[i].arg == fn_arg)
            p->asked[i].fn = dropped;
}

static uint64_t now(void *ctx)
{
    return ((struct played *)ctx)->now;
}

struct session_port played_port(struct played *p, int otp)
{
    return (struct session_port){.ask = ask,
                                 .tell = tell,
                                 .drop = drop,
                                 .now_ns = now,
                                 .ctx = p,
                                 .node = PLAYED_NODE,
                                 .otp = otp};
}

void played_clear(struct played *p)
{
    for (size_t i = 0; i < p->n_asked; i++)
        free(p->asked[i].text);
    for (size_t i = 0; i < p->n_told; i++)
        free(p->told[i]);
}

struct played_question *played_last(struct played *p, enum question question)
{
    struct played_question *q = p->n_asked > 0 ? &p->asked[p->n_asked - 1] : NULL;
    if (!q || q->answered || q->question != question)
        fail_msg("%s is not what was asked last", question_name(question));
    return q;
}

struct builder *played_term(const char *text)
{
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), PLAYED_NODE, &err))
        fail_msg("%s: %s", text, err.text);
    return b;
}

void played_answer(struct played *p, enum question question, const char *text)
{
    struct played_question *q = played_last(p, question);
    struct builder *b = played_term(text);
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    q->answered = true;
    q->fn(q->arg, &(struct answer){
                      .question = question, .value = bytes + 1, .len = len - 1, .target_us = 100});
    builder_free(b);
}

void played_error(struct played *p, enum question question, enum err code)
{
    struct played_question *q = played_last(p, question);
    struct answer a = {.question = question};
    q->answered = true;
    error_set(&a.err, code, "it went wrong");
    q->fn(q->arg, &a);
}

bool played_hostile(struct played *p, enum question question, const struct builder *answer,
                    size_t at, bool cut, uint8_t byte)
{
    struct played_question *q = played_last(p, question);
    size_t len;
    const uint8_t *bytes = builder_bytes(answer, &len) + 1;
    if (at >= --len)
        return false;
    len = cut ? at : len;
    uint8_t *copy = malloc(len);
    memcpy(copy, bytes, len);
    if (!cut)
        copy[at] = byte;
    q->answered = true;
    q->fn(q->arg, &(struct answer){.question = question, .value = copy, .len = len});
    free(copy);
    return true;
}
