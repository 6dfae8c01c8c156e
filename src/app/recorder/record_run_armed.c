/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands on the node during a recording, counted calls, traces and captures of spans, and runs
   of the sampler: begun, turned and ended. */
#include <assert.h>

#include "record_state.h"

#define TURN_MS 100u /* of the sessions */
/* Windows of calls follow each other after this time, and what was refused is tried again, unless
   --every says otherwise. */
#define EVERY_S 10.0
#define SPANS_EVERY_S 60.0
#define SPANS_MS 10000u
#define SPANS_ROOTS 20u
/* The end waits so long for the proof that nothing of ours is left armed: what is set has some
   seconds to end, and the question for it 15 s. `record stop` waits for longer. */
#define PROOF_MS 20000u

static void tell(void *arg, const char *text)
{
    record_run_tell(arg, "%s", text);
}

static void leave_when_proven(struct recording_run *t)
{
    if (!t->asking_to_end && !t->calls_wait && !t->trace_wait && !t->spans_wait && !t->samples_wait)
        uv_stop(&t->rt.loop);
}

static void on_calls_ended(void *arg)
{
    struct recording_run *t = arg;
    t->calls_wait = false;
    leave_when_proven(t);
}

static void on_trace_ended(void *arg)
{
    struct recording_run *t = arg;
    t->trace_wait = false;
    leave_when_proven(t);
}

static void on_spans_ended(void *arg)
{
    struct recording_run *t = arg;
    t->spans_wait = false;
    leave_when_proven(t);
}

static void on_samples_ended(void *arg)
{
    struct recording_run *t = arg;
    t->samples_wait = false;
    leave_when_proven(t);
}

static int64_t wall_us(void *arg)
{
    return record_run_node_wall_us(arg);
}

static void on_turn(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    record_samples_tick(t->samples);
    record_series_tick(t->trace);
    record_series_tick(t->spans);
    if (!record_trace_holds_calls(t->trace))
        record_series_tick(t->calls);
}

static double every_s(const struct record_setup *setup)
{
    return setup->options->every_s > 0 ? setup->options->every_s : EVERY_S;
}

/* Rules look for functions by name: all that are called are read, where nothing is measured of
 * them. */
static struct calls_options calls_options_of(const struct record_setup *setup)
{
    const struct cli_options *o = setup->options;
    bool measured = o->time || o->memory, all = !o->top_given && !measured;
    return (struct calls_options){.patterns = setup->patterns,
                                  .n_patterns = setup->n_patterns,
                                  .syntax = o->request.syntax,
                                  .for_ms = (unsigned)(o->window_s * 1000 + 0.5),
                                  .every_ms = (unsigned)(every_s(setup) * 1000 + 0.5),
                                  .top = all ? LIMIT_CALLS_ROWS : (unsigned)o->top,
                                  .time = o->time,
                                  .memory = o->memory,
                                  .force = o->request.force};
}

static struct trace_options trace_options_of(const struct record_setup *setup)
{
    const struct cli_options *o = setup->options;
    return (struct trace_options){.patterns = setup->traced,
                                  .n_patterns = setup->n_traced,
                                  .procs = o->request.procs,
                                  .syntax = setup->trace.syntax,
                                  .caps = setup->trace.caps,
                                  .slower_us = o->request.slower_us,
                                  .on_rate_stop = setup->trace.on_rate_stop,
                                  .force = o->request.force};
}

/* A capture ends before the next one. */
static struct spans_capture spans_of(const struct record_setup *setup, double every_s)
{
    const struct cli_options *o = setup->options;
    const unsigned every_ms = (unsigned)(every_s * 1000);
    return (struct spans_capture){.patterns = &o->spans,
                                  .n_patterns = o->spans ? 1 : 0,
                                  .syntax = o->request.syntax,
                                  .procs = o->request.procs,
                                  .for_ms = every_ms < SPANS_MS ? every_ms : SPANS_MS,
                                  .roots = SPANS_ROOTS,
                                  .every = 1,
                                  .events = SPANS_MOST_EVENTS,
                                  .force = o->request.force};
}

