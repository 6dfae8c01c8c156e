/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_series.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "app/sample/sample_log.h"
#include "record_state.h"

/* ---- for the kinds */

struct record_series *record_series_new(const struct record_kind *kind, struct recording_run *run,
                                        double every_s, double again_s)
{
    struct record_series *r = alloc_zero(1, sizeof *r);
    r->kind = kind;
    r->run = run;
    r->every_s = every_s;
    r->again_s = again_s;
    return r;
}

bool record_series_refused(struct record_series *r, const struct error *why)
{
    char text[RECORD_RETRY_BYTES + 100];
    if (!record_retry_refused(&r->retry, why->text, r->again_s, clock_mono_ns()))
        return false;
    record_retry_text(text, sizeof text, &r->retry, r->kind->not_set, !r->over && !r->stopping);
    record_run_tell(r->run, "%s", text);
    return true;
}

void record_series_works(struct record_series *r)
{
    if (record_retry_works(&r->retry))
        record_run_tell(r->run, "%s", r->kind->works);
}

void record_series_gives_up(struct record_series *r, const struct error *why)
{
    r->over = true;
    record_retry_gives_up(&r->retry, why->text);
    record_run_tell(r->run, "%s", why->text);
}

void record_series_done(struct record_series *r)
{
    r->done = true;
    if (r->stopping)
        record_run_verified(r->run);
}

/* Another session would not be verified either. What keeps calls from their next window is by
 * others, and stands there: not for us to verify. */
static bool leaves_something(const struct session *s)
{
    const struct session_status *status = session_status(s);
    return !status->check.unarmed && !status->check.clean && status->error.code != ERR_REFUSED &&
           session_trouble(s).code == ERR_TARGET;
}

static void tell_series_left(struct record_series *r)
{
    struct error err = {0};
    error_set(&err, ERR_TARGET, "something of %s is left on the node: %s", r->kind->what,
              session_status(r->session)->check.text);
    record_series_gives_up(r, &err);
}

void record_series_changed(void *arg)
{
    struct record_series *r = arg;
    const struct session_status *status = session_status(r->session);
    struct error err = {0};
    if (r->done)
        return;
    if (r->kind->changed)
        r->kind->changed(r);
    if (status->phase == SESSION_ASKING) {
        session_refuse_cost(&err, r->session);
        r->kind->refused(r, &err);
        session_stop(r->session);
    } else if (status->phase == SESSION_FAILED) {
        r->kind->refused(r, &status->error);
        record_series_done(r);
    } else if (status->phase == SESSION_ENDED) {
        r->kind->ended(r);
        if (leaves_something(r->session) && r->kind->what)
            tell_series_left(r);
        record_series_done(r);
    }
}

void record_series_fact(struct record_series *r, const char *key, json_t *fact)
{
    char *text = fact ? json_dumps(fact, JSON_COMPACT) : NULL;
    if (text)
        recorder_fact(r->run->recorder, key, text);
    free(text);
    json_decref(fact);
}

/* ---- one after the other */

static void begin_session(struct record_series *r)
{
    struct error err = {0};
    r->next_ns = clock_mono_ns() + (uint64_t)(r->every_s * 1e9);
    int rc = live_port(r->run->live, &r->port, &err);
    if (rc == 0)
        rc = r->kind->open(r, &r->port, &err);
    if (rc != 0)
        r->kind->refused(r, &err);
}

static void free_session(struct record_series *r)
{
    if (r->kind->free)
        r->kind->free(r);
    session_free(r->session);
    r->session = NULL;
    r->done = false;
}

void record_series_free(struct record_series *r)
{
    if (!r)
        return;
    r->done = true; /* reports of the session are ignored from here on */
    free_session(r);
    free(r);
}

static bool may_begin(struct record_series *r)
{
    const uint64_t now = clock_mono_ns();
    return !r->over && !r->stopping && now >= r->next_ns && record_retry_is_due(&r->retry, now) &&
           live_is_up(r->run->live) && model_node(r->run->model) &&
           (!r->kind->may_begin || r->kind->may_begin(r));
}

void record_series_tick(struct record_series *r)
{
    if (!r)
        return;
    if (r->done)
        free_session(r);
    if (!r->session && !r->log) {
        if (may_begin(r))
            begin_session(r);
    } else if (!r->kind->may_tick || r->kind->may_tick(r)) {
        session_tick(r->session);
    }
}

void record_series_lost(struct record_series *r, const struct error *why)
{
    struct error err = {0};
    if (!r)
        return;
    if (r->kind->lost)
        r->kind->lost(r, why);
    if (why) {
        session_abandon(r->session, why);
        return;
    }
    error_set(&err, ERR_LOST, "the connection was lost");
    if (r->session)
        session_link_lost(r->session, &err);
    if (r->retry.wait_s > 0)
        r->next_ns = 0;
    record_retry_soon(&r->retry);
}

bool record_series_stop(struct record_series *r)
{
    if (!r)
        return false;
    r->stopping = r->over = true;
    if ((!r->session && !r->log) || r->done)
        return false;
    if (r->log)
        sample_log_stop(r->log);
    else
        session_stop(r->session);
    return !r->done;
}

unsigned record_series_number(const struct record_series *r)
{
    return r ? r->number : 0;
}

const char *record_series_refusal(const struct record_series *r)
{
    return r ? r->retry.why : "";
}
