/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands on the node during a recording, counted calls, traces and captures of spans, and runs
   of the sampler: begun, turned and ended. */
#include <assert.h>
#include <string.h>

#include "record_state.h"

#define TURN_MS 100u /* of the sessions */
/* Windows of calls follow each other after this time, and what was refused is tried again, unless
   --every says otherwise. */
#define EVERY_S 10.0
#define SPANS_EVERY_S 60.0
/* The end waits so long for the proof that nothing of ours is left armed: what is set has some
   seconds to end, and the question for it 15 s. `record stop` waits for longer. */
#define PROOF_MS 20000u

static void tell(void *arg, const char *text)
{
    record_run_tell(arg, "%s", text);
}

static void on_ended(void *arg)
{
    struct recording_run *t = arg;
    if (!t->asking_to_end && --t->waiting == 0)
        uv_stop(&t->rt.loop);
}

static int64_t wall_us(void *arg)
{
    return record_run_node_wall_us(arg);
}

static void on_turn(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    record_samples_tick(t->samples);
    for (size_t i = 0; i < RECORD_SERIES; i++)
        if (i != RECORD_CALLS || !record_trace_holds_calls(t->series[RECORD_TRACES]))
            record_series_tick(t->series[i]);
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
    return (struct trace_options){
        .patterns = setup->traced, .n_patterns = setup->n_traced, .request = setup->trace};
}

/* A capture ends before the next one. */
static struct spans_capture spans_of(const struct record_setup *setup, double every_s)
{
    const struct cli_options *o = setup->options;
    const unsigned every_ms = (unsigned)(every_s * 1000);
    struct spans_capture what = {
        .patterns = &o->spans, .n_patterns = o->spans ? 1 : 0, .request = o->request};
    if (every_ms < what.request.for_ms)
        what.request.for_ms = every_ms;
    return what;
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
                                        .on_ended = on_ended,
                                        .arg = t};
    t->series[RECORD_CALLS] = t->setup->calls ? record_calls_new(&setup) : NULL;
    t->series[RECORD_TRACES] = t->setup->n_traced > 0 ? record_trace_new(&setup) : NULL;
    setup.every_s = t->options->spans_every_s > 0 ? t->options->spans_every_s : SPANS_EVERY_S;
    setup.spans = spans_of(t->setup, setup.every_s);
    t->series[RECORD_SPANS] = t->options->spans ? record_spans_new(&setup) : NULL;
    const struct record_samples_setup samples = {.loop = &t->rt.loop,
                                                 .live = t->live,
                                                 .model = t->model,
                                                 .recorder = t->recorder,
                                                 .options = t->options,
                                                 .env = t->setup->env,
                                                 .tell = tell,
                                                 .on_ended = on_ended,
                                                 .arg = t};
    t->samples = t->options->sample_s > 0 ? record_samples_new(&samples) : NULL;
    if (t->setup->calls || t->setup->n_traced > 0 || t->options->spans || t->samples)
        uv_timer_start(&t->turn, on_turn, TURN_MS, TURN_MS);
}

void record_run_armed_link_lost(struct recording_run *t)
{
    struct error why = {0};
    error_set(&why, ERR_LOST, "connection lost");
    for (size_t i = 0; i < RECORD_SERIES; i++)
        record_series_link_lost(t->series[i]);
    record_samples_link_lost(t->samples, &why);
}

void record_run_armed_close(struct recording_run *t)
{
    for (size_t i = 0; i < RECORD_SERIES; i++)
        record_series_free(t->series[i]);
    record_samples_free(t->samples);
    memset(t->series, 0, sizeof t->series);
    t->samples = NULL;
}

/* ---- its end */

static void abandon(struct recording_run *t, const struct error *why)
{
    uv_timer_stop(&t->turn); /* the sessions live until record_run_armed_close() */
    for (size_t i = 0; i < RECORD_SERIES; i++)
        record_series_abandon(t->series[i], why);
    record_samples_link_lost(t->samples, why);
}

/* True: the loop stops when it is proven that nothing is left. */
static bool stop_all(struct recording_run *t)
{
    t->asking_to_end = true;
    for (size_t i = 0; i < RECORD_SERIES; i++)
        t->waiting += record_series_stop(t->series[i]);
    t->waiting += record_samples_stop(t->samples);
    t->asking_to_end = false;
    return t->waiting > 0;
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
