/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording as a source: in batch its ticks follow each other at once, on the screen by
 * a clock. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/clock.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/column.h"
#include "beamtop/model/filter.h"
#include "replay.h"
#include "source_internal.h"

#define SPEED_LEAST 0.01
#define SPEED_MOST 1000.0
/* No tick is shown for less than the screen takes to draw one. */
#define TICK_LEAST_MS (1000.0 / LIMIT_FRAMES_PER_S)

struct source_replay {
    struct source base; /* first: what is handed out */
    struct replay *replay;
    uv_timer_t *timer;
    struct source_handlers handlers;
    void *arg;
    int64_t first; /* tick to begin with */
    double speed;
    struct want want;
    struct filter *filter;
    bool batch, paused, started, at_end, ended;
};

static struct source_replay *replay_of(struct source *s)
{
    assert(!s->live);
    return (struct source_replay *)(void *)s;
}

/* ---- time */

static void tell_replay_filter(const struct source_replay *s)
{
    const char *text = filter_trouble(s->filter);
    if (text)
        s->handlers.on_notice(s->arg, true, text);
}

static void show_replayed(struct source_replay *s, int64_t tick)
{
    struct error err = {0};
    s->at_end = false;
    if (replay_to(s->replay, tick, &err) != 0)
        s->handlers.on_trouble(s->arg, &err);
    tell_replay_filter(s);
    if (s->handlers.on_change)
        s->handlers.on_change(s->arg, true);
    s->handlers.on_tick(s->arg);
}

static void tell_recording_end(struct source_replay *s)
{
    if (s->batch) {
        uv_timer_stop(s->timer);
        s->ended = true;
        s->handlers.on_end(s->arg, true, NULL);
    } else if (!s->at_end) {
        s->at_end = true;
        s->handlers.on_notice(s->arg, false,
                              "that is the end of the recording; seek goes elsewhere");
    }
}

static void greet_user(const struct source_replay *s)
{
    const struct recording_info *info = replay_info(s->replay);
    char text[300];
    snprintf(
        text, sizeof text,
        "a recording of %.100s: %lld ticks; p pauses, . and , step, + and - pace, ] and [ go to "
        "marks, `:seek TIME|MARK|#TICK|+1m`",
        info->node, (long long)info->ticks);
    s->handlers.on_notice(s->arg, false, text);
}

/* Not when one moment is asked for: its error says why it is not there. */
static void tell_thinned(const struct source_replay *s)
{
    int64_t first = replay_first(s->replay);
    char text[160];
    if (first == 1 || (s->batch && s->first > first + 1))
        return;
    snprintf(text, sizeof text,
             "ticks before %lld of %lld cannot be replayed: thinned to save space",
             (long long)first, (long long)replay_info(s->replay)->ticks);
    s->handlers.on_notice(s->arg, true, text);
}

static void replay_tick_on(struct source_replay *s)
{
    struct error err = {0};
    int64_t next = s->started ? replay_next(s->replay) : s->first;
    if (!s->started && !s->batch)
        greet_user(s);
    if (!s->started)
        tell_thinned(s);
    s->started = true;
    if (next > 0) {
        show_replayed(s, next);
    } else if (replay_failed(s->replay, &err) != 0) {
        s->handlers.on_trouble(s->arg, &err);
        s->handlers.on_tick(s->arg);
    } else {
        tell_recording_end(s);
    }
}

static void on_replay_timer(uv_timer_t *timer)
{
    struct source_replay *s = timer->data;
    if (!s->paused || !s->started)
        replay_tick_on(s);
}

static void set_timer(struct source_replay *s)
{
    double ms = replay_info(s->replay)->interval_s * 1000 / s->speed;
    uint64_t every_ms = s->batch ? 1 : (uint64_t)fmax(ms, TICK_LEAST_MS);
    uv_timer_start(s->timer, on_replay_timer, s->started ? every_ms : 0, every_ms);
}

double source_set_speed(struct source *base, double speed)
{
    struct source_replay *s = replay_of(base);
    if (speed > 0) {
        s->speed = fmin(fmax(speed, SPEED_LEAST), SPEED_MOST);
        replay_set_speed(s->replay, s->batch ? 0 : s->speed);
        set_timer(s);
    }
    return s->speed;
}

void source_replay_set_interval(struct source *base, double interval_s)
{
    (void)source_set_speed(base, replay_info(replay_of(base)->replay)->interval_s / interval_s);
}

void source_replay_pause(struct source *base, bool paused)
{
    replay_of(base)->paused = paused;
}

void source_replay_step(struct source *base)
{
    replay_tick_on(replay_of(base));
}

int64_t source_replay_wall_us(const struct source *base)
{
    const struct source_replay *s = (const struct source_replay *)(const void *)base;
    return recording_tick_wall_us(replay_recording(s->replay), replay_tick(s->replay));
}

