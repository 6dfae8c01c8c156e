/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/calls_log.h"

#include <math.h>
#include <stdio.h>

void calls_log_init(struct calls_log *log)
{
    *log = (struct calls_log){0};
    arena_init(&log->arena);
    log->state.status.phase = SESSION_ENDED;
}

void calls_log_clear(struct calls_log *log)
{
    arena_clear(&log->arena);
    calls_log_init(log);
}

void calls_log_begin(struct calls_log *log, const char *patterns)
{
    arena_reset(&log->arena);
    log->window = (struct calls_window){0};
    log->has_window = false;
    log->state = (struct calls_state){0};
    log->state.status.phase = SESSION_PREPARING;
    log->state.calls_per_s = log->state.load = NAN;
    snprintf(log->patterns, sizeof log->patterns, "%s", patterns);
}

void calls_log_state(struct calls_log *log, const struct calls_state *state)
{
    log->state = *state;
}

static const struct calls_function *keep_rows(struct arena *arena,
                                              const struct calls_function *rows, size_t n)
{
    struct calls_function *kept = arena_alloc(arena, (n + 1) * sizeof *kept);
    for (size_t i = 0; i < n; i++) {
        kept[i] = rows[i];
        kept[i].module = slice_keep(arena, rows[i].module);
        kept[i].function = slice_keep(arena, rows[i].function);
        kept[i].application = slice_keep(arena, rows[i].application);
    }
    return kept;
}

static const struct calls_sum *keep_sums(struct arena *arena, const struct calls_sum *sums,
                                         size_t n)
{
    struct calls_sum *kept = arena_alloc(arena, (n + 1) * sizeof *kept);
    for (size_t i = 0; i < n; i++) {
        kept[i] = sums[i];
        kept[i].module = slice_keep(arena, sums[i].module);
        kept[i].application = slice_keep(arena, sums[i].application);
    }
    return kept;
}

static const struct slice *keep_slices(struct arena *arena, const struct slice *slices, size_t n)
{
    struct slice *kept = arena_alloc(arena, (n + 1) * sizeof *kept);
    for (size_t i = 0; i < n; i++)
        kept[i] = slice_keep(arena, slices[i]);
    return kept;
}

void calls_log_window(struct calls_log *log, const struct calls_window *window)
{
    struct arena *arena = &log->arena;
    arena_reset(arena);
    log->window = *window;
    log->has_window = true;
    log->window.rows = keep_rows(arena, window->rows, window->n_rows);
    log->window.modules = keep_sums(arena, window->modules, window->n_modules);
    log->window.applications = keep_sums(arena, window->applications, window->n_applications);
    log->window.lost_modules = keep_slices(arena, window->lost_modules, window->n_lost_modules);
    log->window.excluded = keep_slices(arena, window->excluded, window->n_excluded);
}

bool calls_log_runs(const struct calls_log *log)
{
    return session_status_runs(&log->state.status);
}

const char *calls_cost_text(char *out, size_t size, double load)
{
    const bool small = load < 0.0001;
    snprintf(out, size, "%s %.3g%%", small ? "below" : "about", small ? 0.01 : load * 100);
    return out;
}
