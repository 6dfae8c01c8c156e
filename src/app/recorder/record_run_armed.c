/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands on the node during a recording, counted calls, traces, captures of spans and system
   events, and runs of the sampler: begun, turned and ended. */
#include <assert.h>
#include <string.h>

#include "record_series.h"
#include "record_state.h"

#define TURN_MS 100u /* of the sessions */
/* Windows of calls follow each other after this time, and what was refused is tried again, unless
   --every says otherwise. */
#define EVERY_S 10.0
#define SPANS_EVERY_S 60.0
#define SAMPLES_EVERY_S 60.0
/* The end waits so long for the check that nothing is left on the node: what is set has some
   seconds to end, and the question for it 15 s. `record stop` waits for longer. */
#define PROOF_MS 20000u

static void on_series_turn(uv_timer_t *timer)
{
    struct recording_run *t = timer->data;
    for (size_t i = 0; i < RECORD_SERIES; i++)
        if (i != RECORD_CALLS || !record_trace_holds_calls(t->series[RECORD_TRACES]))
            record_series_tick(t->series[i]);
}

int record_run_armed_check(const struct record_setup *setup, struct error *err)
{
    const struct cli_options *o = setup->options;
    int rc = 0;
    for (size_t i = 0; setup->calls && rc == 0 && i < setup->n_patterns; i++)
        rc = patterns_check(calls_pattern_check, setup->patterns[i], o->request.syntax, NULL, err);
    return rc == 0 && o->spans
               ? patterns_check(spans_pattern_check, o->spans, o->request.syntax, NULL, err)
               : rc;
}

void record_run_armed_start(struct recording_run *t)
{
    const struct cli_options *o = t->options;
    const double again_s = o->every_s > 0 ? o->every_s : EVERY_S;
    const double spans_s = o->spans_every_s > 0 ? o->spans_every_s : SPANS_EVERY_S;
    const double asked_s = o->sample_every_s > 0 ? o->sample_every_s : SAMPLES_EVERY_S;
    const double samples_s = asked_s > o->sample_s ? asked_s : o->sample_s;
    const struct {
        bool asked;
        const struct record_kind *kind;
        double every_s, again_s;
    } all[RECORD_SERIES] = {
        [RECORD_TRACES] = {t->setup->n_traced > 0, &record_trace_kind, o->every_s, again_s},
        [RECORD_SPANS] = {o->spans != NULL, &record_spans_kind, spans_s, again_s},
        [RECORD_CALLS] = {t->setup->calls, &record_calls_kind, 0, again_s},
        [RECORD_SAMPLES] = {o->sample_s > 0, &record_samples_kind, samples_s, samples_s},
        [RECORD_EVENTS] = {o->system_events, &record_events_kind, 0, again_s},
    };
    for (size_t i = 0; i < RECORD_SERIES; i++)
        if (all[i].asked) {
            t->series[i] = record_series_new(all[i].kind, t, all[i].every_s, all[i].again_s);
            uv_timer_start(&t->turn, on_series_turn, TURN_MS, TURN_MS);
        }
}

void record_run_armed_link_lost(struct recording_run *t)
{
    for (size_t i = 0; i < RECORD_SERIES; i++)
        record_series_lost(t->series[i], NULL);
}

void record_run_armed_close(struct recording_run *t)
{
    for (size_t i = 0; i < RECORD_SERIES; i++)
        record_series_free(t->series[i]);
    memset(t->series, 0, sizeof t->series);
}

/* ---- its end */

/* True: the loop stops when it is verified that nothing is left. */
static bool stop_series(struct recording_run *t)
{
    t->asking_to_end = true;
    for (size_t i = 0; i < RECORD_SERIES; i++)
        t->waiting += record_series_stop(t->series[i]);
    t->asking_to_end = false;
    return t->waiting > 0;
}

/* What is set on the node ends with the link: its end is recorded, without the check. */
void record_run_end_unproven(struct recording_run *t, const char *text)
{
    struct error why = {0};
    error_set(&why, ERR_TIMEOUT, "%s", text);
    record_run_tell(t, "%s; what is left ends with the connection", text);
    uv_timer_stop(&t->turn); /* the sessions live until record_run_armed_close() */
    for (size_t i = 0; i < RECORD_SERIES; i++)
        record_series_lost(t->series[i], &why);
    uv_stop(&t->rt.loop);
}

static void on_proof_late(uv_timer_t *timer)
{
    static_assert(PROOF_MS == 20000, "the text has it");
    record_run_end_unproven(timer->data,
                            "the node did not verify in 20 s that nothing is left on it");
}

void record_run_finish(struct recording_run *t, const char *why, int exit_code,
                       const struct error *err)
{
    if (!runtime_ends(&t->rt, exit_code, err))
        return;
    t->why = why;
    if (stop_series(t))
        uv_timer_start(&t->until, on_proof_late, PROOF_MS, 0);
    else
        uv_stop(&t->rt.loop);
}
