/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "stepped.h"

#include <stddef.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/link/conn.h"
#include "query/who/who.h"

struct stepping;

struct kept {
    struct stepping *of;
    _Alignas(max_align_t) unsigned char read[]; /* the run's own */
};

struct stepping {
    const struct stepped *kind;
    struct query *query;
    struct native *native;
    struct conn *conn;
    struct run *run;
    struct who *who; /* NULL: nobody is named */
    bool learns;     /* who: of the question that is out */
    bool who_is_out; /* also of one that was cancelled */
    uv_loop_t *loop;
    struct kept *kept; /* NULL: nothing, until it is asked */
};

static struct stepping *of_read(void *read)
{
    return ((struct kept *)((unsigned char *)read - offsetof(struct kept, read)))->of;
}

static void *read_of(struct stepping *s)
{
    if (!s->kept) {
        s->kept = alloc_zero(1, sizeof *s->kept + s->kind->bytes);
        s->kept->of = s;
        s->kind->init(s->kept->read);
    }
    return s->kept->read;
}

static void let_go(struct stepping *s)
{
    if (s->kept)
        s->kind->clear(s->kept->read);
    free(s->kept);
    s->kept = NULL;
}

static const struct who_entry *find_who(const void *arg, const struct etf_pid *pid)
{
    return arg ? who_find(arg, pid) : NULL;
}

static void forget_read(struct stepping *s)
{
    if (s->kind->forgets)
        let_go(s);
}

/* NULL: it is refused, or err says why there is none. */
static struct builder *make_answer(struct stepping *s, struct error *err)
{
    const struct stepped_who who = {find_who, s->who};
    void *read = read_of(s);
    if (err->code != 0 || (s->kind->refuses && s->kind->refuses(read, err)))
        return NULL;
    struct builder *b = builder_new();
    s->kind->build(b, read, run_clock_ns(s->run), &who);
    return b;
}

/* err NULL: it is answered. May free s. */
static void end_question(struct stepping *s, const struct error *err)
{
    const double us = run_take_us(s->run) + (s->who ? who_take_us(s->who) : 0);
    struct error why = err ? *err : (struct error){0};
    s->learns = false;
    struct builder *b = make_answer(s, &why);
    forget_read(s);
    query_reply(s->query, s->kind->question, b, us, &why);
    builder_free(b);
}

static void on_learned(void *arg)
{
    struct stepping *s = arg;
    s->who_is_out = false;
    if (s->learns)
        end_question(s, NULL);
}

static void on_end(void *own, const struct error *err)
{
    struct stepping *s = of_read(own);
    struct error ignored = {0};
    if (!err && s->who) {
        struct etf_pid *pids = alloc_zero(WHO_MOST, sizeof *pids);
        const size_t n = s->kind->whom(own, pids);
        s->learns = n > 0 && !who_is_known(s->who, pids, n) &&
                    who_learn(s->who, pids, n, on_learned, s, &ignored) == 0;
        free(pids);
        s->who_is_out = s->learns;
        if (s->learns)
            return;
    }
    end_question(s, err);
}

static bool takes_argument(void *own, const uint8_t *arg, size_t len)
{
    struct stepping *s = own;
    return !s->kind->takes || s->kind->takes(read_of(s), arg, len);
}

static int ask_question(void *own, unsigned deadline_ms, struct error *err)
{
    struct stepping *s = own;
    const uint64_t now_ms = uv_now(s->loop);
    if (s->who_is_out)
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    const struct stepped_now now = {now_ms, conn_peer_node(s->conn), native_creation(s->native)};
    void *read = read_of(s);
    s->kind->begin(read, &now);
    const int rc = run_begin(s->run, s->kind->steps, s->kind->n_steps, now_ms + deadline_ms, on_end,
                             read, err);
    if (rc != 0)
        forget_read(s);
    return rc;
}

static void cancel_question(void *own)
{
    struct stepping *s = own;
    s->learns = false;
    run_cancel(s->run);
    forget_read(s);
}

static void free_question(void *own)
{
    struct stepping *s = own;
    run_free(s->run);
    who_free(s->who);
    let_go(s);
    free(s);
}

struct native_way stepped_way(const struct stepped *kind, const struct way_setup *setup)
{
    struct stepping *s = alloc_zero(1, sizeof *s);
    const unsigned place = NATIVE_QUESTION + 4 * (unsigned)kind->question;
    s->kind = kind;
    s->query = setup->query;
    s->native = setup->native;
    s->conn = setup->conn;
    s->loop = setup->loop;
    s->run = run_new(setup, place);
    s->who = kind->whom ? who_new(setup, place + 2) : NULL;
    return (struct native_way){s, takes_argument, ask_question, cancel_question, free_question};
}
