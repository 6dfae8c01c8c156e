/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "facts.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "facts_terms.h"
#include "query/native/run.h"

struct facts {
    struct facts_read read; /* the run's own: the first */
    struct query *query;
    struct run *run;
    uv_loop_t *loop;
};

static void on_end(void *own, const struct error *err)
{
    struct facts *f = own;
    const double us = run_take_us(f->run);
    if (err) {
        query_reply(f->query, QUESTION_FACTS, NULL, us, err); /* which may free f */
        return;
    }
    struct builder *b = builder_new();
    f->read.mono_ns = run_clock_ns(f->run);
    facts_build(b, &f->read);
    query_reply(f->query, QUESTION_FACTS, b, us, &(struct error){0});
    builder_free(b);
}

static int ask_facts(void *own, unsigned deadline_ms, struct error *err)
{
    struct facts *f = own;
    facts_begin(&f->read);
    return run_begin(f->run, facts_steps, FACTS_STEPS, uv_now(f->loop) + deadline_ms, on_end, f,
                     err);
}

static void cancel_facts(void *own)
{
    struct facts *f = own;
    run_cancel(f->run);
}

static void free_facts(void *own)
{
    struct facts *f = own;
    run_free(f->run);
    facts_clear(&f->read);
    free(f);
}

struct native_way facts_way(struct query *q, const struct price *price, struct native *native,
                            uv_loop_t *loop)
{
    struct facts *f = alloc_zero(1, sizeof *f);
    f->query = q;
    f->loop = loop;
    f->run = run_new(q, QUESTION_FACTS, price, native, NATIVE_FACTS, loop);
    facts_init(&f->read);
    return (struct native_way){f, NULL, ask_facts, cancel_facts, free_facts};
}
