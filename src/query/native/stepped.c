/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stepped.h"

#include <stddef.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"

struct stepping {
    const struct stepped *kind;
    struct query *query;
    struct run *run;
    uv_loop_t *loop;
    _Alignas(max_align_t) unsigned char read[]; /* the run's own */
};

static struct stepping *of_read(void *read)
{
    return (struct stepping *)((unsigned char *)read - offsetof(struct stepping, read));
}

static void on_end(void *own, const struct error *err)
{
    struct stepping *s = of_read(own);
    const double us = run_take_us(s->run);
    if (err) {
        query_reply(s->query, s->kind->question, NULL, us, err); /* which may free s */
        return;
    }
    struct builder *b = builder_new();
    s->kind->build(b, s->read, run_clock_ns(s->run));
    query_reply(s->query, s->kind->question, b, us, &(struct error){0});
    builder_free(b);
}

static bool takes_argument(void *own, const uint8_t *arg, size_t len)
{
    struct stepping *s = own;
    return !s->kind->takes || s->kind->takes(s->read, arg, len);
}

static int ask_question(void *own, unsigned deadline_ms, struct error *err)
{
    struct stepping *s = own;
    const uint64_t now_ms = uv_now(s->loop);
    s->kind->begin(s->read, now_ms);
    return run_begin(s->run, s->kind->steps, s->kind->n_steps, now_ms + deadline_ms, on_end,
                     s->read, err);
}

static void cancel_question(void *own)
{
    struct stepping *s = own;
    run_cancel(s->run);
}

static void free_question(void *own)
{
    struct stepping *s = own;
    run_free(s->run);
    s->kind->clear(s->read);
    free(s);
}

struct native_way stepped_way(const struct stepped *kind, struct query *q,
                              const struct price *price, struct native *native, struct conn *conn,
                              uv_loop_t *loop)
{
    struct stepping *s = alloc_zero(1, sizeof *s + kind->bytes);
    s->kind = kind;
    s->query = q;
    s->loop = loop;
    s->run = run_new(q, kind->question, price, native,
                     NATIVE_QUESTION + 2 * (unsigned)kind->question, loop);
    kind->init(s->read, conn);
    return (struct native_way){s, takes_argument, ask_question, cancel_question, free_question};
}
