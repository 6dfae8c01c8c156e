/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "replay_calls.h"

#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/trace/calls_log.h"

struct replay_calls {
    struct calls_log log;
    struct arena arena; /* of the window that is made */
    int64_t tick;       /* of the window in the log; 0: none yet */
};

struct replay_calls *replay_calls_new(void)
{
    struct replay_calls *c = alloc_zero(1, sizeof *c);
    calls_log_init(&c->log);
    arena_init(&c->arena);
    return c;
}

void replay_calls_free(struct replay_calls *c)
{
    if (!c)
        return;
    calls_log_clear(&c->log);
    arena_clear(&c->arena);
    free(c);
}

static uint64_t known_count(int64_t v)
{
    return v < 0 ? CALLS_UNKNOWN : (uint64_t)v;
}

static struct calls_function function_of(struct arena *arena, const struct recorded_call *c,
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

static size_t take_rows(struct arena *arena, struct recording *r, int64_t tick,
                        struct calls_function **out, struct recorded_window *sums)
{
    const struct recorded_call *calls;
    size_t n = tick > 0 ? recording_calls(r, tick, tick, &calls, sums) : 0;
    *out = arena_alloc(arena, (n + 1) * sizeof **out);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = function_of(arena, &calls[i], (double)sums->ns / 1e9);
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

static void make_window(struct replay_calls *c, struct recording *r, int64_t tick)
{
    struct calls_function *rows, *before;
    struct calls_sum *modules;
    struct recorded_window sums = {0}, sums_before = {0};
    arena_reset(&c->arena);
    size_t n_before =
        take_rows(&c->arena, r, recording_window_tick(r, tick - 1), &before, &sums_before);
    size_t n = take_rows(&c->arena, r, tick, &rows, &sums);
    compare_windows(rows, n, before, n_before);
    size_t n_modules = sum_modules(&c->arena, rows, n, &modules);
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
    calls_log_window(&c->log, &w);
}

void replay_calls_show(struct replay_calls *c, struct recording *r, int64_t tick, struct model *m)
{
    int64_t at = recording_info(r)->has_calls ? recording_window_tick(r, tick) : 0;
    if (at > 0 && at != c->tick) {
        c->tick = at;
        make_window(c, r, at);
    }
    model_set_calls(m, at > 0 ? &c->log : NULL);
}
