/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_calls.h"

#include <jansson.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "record_retry.h"

#define NEAR_MS 300
#define WAIT_TURNS 20 /* of record_calls_tick() */

struct record_calls {
    struct record_calls_setup setup;
    struct session *session;
    struct record_retry retry;
    bool done; /* the session has ended, and is freed at the next turn */
    bool over; /* no more sessions on this life of the node */
    bool stopping;
    unsigned windows;
    int waited; /* turns, for the node to have answered all */
};

static int64_t known(uint64_t v)
{
    return v == CALLS_UNKNOWN || v > INT64_MAX ? -1 : (int64_t)v;
}

static void on_window(void *arg, const struct calls_window *w)
{
    struct record_calls *c = arg;
    if (record_retry_works(&c->retry))
        c->setup.tell(c->setup.arg, "calls are counted now");
    struct recorded_call *top = alloc_zero(w->n_rows + 1, sizeof *top);
    for (size_t i = 0; i < w->n_rows; i++) {
        const struct calls_function *f = &w->rows[i];
        top[i] = (struct recorded_call){
            .module = f->module, .function = f->function, .arity = (int64_t)f->arity,
            .calls = known(f->calls), .own_us = known(f->own_us), .words = known(f->words),
            .share = f->share};
    }
    const struct recorded_window window = {
        .wall_us = w->wall_us, .ns = (int64_t)w->interval_us * 1000,
        .functions = known(w->functions), .calls = known(w->calls), .lost = known(w->lost),
        .calls_per_s = w->calls_per_s, .top = top, .n_top = w->n_rows,
        .whole = w};
    recorder_window(c->setup.recorder, &window);
    c->windows++;
    free(top);
}

/* A report says why rules about calls have nothing to judge. */
static void note_refusal(struct record_calls *c, const char *why)
{
    json_t *fact = json_pack("{s:s}", "why", why);
    char *text = fact ? json_dumps(fact, JSON_COMPACT) : NULL;
    if (text)
        recorder_fact(c->setup.recorder, "calls_refused", text);
    free(text);
    json_decref(fact);
}

static void refused(struct record_calls *c, const struct error *why)
{
    char text[RECORD_RETRY_BYTES + 100];
    note_refusal(c, why->text);
    bool again = !c->over && !c->stopping;
    double every_s = c->setup.options.every_ms / 1000.0;
    if (!record_retry_refused(&c->retry, why->text, every_s, clock_mono_ns()))
        return;
    record_retry_text(text, sizeof text, &c->retry, "calls are not counted", again);
    c->setup.tell(c->setup.arg, text);
}

static void refuse(struct record_calls *c, const struct calls_state *state)
{
    struct error err = {.code = ERR_NONE};
    error_set(&err, ERR_REFUSED, "at about %.0f calls/s that would cost the node %.0f %% of its "
                                 "schedulers (--force counts all the same)",
              state->calls_per_s, state->load * 100);
    refused(c, &err);
    session_stop(c->session);
}

/* Another window would not be verified either. */
static void tell_left(struct record_calls *c, const char *what)
{
    struct error err = {.code = ERR_NONE};
    error_set(&err, ERR_TARGET, "something of counted calls is left on the node: %s", what);
    c->over = true;
    record_retry_gives_up(&c->retry, err.text);
    c->setup.tell(c->setup.arg, err.text);
}

static void ended(struct record_calls *c, const struct calls_state *state)
{
    c->done = true;
    /* What keeps it from the next window is by others, and stands there: not for us to verify. */
    if (state->status.phase == SESSION_ENDED && !state->status.check.clean &&
        state->status.error.code != ERR_REFUSED)
        tell_left(c, state->status.check.text);
    else if (state->status.error.code != ERR_NONE)
        refused(c, &state->status.error);
    if (c->stopping)
        c->setup.on_ended(c->setup.arg);
}

bool record_calls_counts(const struct record_calls *c)
{
    return c && c->session && calls_session_counts(c->session);
}

/* The next window opens soon: no tick is to begin before it that would end in it. */
static bool is_near(const struct record_calls *c)
{
    return calls_session_state(c->session)->status.phase == SESSION_WAITING &&
           calls_session_due_ms(c->session) <= NEAR_MS;
}

