/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "values.h"

struct run {
    struct query *query;
    enum question question;
    const struct price *price;
    struct native *native;
    unsigned place;
    uv_loop_t *loop;

    const struct run_step *steps;
    size_t n_steps, step;
    struct run_calls calls; /* of the ask that is out */
    uint64_t due_ms;
    run_fn *fn; /* NULL: nothing runs */
    bool waits; /* for an ask of a step that waits */
    void *own;
    int64_t clock_ns;
    double us;
};

/* ---- calls */

void run_add(struct run_calls *calls, const char *module, const char *function,
             struct builder *args)
{
    assert(calls->n < RUN_CALLS);
    calls->terms[calls->n++] = args;
    calls->steps[calls->n] = (struct native_step){module, function, NULL, args};
}

void run_add_text(struct run_calls *calls, const char *module, const char *function,
                  const char *args)
{
    assert(calls->n < RUN_CALLS);
    calls->terms[calls->n++] = NULL;
    calls->steps[calls->n] = (struct native_step){module, function, args, NULL};
}

static void clear_calls(struct run_calls *calls)
{
    for (size_t i = 0; i < calls->n; i++)
        builder_free(calls->terms[i]);
    calls->n = 0;
    calls->most_us = PRICE_BATCH_US;
    calls->waited_us = calls->waits = calls->way_us = 0;
    calls->heap_words = 0;
    calls->ends_ms = 0;
}

/* ---- answers */

static void go_on(struct run *r);

static void end_run(struct run *r, const struct error *err)
{
    run_fn *fn = r->fn;
    run_cancel(r);
    clear_calls(&r->calls);
    if (fn)
        fn(r->own, err);
}

static bool read_values(struct run *r, struct slice answer, struct slice *values)
{
    int64_t began_ns;
    const size_t n = r->calls.n;
    if (!values_read_list(answer, values, n + 2) || !values_read_integer(values[0], &began_ns) ||
        !values_read_integer(values[n + 1], &r->clock_ns))
        return false;
    const double us = values_between_us(began_ns, r->clock_ns) - r->calls.waited_us;
    r->us += price_of_calls(r->price, fmax(us, 0), r->calls.most_us) +
             r->calls.waits * price_of_waits(r->price);
    return true;
}

static void on_step(void *arg, const struct native_answer *answer)
{
    struct run *r = arg;
    struct slice values[RUN_CALLS + 2];
    if (!r->fn)
        return;
    const struct run_step *step = &r->steps[r->step];
    if (answer->end == NATIVE_LATE && step->waits_ms == 0) {
        struct error err = {0};
        native_explain(answer, question_name(r->question), &err);
        end_run(r, &err);
        return;
    }
    const bool ok = answer->end == NATIVE_RETURNED && read_values(r, answer->value, values);
    const double most_us = fmax(r->calls.most_us, r->calls.ends_ms * 1000.0);
    if (!ok) /* how far it came is not known */
        r->us += price_of_calls(r->price, most_us, most_us);
    r->us += r->calls.way_us;
    step->take(r->own, ok ? values + 1 : NULL, r->calls.n);
    r->step += !step->repeats;
    go_on(r);
}

/* One that is late ends later, and is not heard then. */
static void on_wait(void *arg, const struct native_answer *answer)
{
    struct run *r = arg;
    if (r->waits) {
        r->waits = false;
        on_step(r, answer);
    }
}

/* ---- asks */

static int ask_step(struct run *r, const struct run_step *step, struct error *err)
{
    static const struct native_step clock = NATIVE_CLOCK;
    struct native_call call;
    const uint64_t now = uv_now(r->loop);
    const unsigned left = native_left_ms(r->due_ms, now);
    const unsigned most = r->calls.ends_ms > 0 ? r->calls.ends_ms : step->waits_ms;
    const unsigned waits = most > 0 && most < left ? most : left;
    r->calls.steps[0] = r->calls.steps[r->calls.n + 1] = clock;
    native_batch_init(&call, r->calls.steps, r->calls.n + 2, false);
    r->waits = step->waits_ms > 0;
    call.patient = r->waits && r->calls.ends_ms == 0;
    if (r->calls.heap_words > 0)
        call.max_heap_words = r->calls.heap_words;
    const int rc = native_ask(r->native, r->place + r->waits, &call, now, waits,
                              r->waits ? on_wait : on_step, r, err);
    native_call_clear(&call);
    query_arm(r->query);
    return rc;
}

/* The next step that asks; *asked false: there is none. */
static int ask_next(struct run *r, bool *asked, struct error *err)
{
    *asked = false;
    for (; r->step < r->n_steps; r->step++) {
        const struct run_step *step = &r->steps[r->step];
        clear_calls(&r->calls);
        if (!step->ask(r->own, &r->calls))
            continue;
        if (step->waits_ms > 0 && native_is_out(r->native, r->place + 1)) {
            step->take(r->own, NULL, 0); /* one before is late */
            continue;
        }
        *asked = true;
        return ask_step(r, step, err);
    }
    return 0;
}

static void go_on(struct run *r)
{
    struct error err = {0};
    bool asked;
    const int rc = ask_next(r, &asked, &err);
    if (rc != 0 || !asked)
        end_run(r, rc != 0 ? &err : NULL);
}

/* ---- interface */

int run_begin(struct run *r, const struct run_step *steps, size_t n, uint64_t due_ms, run_fn *fn,
              void *own, struct error *err)
{
    bool asked;
    if (native_is_out(r->native, r->place))
        return error_set(err, ERR_LIMIT, "the question before has not ended on the node");
    r->steps = steps;
    r->n_steps = n;
    r->step = 0;
    r->due_ms = due_ms;
    r->own = own;
    int rc = ask_next(r, &asked, err);
    if (rc == 0 && !asked)
        rc = error_set(err, ERR_LIMIT, "an ask of the question before has not ended on the node");
    if (rc == 0)
        r->fn = fn;
    else
        clear_calls(&r->calls);
    return rc;
}

void run_cancel(struct run *r)
{
    r->fn = NULL;
    r->waits = false;
}

int64_t run_clock_ns(const struct run *r)
{
    return r->clock_ns;
}

double run_take_us(struct run *r)
{
    const double us = r->us;
    r->us = 0;
    return us;
}

struct run *run_new(const struct way_setup *setup, unsigned place)
{
    struct run *r = alloc_zero(1, sizeof *r);
    *r = (struct run){
        .query = setup->query,
        .question = setup->question,
        .price = setup->price,
        .native = setup->native,
        .place = place,
        .loop = setup->loop,
    };
    return r;
}

void run_free(struct run *r)
{
    if (!r)
        return;
    clear_calls(&r->calls);
    free(r);
}
