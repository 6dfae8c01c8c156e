/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands on the node during a recording, counted calls and traces, and runs of the sampler:
   begun, turned and ended. */
#include "record_run_internal.h"

#define TURN_MS 100u /* of the sessions */
/* Windows of calls follow each other after this time, and what was refused is tried again, unless
   --every says otherwise. */
#define EVERY_S 10.0

static void tell(void *arg, const char *text)
{
    record_run_tell(arg, "%s", text);
}

static void leave_when_proven(struct recording_run *t)
{
    if (!t->asking_to_end && !t->calls_wait && !t->trace_wait && !t->samples_wait)
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
                                  .syntax = o->syntax,
                                  .for_ms = (unsigned)(o->window_s * 1000 + 0.5),
                                  .every_ms = (unsigned)(every_s(setup) * 1000 + 0.5),
                                  .top = all ? LIMIT_CALLS_ROWS : (unsigned)o->top,
                                  .time = o->time,
                                  .memory = o->memory,
                                  .force = o->force};
}

static struct trace_options trace_options_of(const struct record_setup *setup)
{
    const struct cli_options *o = setup->options;
    return (struct trace_options){.patterns = setup->traced,
                                  .n_patterns = setup->n_traced,
                                  .procs = o->procs,
                                  .syntax = setup->trace.syntax,
                                  .caps = setup->trace.caps,
                                  .slower_us = (uint64_t)(o->slower_s * 1e6),
                                  .on_rate_stop = setup->trace.on_rate_stop,
                                  .force = o->force};
}

int record_run_armed_check(const struct record_setup *setup, struct error *err)
{
    const struct calls_options calls = calls_options_of(setup);
    return setup->calls ? record_calls_check(&calls, err) : 0;
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
    if (t->calls || t->trace || t->samples)
        uv_timer_start(&t->turn, on_turn, TURN_MS, TURN_MS);
}

void record_run_armed_link_lost(struct recording_run *t)
{
    record_series_link_lost(t->calls);
    record_series_link_lost(t->trace);
    record_samples_link_lost(t->samples);
}

bool record_run_armed_stop(struct recording_run *t)
{
    t->asking_to_end = true;
    t->trace_wait = record_series_stop(t->trace);
    t->calls_wait = record_series_stop(t->calls);
    t->samples_wait = record_samples_stop(t->samples);
    t->asking_to_end = false;
    return t->trace_wait || t->calls_wait || t->samples_wait;
}

void record_run_armed_close(struct recording_run *t)
{
    record_series_free(t->calls);
    record_series_free(t->trace);
    record_samples_free(t->samples);
    t->calls = t->trace = NULL;
    t->samples = NULL;
}
