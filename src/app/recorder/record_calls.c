/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls in a recording: a session for as long as there is a link. */
#include "record_series.h"
#include "record_state.h"

#define NEAR_MS 300
#define WAIT_TURNS 20 /* of record_series_tick() */

static void record_window(void *arg, const struct calls_window *w)
{
    struct record_series *r = arg;
    record_series_works(r);
    recorder_calls(r->run->recorder, w, true);
    r->number++;
}

/* A report says why rules about calls have nothing to judge. Words do not mend themselves, nor does
 * what this release cannot count. */
static void calls_refused(struct record_series *r, const struct error *why)
{
    r->over |= !r->session && (why->code == ERR_USAGE || why->code == ERR_REFUSED);
    record_series_fact(r, "calls_refused", json_pack("{s:s}", "why", why->text));
    (void)record_series_refused(r, why);
}

static void recorded_calls_ended(struct record_series *r)
{
    const struct session_status *status = session_status(r->session);
    if (status->error.code == ERR_REFUSED ||
        (status->error.code != ERR_NONE && status->check.clean))
        calls_refused(r, &status->error);
}

/* The next window opens soon: no tick is to begin before it that would end in it. */
static bool window_is_near(const struct record_series *r)
{
    return calls_session_state(r->session)->status.phase == SESSION_WAITING &&
           calls_session_due_ms(r->session) <= NEAR_MS;
}

/* Questions of this recording would be among the calls; windows without a pause leave no time for
 * ticks. */
static void hold_ticks(struct record_series *r)
{
    bool first = calls_session_state(r->session)->status.phase == SESSION_PREPARING;
    live_hold(r->run->live, calls_session_leaves_time(r->session) &&
                                (first || window_is_near(r) || calls_session_counts(r->session)));
}

/* Waits a while for questions that the node still evaluates: they would be among the calls. */
static bool is_quiet(struct record_series *r)
{
    if (!live_is_asking(r->run->live) || ++r->waited >= WAIT_TURNS)
        r->waited = 0;
    return r->waited == 0;
}

/* ---- the kind */

static int open_recorded_calls(struct record_series *r, const struct session_port *port,
                               struct error *err)
{
    static const struct session_handlers handlers = {.on_change = record_series_changed,
                                                     .on_window = record_window};
    const struct record_setup *setup = r->run->setup;
    const struct cli_options *o = r->run->options;
    /* Rules look for functions by name: all that are called are read, where nothing is measured of
     * them. */
    const bool all = !o->top_given && !o->time && !o->memory;
    const struct calls_options options = {
        .patterns = setup->patterns,
        .n_patterns = setup->n_patterns,
        .syntax = o->request.syntax,
        .for_ms = (unsigned)(o->window_s * 1000 + 0.5),
        .every_ms = (unsigned)(r->again_s * 1000 + 0.5),
        .top = all ? LIMIT_CALLS_ROWS : (unsigned)o->top,
        .time = o->time,
        .memory = o->memory,
        .force = o->request.force,
        .whole = true, /* reports and rules know nothing of what would be left out */
    };
    return calls_open(&r->session, &options, port, &handlers, r, NULL, NULL, err);
}

static bool calls_may_tick(struct record_series *r)
{
    hold_ticks(r);
    return !window_is_near(r) || is_quiet(r);
}

/* Another life of the node: what it refused may work then. */
static void lose_calls_link(struct record_series *r, const struct error *why)
{
    (void)why;
    r->over = r->stopping;
    live_hold(r->run->live, false);
    if (r->session && !r->done)
        record_series_done(r);
}

static void free_recorded_calls(struct record_series *r)
{
    live_hold(r->run->live, false);
}

const struct record_kind record_calls_kind = {.not_set = "calls are not counted",
                                              .works = "calls are counted now",
                                              .what = "counted calls",
                                              .may_begin = is_quiet,
                                              .open = open_recorded_calls,
                                              .refused = calls_refused,
                                              .changed = hold_ticks,
                                              .ended = recorded_calls_ended,
                                              .may_tick = calls_may_tick,
                                              .lost = lose_calls_link,
                                              .free = free_recorded_calls};
