/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay_runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/samples.h"
#include "beamtop/trace/calls_log.h"
#include "beamtop/trace/events_run.h"
#include "beamtop/trace/spans_run.h"

struct replay_runs {
    struct calls_log calls;
    struct arena window; /* the window that is made for the log */
    int64_t window_tick; /* of the window in the log; 0: none yet */
    struct samples_log samples;
    struct recorded_samples kept; /* what the log of samples borrows */
    int64_t samples_id;           /* of the run in the log; 0: none yet */
    struct spans_run *spans;      /* the last capture; NULL: none */
    struct events_run *events;    /* NULL: not made yet */
    int64_t events_tick;          /* for which it is filled */
};

struct replay_runs *replay_runs_new(void)
{
    struct replay_runs *runs = alloc_zero(1, sizeof *runs);
    calls_log_init(&runs->calls);
    arena_init(&runs->window);
    return runs;
}

void replay_runs_free(struct replay_runs *runs)
{
    calls_log_clear(&runs->calls);
    arena_clear(&runs->window);
    recorded_samples_clear(&runs->kept);
    spans_run_free(runs->spans);
    free(runs->events);
    free(runs);
}

/* ---- counted calls */

static uint64_t known_count(int64_t v)
{
    return v < 0 ? CALLS_UNKNOWN : (uint64_t)v;
}

static struct calls_function recorded_function(struct arena *arena, const struct recorded_call *c,
                                               double seconds)
{
    return (struct calls_function){
        .module = slice_keep(arena, c->module),
        .function = slice_keep(arena, c->function),
        .application = {"", 0},
        .arity = (uint64_t)c->arity,
        .calls = known_count(c->calls),
        .calls_per_s = seconds > 0 ? (double)c->calls / seconds : (double)NAN,
        .share = c->share,
        .change = NAN,
        .timed_calls = CALLS_UNKNOWN,
        .own_us = known_count(c->own_us),
        .words = known_count(c->words),
        .us_per_call = NAN,
        .words_per_call = NAN,
        .own_share = NAN,
    };
}

static size_t take_window_rows(struct arena *arena, struct recording *r, int64_t tick,
                               struct calls_function **out, struct recorded_window *sums)
{
    const struct recorded_call *calls;
    size_t n = tick > 0 ? recording_calls(r, tick, tick, &calls, sums) : 0;
    *out = arena_alloc(arena, (n + 1) * sizeof **out);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = recorded_function(arena, &calls[i], (double)sums->ns / 1e9);
    return n;
}

static void compare_windows(struct calls_function *rows, size_t n,
                            const struct calls_function *before, size_t n_before)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n_before; j++)
            if (rows[i].arity == before[j].arity &&
                slice_equal(rows[i].function, before[j].function) &&
                slice_equal(rows[i].module, before[j].module) && before[j].calls_per_s > 0)
                rows[i].change = rows[i].calls_per_s / before[j].calls_per_s - 1;
}

/* Of the functions recorded: a module's others are not in it. */
static size_t sum_modules(struct arena *arena, const struct calls_function *rows, size_t n,
                          struct calls_sum **out)
{
    size_t modules = 0;
    *out = arena_alloc(arena, (n + 1) * sizeof **out);
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;
        while (at < modules && !slice_equal((*out)[at].module, rows[i].module))
            at++;
        struct calls_sum *sum = &(*out)[at];
        if (at == modules)
            (*out)[modules++] =
                (struct calls_sum){.module = rows[i].module, .application = {"", 0}, .change = NAN};
        sum->functions++;
        sum->calls += rows[i].calls;
        sum->calls_per_s += rows[i].calls_per_s;
        sum->share += rows[i].share;
    }
    return modules;
}

