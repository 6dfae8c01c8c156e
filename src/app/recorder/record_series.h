/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A series of sessions in a recording: traces (record_trace.c), windows of counted calls
 * (record_calls.c), captures of spans (record_spans.c), system events (record_events.c), or runs of
 * the sampler in their place (record_samples.c). Their ends are kept and do not end the recording.
 * What keeps one from being set is reported and kept, and tried again later, less and less often.
 */
#ifndef BEAMTOP_APP_RECORDER_RECORD_SERIES_H
#define BEAMTOP_APP_RECORDER_RECORD_SERIES_H

#include <jansson.h>
#include <stdbool.h>

#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"
#include "beamtop/trace/calls.h"
#include "beamtop/trace/spans.h"
#include "beamtop/trace/trace.h"
#include "app/tracing/trace_print.h"
#include "record_retry.h"

struct recording_run; /* record_state.h */
struct record_series;

/* What a kind does on its own; NULL, where it may be: nothing. */
struct record_kind {
    const char *not_set, *works;                /* "not traced", "traced now" */
    const char *what;                           /* "a trace", of which something is left */
    bool (*may_begin)(struct record_series *r); /* now that its time has come */
    /* With record_series_changed() as on_change, and r as the arg of the handlers. */
    int (*open)(struct record_series *r, const struct session_port *port, struct error *err);
    /* Not opened (r->session is NULL), too expensive, or failed. */
    void (*refused)(struct record_series *r, const struct error *why);
    void (*changed)(struct record_series *r);
    void (*ended)(struct record_series *r); /* the session has */
    bool (*may_tick)(struct record_series *r);
    /* As record_series_lost(), before the session is stopped. */
    void (*lost)(struct record_series *r, const struct error *why);
    void (*free)(struct record_series *r); /* with the session */
};

extern const struct record_kind record_trace_kind, record_calls_kind, record_spans_kind,
    record_samples_kind, record_events_kind;

struct record_series {
    const struct record_kind *kind;
    struct recording_run *run;
    struct session_port port;
    struct session *session; /* NULL: none now */
    struct sample_log *log;  /* record_samples.c: in place of a session */
    double every_s;          /* from start to start; 0: one, or as the session says */
    double again_s;          /* the first pause behind a refusal */
    uint64_t next_ns;        /* when the next one may begin */
    struct record_retry retry;
    unsigned number; /* of traces that were armed; of windows; of captures */
    bool done;       /* the session has ended, and is freed at the next tick */
    bool over;       /* no more sessions */
    bool stopping;

    bool begun; /* record_trace.c, record_events.c: its start is in the recording */

    /* record_trace.c */
    struct trace_print *print;
    int64_t wall_us; /* of its start */
    int exit_code, refused_code;

    /* record_events.c */
    unsigned events; /* so far, of all runs */

    /* record_spans.c */
    unsigned lost; /* captures that were due and not made */

    /* record_calls.c */
    int waited; /* turns, for the node to have answered all */

    /* record_samples.c */
    bool waits;       /* the run has ended, and its processes have no names yet */
    bool told_yields; /* that the node samples itself */
};

struct record_series *record_series_new(const struct record_kind *kind, struct recording_run *run,
                                        double every_s, double again_s);

/* ---- NULL is fine for all of these */

/* Before live_close(): frees. */
void record_series_free(struct record_series *r);
/* Ten times a second: begins when there is a link, and the node is known. */
void record_series_tick(struct record_series *r);
/* why: after record_series_stop(), its end is not waited for any more; NULL: the link is lost. */
void record_series_lost(struct record_series *r, const struct error *why);
/* Ends; false: there is nothing to wait for. */
bool record_series_stop(struct record_series *r);
unsigned record_series_number(const struct record_series *r);
const char *record_series_refusal(const struct record_series *r); /* why there is none; or "" */

/* Calls cannot be counted while it is so. */
bool record_trace_holds_calls(const struct record_series *r);
/* As that of `beamtop trace`: the first other than success. A trace that was refused once and
   set later is a success. */
int record_trace_exit_code(const struct record_series *r);

/* ---- for the kinds */

/* True: report it, the reason has changed. */
bool record_series_refused(struct record_series *r, const struct error *why);
void record_series_works(struct record_series *r);
/* Told, and none follows. */
void record_series_gives_up(struct record_series *r, const struct error *why);
void record_series_done(struct record_series *r);
void record_series_changed(void *r); /* what follows from the phase of its session */
/* For reports; frees the fact. */
void record_series_fact(struct record_series *r, const char *key, json_t *fact);

#endif
