/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_series.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"

/* ---- for the kinds */

struct record_series *record_series_new(const struct record_kind *kind,
                                        const struct record_series_setup *setup)
{
    struct record_series *r = alloc_zero(1, sizeof *r);
    r->kind = kind;
    r->setup = *setup;
    return r;
}

bool record_series_refused(struct record_series *r, const struct error *why)
{
    char text[RECORD_RETRY_BYTES + 100];
    if (!record_retry_refused(&r->retry, why->text, r->setup.again_s, clock_mono_ns()))
        return false;
    record_retry_text(text, sizeof text, &r->retry, r->kind->refused, !r->over && !r->stopping);
    r->setup.tell(r->setup.arg, text);
    return true;
}

void record_series_works(struct record_series *r)
{
    if (record_retry_works(&r->retry))
        r->setup.tell(r->setup.arg, r->kind->works);
}

void record_series_gives_up(struct record_series *r, const struct error *why)
{
    r->over = true;
    record_retry_gives_up(&r->retry, why->text);
    r->setup.tell(r->setup.arg, why->text);
}

void record_series_done(struct record_series *r)
{
    r->done = true;
    if (r->stopping)
        r->setup.on_ended(r->setup.arg);
}

/* ---- one after the other */

static void begin(struct record_series *r)
{
    struct error err = {0};
    r->done = false;
    int rc = live_port(r->setup.live, &r->port, &err);
    if (rc == 0)
        rc = r->kind->open(r, &r->port, &err);
    if (rc != 0)
        r->kind->refuse(r, &err);
}

static void free_session(struct record_series *r)
{
    r->kind->free(r);
    session_free(r->session);
    r->session = NULL;
}

void record_series_free(struct record_series *r)
{
    if (!r)
        return;
    r->done = true; /* reports of the session are ignored from here on */
    free_session(r);
    free(r);
}

void record_series_tick(struct record_series *r)
{
    if (!r)
        return;
    if (r->session && r->done)
        free_session(r);
    if (r->session)
        r->kind->tick(r);
    else if (!r->over && !r->stopping && live_is_up(r->setup.live) && model_node(r->setup.model) &&
             r->kind->may_begin(r))
        begin(r);
}

void record_series_link_lost(struct record_series *r)
{
    struct error err = {0};
    if (!r)
        return;
    error_set(&err, ERR_LOST, "the connection was lost");
    r->kind->lost(r, &err);
    if (r->session)
        session_link_lost(r->session, &err);
    if (r->retry.wait_s > 0)
        r->next_ns = 0;
    record_retry_soon(&r->retry);
}

void record_series_abandon(struct record_series *r, const struct error *why)
{
    if (!r)
        return;
    r->kind->lost(r, why);
    session_abandon(r->session, why);
}

bool record_series_stop(struct record_series *r)
{
    if (!r)
        return false;
    r->stopping = r->over = true;
    if (!r->session || r->done)
        return false;
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