/* Our own questions would be among the calls; windows without a pause leave no time for ticks. */
static void hold_ticks(struct record_calls *c)
{
    bool first = calls_session_state(c->session)->status.phase == SESSION_PREPARING;
    live_hold(c->setup.live, calls_session_leaves_time(c->session) &&
                                 (first || is_near(c) || calls_session_counts(c->session)));
}

static void on_change(void *arg)
{
    struct record_calls *c = arg;
    const struct calls_state *state = calls_session_state(c->session);
    if (c->done)
        return;
    hold_ticks(c);
    switch (state->status.phase) {
    case SESSION_ASKING:
        refuse(c, state);
        break;
    case SESSION_ENDED:
    case SESSION_FAILED:
        ended(c, state);
        break;
    case SESSION_PREPARING:
    case SESSION_RUNNING:
    case SESSION_TIMING:
    case SESSION_WAITING:
    case SESSION_VERIFYING:
    case SESSION_ARMING:
    case SESSION_PAUSED:
    case SESSION_ENDING:
        break;
    }
}

static void begin(struct record_calls *c)
{
    static const struct session_handlers handlers = {.on_change = on_change,
                                                     .on_window = on_window};
    struct session_port port;
    struct error err = {.code = ERR_NONE};
    int rc = live_port(c->setup.live, &port, &err);
    if (rc == 0)
        rc = calls_open(&c->session, &c->setup.options, &port, &handlers, c, NULL, NULL, &err);
    c->done = false;
    c->over = rc == ERR_USAGE || rc == ERR_REFUSED; /* words, or what this release cannot count */
    if (rc != 0)
        refused(c, &err);
}

static void free_session(struct record_calls *c)
{
    if (!c->session)
        return;
    session_free(c->session);
    c->session = NULL;
}

struct record_calls *record_calls_new(const struct record_calls_setup *setup)
{
    struct record_calls *c = alloc_zero(1, sizeof *c);
    c->setup = *setup;
    return c;
}

void record_calls_quit(struct record_calls *c)
{
    if (!c)
        return;
    live_hold(c->setup.live, false);
    free_session(c);
}

void record_calls_free(struct record_calls *c)
{
    if (!c)
        return;
    free(c);
}

/* What of ours is still being evaluated on the node is waited for, a while. */
static bool is_quiet(struct record_calls *c)
{
    if (!live_is_asking(c->setup.live) || ++c->waited >= WAIT_TURNS)
        c->waited = 0;
    return c->waited == 0;
}

static bool may_begin(const struct record_calls *c)
{
    return !c->over && !c->stopping && record_retry_is_due(&c->retry, clock_mono_ns()) &&
           live_is_up(c->setup.live) && model_node(c->setup.model);
}

void record_calls_tick(struct record_calls *c)
{
    if (c->session && c->done)
        free_session(c);
    if (c->session) {
        hold_ticks(c);
        if (!is_near(c) || is_quiet(c))
            session_tick(c->session);
    } else if (may_begin(c) && is_quiet(c)) {
        begin(c);
    }
}

void record_calls_link_lost(struct record_calls *c)
{
    struct error err = {.code = ERR_NONE};
    bool waits = c->stopping && c->session && !c->done;
    if (c->session) {
        error_set(&err, ERR_LOST, "the link was lost");
        c->done = true; /* what the session tells now is for nobody */
        session_link_lost(c->session, &err);
    }
    record_calls_quit(c);
    record_retry_soon(&c->retry);
    c->over = false;
    if (waits)
        c->setup.on_ended(c->setup.arg);
}

bool record_calls_stop(struct record_calls *c)
{
    if (!c)
        return false;
    c->stopping = true;
    if (!c->session || c->done)
        return false;
    session_stop(c->session);
    return !c->done;
}

unsigned record_calls_windows(const struct record_calls *c)
{
    return c->windows;
}

const char *record_calls_refusal(const struct record_calls *c)
{
    return c->retry.why;
}

int record_calls_check(const struct calls_options *options, struct error *err)
{
    for (size_t i = 0; i < options->n_patterns; i++) {
        struct pattern **patterns = NULL;
        size_t n = 0, offset = 0;
        int rc = calls_patterns_parse(&patterns, &n, options->patterns[i], options->syntax, &offset, err);
        if (rc != 0)
            return rc;
        patterns_free(patterns, n);
    }
    return 0;
}