static void make_window(struct replay_runs *runs, struct recording *r, int64_t tick)
{
    struct calls_function *rows, *before;
    struct calls_sum *modules;
    struct recorded_window sums = {0}, sums_before = {0};
    arena_reset(&runs->window);
    size_t n_before = take_window_rows(&runs->window, r, recording_window_tick(r, tick - 1),
                                       &before, &sums_before);
    size_t n = take_window_rows(&runs->window, r, tick, &rows, &sums);
    compare_windows(rows, n, before, n_before);
    size_t n_modules = sum_modules(&runs->window, rows, n, &modules);
    struct calls_window w = {
        .number = (uint64_t)recording_windows(r, tick),
        .wall_us = sums.wall_us,
        .interval_us = (uint64_t)(sums.ns / 1000),
        .functions = known_count(sums.functions),
        .called = CALLS_UNKNOWN,
        .calls = known_count(sums.calls),
        .calls_per_s = sums.calls_per_s,
        .load = NAN,
        .lost = sums.lost > 0 ? (uint64_t)sums.lost : 0,
        .asked_us = CALLS_UNKNOWN,
        .timed_interval_us = CALLS_UNKNOWN,
        .processes = CALLS_UNKNOWN,
        .rows = rows,
        .n_rows = n,
        .modules = modules,
        .n_modules = n_modules,
    };
    for (size_t i = 0; i < n; i++) {
        w.has_time = w.has_time || rows[i].own_us != CALLS_UNKNOWN;
        w.has_memory = w.has_memory || rows[i].words != CALLS_UNKNOWN;
    }
    w.timed = w.has_time || w.has_memory;
    calls_log_window(&runs->calls, &w);
}

static void show_calls(struct replay_runs *runs, struct recording *r, int64_t tick, struct model *m)
{
    int64_t at = recording_info(r)->has_calls ? recording_window_tick(r, tick) : 0;
    if (at > 0 && at != runs->window_tick) {
        runs->window_tick = at;
        make_window(runs, r, at);
    }
    model_set_calls(m, at > 0 ? &runs->calls : NULL);
}

/* ---- samples */

static void take_samples(struct replay_runs *runs, struct recording *r, int64_t id)
{
    struct error ignored = {0}; /* the recording keeps it */
    recorded_samples_clear(&runs->kept);
    runs->samples_id = recording_samples_of(r, id, &runs->kept, &ignored) == 0 ? id : 0;
    runs->samples = (struct samples_log){
        .phase = SAMPLING_ENDED, .run = runs->kept.run, .for_s = runs->kept.run.seconds};
    const double whole = stacks_total(runs->kept.run.stacks);
    if (runs->kept.left_out > 0 && whole > 0)
        snprintf(runs->samples.note, sizeof runs->samples.note,
                 "%.1f%% of the samples end in \"…\": recorded are "
                 "the heaviest stacks",
                 runs->kept.left_out / whole * 100);
}

static void show_samples(struct replay_runs *runs, struct recording *r, int64_t tick,
                         struct model *m)
{
    const int64_t id = recording_info(r)->has_samples ? recording_samples_id(r, tick) : 0;
    model_set_samples(m, NULL);
    if (id > 0 && id != runs->samples_id)
        take_samples(runs, r, id);
    model_set_samples(m, id > 0 && runs->samples_id == id ? &runs->samples : NULL);
}

/* ---- spans */

static void show_spans(struct replay_runs *runs, struct recording *r, int64_t tick, struct model *m)
{
    struct error ignored = {0}; /* the recording keeps it */
    const int64_t id = recording_info(r)->has_spans ? recording_spans_id(r, tick) : 0;
    model_set_spans(m, NULL);
    if (!runs->spans || runs->spans->version != (uint64_t)id) {
        spans_run_free(runs->spans);
        runs->spans = NULL;
        if (id > 0)
            (void)recording_spans_of(r, id, &runs->spans, &ignored);
    }
    model_set_spans(m, runs->spans);
}

/* ---- system events */

static void show_events(struct replay_runs *runs, struct recording *r, int64_t tick,
                        struct model *m)
{
    const int64_t id = recording_info(r)->has_events ? recording_events_id(r, tick) : 0;
    model_set_events(m, NULL);
    if (id <= 0)
        return;
    if (!runs->events)
        runs->events = alloc_zero(1, sizeof *runs->events);
    if (runs->events_tick != tick) {
        recording_events_of(r, id, tick, runs->events);
        recording_events_kept(r, id, tick, runs->events);
        runs->events_tick = tick;
    }
    model_set_events(m, runs->events);
}

void replay_runs_show(struct replay_runs *runs, struct recording *r, int64_t tick, struct model *m)
{
    show_calls(runs, r, tick, m);
    show_samples(runs, r, tick, m);
    show_spans(runs, r, tick, m);
    show_events(runs, r, tick, m);
}