int source_seek(struct source *base, const char *when, struct error *err)
{
    struct source_replay *s = replay_of(base);
    int64_t tick = 0;
    int rc = replay_find(s->replay, when, &tick, err);
    if (rc == 0)
        show_replayed(s, tick);
    return rc;
}

/* ---- results */

/* The rows recorded are there: another order or filter needs no other tick. */
static void show_replayed_rows(struct source_replay *s)
{
    replay_show(s->replay, &s->want.scan, filter_is_on(s->filter) ? s->filter : NULL);
    tell_replay_filter(s);
    if (s->started && s->handlers.on_change)
        s->handlers.on_change(s->arg, true);
}

static bool same_order(const struct want_scan *a, const struct want_scan *b)
{
    return a->sort_key == b->sort_key && a->by_delta == b->by_delta && a->rows == b->rows &&
           a->ascending == b->ascending && a->own == b->own;
}

int source_replay_set_want(struct source *base, const struct want *want, struct error *err)
{
    struct source_replay *s = replay_of(base);
    bool other = !same_order(&want->scan, &s->want.scan);
    struct want news = *want;
    news.needs = want->needs & ~s->want.needs; /* reported again when a view comes back to it */
    news.needs |= other ? want->needs & NEED(SCAN) : 0;
    s->want = *want;
    if (other && (want->needs & NEED(SCAN)))
        show_replayed_rows(s);
    return replay_check(s->replay, &news, err);
}

int source_replay_set_filter(struct source *base, const char *expression, size_t *error_offset,
                             struct error *err)
{
    struct source_replay *s = replay_of(base);
    const char *calls = filter_field_prefix(FILTER_CURRENT_FUNCTION);
    const char *text = expression ? expression : "";
    *error_offset = 0;
    if (strncmp(text, calls, strlen(calls)) == 0 &&
        !replay_has_items(s->replay, UINT32_C(1) << ITEM_CURRENT_FUNCTION))
        return error_set(err, ERR_NOT_FOUND, "current functions: not recorded, so %s finds nothing",
                         calls);
    int rc = filter_set(s->filter, text, error_offset, err);
    if (rc == 0)
        show_replayed_rows(s);
    return rc;
}

struct recording *source_recording(struct source *base, int64_t *tick)
{
    if (!base || base->live)
        return NULL;
    struct source_replay *s = replay_of(base);
    *tick = replay_tick(s->replay);
    return replay_recording(s->replay);
}

/* ---- life */

static void free_replay_timer(uv_handle_t *handle)
{
    free(handle);
}

void source_replay_close(struct source *base, void (*closed)(void *arg), void *arg)
{
    struct source_replay *s = replay_of(base);
    replay_close(s->replay);
    uv_close((uv_handle_t *)s->timer, free_replay_timer);
    free(s);
    if (closed)
        closed(arg);
}

/*
 * Batch without -n and --at: the last tick, which is the node as it was at the end; else from the
 * first one on that has rates. */
static int find_first(struct source_replay *s, const struct source_setup *setup, struct error *err)
{
    const struct cli_options *o = setup->cli;
    const struct recording_info *info = replay_info(s->replay);
    int64_t begin = replay_first(s->replay);
    s->first = setup->batch && !o->ticks_given ? info->ticks : begin;
    int rc = o->at ? replay_find(s->replay, o->at, &s->first, err) : 0;
    if (s->first == begin && info->ticks > begin && (setup->rates || !(setup->batch || o->at)))
        s->first = recording_tick_after(replay_recording(s->replay), begin);
    return rc == 0 ? replay_failed(s->replay, err) : rc;
}

int source_replay_open(struct source **out, const char *path, const struct source_setup *setup,
                       struct error *err)
{
    struct replay *replay = NULL;
    int rc = replay_open(&replay, path, setup->model, err);
    if (rc != 0)
        return rc;
    struct source_replay *s = alloc_zero(1, sizeof *s);
    s->replay = replay;
    s->handlers = *setup->handlers;
    s->arg = setup->arg;
    s->batch = setup->batch;
    s->filter = model_filter(setup->model);
    filter_forget(s->filter);
    filter_set_calls(s->filter, true); /* the rows are here: it costs no node anything */
    rc = find_first(s, setup, err);
    /* A screen is drawn before the loop runs: its first tick is there by then. */
    if (rc == 0 && !s->batch) {
        replay_show_traces(replay);
        rc = replay_to(replay, s->first, err);
    }
    if (rc != 0) {
        replay_close(replay);
        free(s);
        return rc;
    }
    s->timer = alloc_zero(1, sizeof *s->timer);
    uv_timer_init(setup->loop, s->timer);
    s->timer->data = s;
    source_replay_set_interval(&s->base, setup->interval_s);
    model_set_utc_offset(setup->model, clock_utc_offset_s());
    *out = &s->base;
    return 0;
}
