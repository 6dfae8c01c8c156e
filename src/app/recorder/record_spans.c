/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of causal spans in a recording, one after the other. */
#include <jansson.h>
#include <stdlib.h>

#include "beamtop/base/clock.h"
#include "beamtop/trace/spans.h"
#include "record_series.h"

/* ---- events of the session */

/* A report says how many captures it does not have, and why. */
static void note_lost(struct record_series *r, const char *why)
{
    json_t *fact = json_pack("{s:I,s:s}", "captures", (json_int_t)++r->lost, "why", why);
    char *text = fact ? json_dumps(fact, JSON_COMPACT) : NULL;
    if (text)
        recorder_fact(r->setup.recorder, "spans_lost", text);
    free(text);
    json_decref(fact);
}

static void refused(struct record_series *r, const struct error *why)
{
    if (!r->stopping)
        note_lost(r, why->text);
    r->over = r->over || why->code == ERR_USAGE; /* it does not mend itself */
    (void)record_series_refused(r, why);
    if (r->retry.due_ns > r->next_ns)
        r->next_ns = r->retry.due_ns;
}

static void refuse(struct record_series *r, const struct spans_run *run)
{
    struct error err = {0};
    session_refuse_cost(&err, run->calls_per_s, run->load, SPANS_COST);
    refused(r, &err);
    session_stop(r->session);
}

/* Another capture would not be verified either. */
static void give_up(struct record_series *r, const struct spans_run *run)
{
    struct error err = {0};
    error_set(&err, ERR_TARGET, "something of a capture of spans is left on the node: %s",
              run->status.check.text);
    record_series_gives_up(r, &err);
}

static void ended(struct record_series *r, const struct spans_run *run)
{
    const struct session_check *check = &run->status.check;
    if (!check->unarmed) {
        record_series_works(r);
        recorder_spans(r->setup.recorder, run);
        r->number++;
    }
    if (check->done && !check->clean)
        give_up(r, run);
    record_series_done(r);
}

static void on_change(void *arg)
{
    struct record_series *r = arg;
    const struct spans_run *run = spans_session_run(r->session);
    if (r->done)
        return;
    if (run->status.phase == SESSION_ASKING) {
        refuse(r, run);
    } else if (run->status.phase == SESSION_FAILED) {
        refused(r, &run->status.error);
        record_series_done(r);
    } else if (run->status.phase == SESSION_ENDED) {
        ended(r, run);
    }
}

/* ---- the kind */

static bool may_begin(struct record_series *r)
{
    return clock_mono_ns() >= r->next_ns;
}

static int open_spans(struct record_series *r, const struct session_port *port, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = on_change};
    r->next_ns = clock_mono_ns() + (uint64_t)(r->setup.every_s * 1e9);
    return spans_open(&r->session, &r->setup.spans, port, &handlers, r, NULL, NULL, err);
}

static void tick(struct record_series *r)
{
    session_tick(r->session);
}

static void lost(struct record_series *r, const struct error *why)
{
    (void)r;
    (void)why; /* the session ends with what came so far */
}

static void free_spans(struct record_series *r)
{
    (void)r;
}

struct record_series *record_spans_new(const struct record_series_setup *setup)
{
    static const struct record_kind kind = {.refused = "spans are not captured",
                                            .works = "spans are captured now",
                                            .may_begin = may_begin,
                                            .open = open_spans,
                                            .refuse = refused,
                                            .tick = tick,
                                            .lost = lost,
                                            .free = free_spans};
    return record_series_new(&kind, setup);
}