int record_run_armed_check(const struct record_setup *setup, struct error *err)
{
    const struct cli_options *o = setup->options;
    int rc = 0;
    for (size_t i = 0; setup->calls && rc == 0 && i < setup->n_patterns; i++)
        rc = patterns_check(calls_pattern_check, setup->patterns[i], o->request.syntax, NULL, err);
    return rc == 0 && o->spans
               ? patterns_check(spans_pattern_check, o->spans, o->request.syntax, NULL, err)
               : rc;
}

void record_run_armed_start(struct recording_run *t)
{
    struct record_series_setup setup = {.live = t->live,
                                        .model = t->model,
                                        .recorder = t->recorder,
                                        .trace = trace_options_of(t->setup),
                                        .calls = calls_options_of(t->setup),
                                        .every_s = t->options->every_s,
                                        .again_s = every_s(t->setup),
                                        .counts = t->setup->calls,
                                        .wall_us = wall_us,
                                        .tell = tell,
                                        .arg = t};
    setup.on_ended = on_calls_ended;
    t->calls = t->setup->calls ? record_calls_new(&setup) : NULL;
    setup.on_ended = on_trace_ended;
    t->trace = t->setup->n_traced > 0 ? record_trace_new(&setup) : NULL;
    setup.every_s = t->options->spans_every_s > 0 ? t->options->spans_every_s : SPANS_EVERY_S;
    setup.spans = spans_of(t->setup, setup.every_s);
    setup.on_ended = on_spans_ended;
    t->spans = t->options->spans ? record_spans_new(&setup) : NULL;
    const struct record_samples_setup samples = {.loop = &t->rt.loop,
                                                 .live = t->live,
                                                 .model = t->model,
                                                 .recorder = t->recorder,
                                                 .options = t->options,
                                                 .env = t->setup->env,
                                                 .tell = tell,
                                                 .on_ended = on_samples_ended,
                                                 .arg = t};
    t->samples = t->options->sample_s > 0 ? record_samples_new(&samples) : NULL;
    if (t->calls || t->trace || t->spans || t->samples)
        uv_timer_start(&t->turn, on_turn, TURN_MS, TURN_MS);
}

void record_run_armed_link_lost(struct recording_run *t)
{
    struct error why = {0};
    error_set(&why, ERR_LOST, "connection lost");
    record_series_link_lost(t->calls);
    record_series_link_lost(t->trace);
    record_series_link_lost(t->spans);
    record_samples_link_lost(t->samples, &why);
}

void record_run_armed_close(struct recording_run *t)
{
    record_series_free(t->calls);
    record_series_free(t->trace);
    record_series_free(t->spans);
    record_samples_free(t->samples);
    t->calls = t->trace = t->spans = NULL;
    t->samples = NULL;
}

/* ---- its end */

static void abandon(struct recording_run *t, const struct error *why)
{
    uv_timer_stop(&t->turn); /* the sessions live until record_run_armed_close() */
    record_series_abandon(t->calls, why);
    record_series_abandon(t->trace, why);
    record_series_abandon(t->spans, why);
    record_samples_link_lost(t->samples, why);
}

/* True: the loop stops when it is proven that nothing is left. */
static bool stop_all(struct recording_run *t)
{
    t->asking_to_end = true;
    t->trace_wait = record_series_stop(t->trace);
    t->calls_wait = record_series_stop(t->calls);
    t->spans_wait = record_series_stop(t->spans);
    t->samples_wait = record_samples_stop(t->samples);
    t->asking_to_end = false;
    return t->trace_wait || t->calls_wait || t->spans_wait || t->samples_wait;
}

/* What is armed ends on the node with the link: its end is recorded, without the proof. */
void record_run_end_unproven(struct recording_run *t, const char *text)
{
    struct error why = {0};
    error_set(&why, ERR_TIMEOUT, "%s", text);
    record_run_tell(t, "%s; what is left ends with the connection", text);
    abandon(t, &why);
    uv_stop(&t->rt.loop);
}

static void on_proof_late(uv_timer_t *timer)
{
    static_assert(PROOF_MS == 20000, "the text has it");
    record_run_end_unproven(timer->data,
                            "the node did not verify in 20 s that nothing is left on it");
}

void record_run_finish(struct recording_run *t, const char *why, int exit_code,
                       const struct error *err)
{
    if (!runtime_ends(&t->rt, exit_code, err))
        return;
    t->why = why;
    if (stop_all(t))
        uv_timer_start(&t->until, on_proof_late, PROOF_MS, 0);
    else
        uv_stop(&t->rt.loop);
}
