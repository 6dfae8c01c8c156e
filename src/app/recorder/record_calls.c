/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of counted calls in a recording: a session for as long as there is a link. */
#include <jansson.h>
#include <stdlib.h>

#include "beamtop/base/clock.h"
#include "record_series.h"

#define NEAR_MS 300
#define WAIT_TURNS 20 /* of record_series_tick() */

static void on_window(void *arg, const struct calls_window *w)
{
    struct record_series *r = arg;
    record_series_works(r);
    recorder_calls(r->setup.recorder, w, true);
    r->number++;
}

/* A report says why rules about calls have nothing to judge. */
static void note_refusal(struct record_series *r, const char *why)
{
    json_t *fact = json_pack("{s:s}", "why", why);
    char *text = fact ? json_dumps(fact, JSON_COMPACT) : NULL;
    if (text)
        recorder_fact(r->setup.recorder, "calls_refused", text);
    free(text);
    json_decref(fact);
}

static void refused(struct record_series *r, const struct error *why)
{
    note_refusal(r, why->text);
    (void)record_series_refused(r, why);
}

static void refuse(struct record_series *r, const struct calls_state *state)
{
    struct error err = {0};
    session_refuse_cost(&err, state->calls_per_s, state->load, CALLS_COST);
    refused(r, &err);
    session_stop(r->session);
}

/* Another window would not be verified either. */
static void tell_left(struct record_series *r, const char *what)
{
    struct error err = {0};
    error_set(&err, ERR_TARGET, "something of counted calls is left on the node: %s", what);
    record_series_gives_up(r, &err);
}

static void ended(struct record_series *r, const struct calls_state *state)
{
    /* What keeps it from the next window is by others, and stands there: not for us to verify. */
    if (state->status.phase == SESSION_ENDED && !state->status.check.clean &&
        state->status.error.code != ERR_REFUSED)
        tell_left(r, state->status.check.text);
    else if (state->status.error.code != ERR_NONE)
        refused(r, &state->status.error);
    record_series_done(r);
}

/* The next window opens soon: no tick is to begin before it that would end in it. */
static bool is_near(const struct record_series *r)
{
    return calls_session_state(r->session)->status.phase == SESSION_WAITING &&
           calls_session_due_ms(r->session) <= NEAR_MS;
}

/* Our own questions would be among the calls; windows without a pause leave no time for ticks. */
static void hold_ticks(struct record_series *r)
{
    bool first = calls_session_state(r->session)->status.phase == SESSION_PREPARING;
    live_hold(r->setup.live, calls_session_leaves_time(r->session) &&
                                 (first || is_near(r) || calls_session_counts(r->session)));
}

static void on_change(void *arg)
{
    struct record_series *r = arg;
    const struct calls_state *state = calls_session_state(r->session);
    if (r->done)
        return;
    hold_ticks(r);
    if (state->status.phase == SESSION_ASKING)
        refuse(r, state);
    else if (!session_status_runs(&state->status))
        ended(r, state);
}

/* What of ours is still being evaluated on the node is waited for, a while. */
static bool is_quiet(struct record_series *r)
{
    if (!live_is_asking(r->setup.live) || ++r->waited >= WAIT_TURNS)
        r->waited = 0;
    return r->waited == 0;
}

/* ---- the kind */

static bool may_begin(struct record_series *r)
{
    return record_retry_is_due(&r->retry, clock_mono_ns()) && is_quiet(r);
}

static int open_calls(struct record_series *r, const struct session_port *port, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_change,
                                                     .on_window = on_window};
    r->setup.calls.whole = true; /* reports and rules know nothing of what would be left out */
    return calls_open(&r->session, &r->setup.calls, port, &handlers, r, NULL, NULL, err);
}

/* Words do not mend themselves, nor does what this release cannot count. */
static void refuse_opening(struct record_series *r, const struct error *why)
{
    r->over = why->code == ERR_USAGE || why->code == ERR_REFUSED;
    refused(r, why);
}

static void tick(struct record_series *r)
{
    hold_ticks(r);
    if (!is_near(r) || is_quiet(r))
        session_tick(r->session);
}

/* Another life of the node: what it refused may work then. */
static void lost(struct record_series *r, const struct error *why)
{
    (void)why;
    r->over = r->stopping;
    live_hold(r->setup.live, false);
    if (r->session && !r->done)
        record_series_done(r);
}

static void free_calls(struct record_series *r)
{
    live_hold(r->setup.live, false);
}

struct record_series *record_calls_new(const struct record_series_setup *setup)
{
    static const struct record_kind kind = {.refused = "calls are not counted",
                                            .works = "calls are counted now",
                                            .may_begin = may_begin,
                                            .open = open_calls,
                                            .refuse = refuse_opening,
                                            .tick = tick,
                                            .lost = lost,
                                            .free = free_calls};
    return record_series_new(&kind, setup);
}
