/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captures of causal spans in a recording, one after the other. */
#include "record_series.h"
#include "record_state.h"

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
}

static void recorded_spans_ended(struct record_series *r)
{
    const struct spans_run *run = spans_session_run(r->session);
    if (run->status.check.unarmed)
        return;
    record_series_works(r);
    recorder_spans(r->run->recorder, run);
    r->number++;
}

/* ---- the kind */

static int open_recorded_spans(struct record_series *r, const struct session_port *port,
                               struct error *err)
{
    static const struct session_handlers handlers = {.on_change = record_series_changed};
    const struct cli_options *o = r->run->options;
    const unsigned every_ms = (unsigned)(r->every_s * 1000);
    struct spans_capture what = {.patterns = &o->spans, .n_patterns = 1, .request = o->request};
    if (every_ms < what.request.for_ms) /* a capture ends before the next one */
        what.request.for_ms = every_ms;
    return spans_open(&r->session, &what, port, &handlers, r, NULL, NULL, err);
}

const struct record_kind record_spans_kind = {.not_set = "spans are not captured",
                                              .works = "spans are captured now",
                                              .what = "a capture of spans",
                                              .open = open_recorded_spans,
                                              .refused = spans_refused,
                                              .ended = recorded_spans_ended};
