/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of causal spans in a recording, one after the other. */
#include "beamtop/base/clock.h"
#include "beamtop/trace/spans.h"
#include "record_series.h"

/* ---- events of the session */

/* A report says how many captures it does not have, and why. */
static void spans_refused(struct record_series *r, const struct error *why)
{
    if (!r->stopping)
        record_series_fact(
            r, "spans_lost",
            json_pack("{s:I,s:s}", "captures", (json_int_t)++r->lost, "why", why->text));
    r->over = r->over || why->code == ERR_USAGE; /* it does not mend itself */
    (void)record_series_refused(r, why);
    if (r->retry.due_ns > r->next_ns)
        r->next_ns = r->retry.due_ns;
}

static void spans_ended(struct record_series *r)
{
    const struct spans_run *run = spans_session_run(r->session);
    if (run->status.check.unarmed)
        return;
    record_series_works(r);
    recorder_spans(r->setup.recorder, run);
    r->number++;
}

/* ---- the kind */

static bool spans_may_begin(struct record_series *r)
{
    return clock_mono_ns() >= r->next_ns;
}

static int open_spans(struct record_series *r, const struct session_port *port, struct error *err)
{
    static const struct session_handlers handlers = {.on_change = record_series_changed};
    r->next_ns = clock_mono_ns() + (uint64_t)(r->setup.every_s * 1e9);
    return spans_open(&r->session, &r->setup.spans, port, &handlers, r, NULL, NULL, err);
}

struct record_series *record_spans_new(const struct record_series_setup *setup)
{
    static const struct record_kind kind = {.not_set = "spans are not captured",
                                            .works = "spans are captured now",
                                            .what = "a capture of spans",
                                            .may_begin = spans_may_begin,
                                            .open = open_spans,
                                            .refused = spans_refused,
                                            .ended = spans_ended};
    return record_series_new(&kind, setup);
}
