/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A series of sessions in a recording: traces (record_trace.c), windows of counted calls
 * (record_calls.c), or captures of spans (record_spans.c). Their ends are kept and do not end the
 * recording. What keeps one from being set is reported and kept, and tried again later, less and
 * less often. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_SERIES_H
#define BEAMTOP_APP_RECORDER_RECORD_SERIES_H

#include <jansson.h>
#include <stdbool.h>

#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"
#include "beamtop/trace/calls.h"
#include "beamtop/trace/spans.h"
#include "beamtop/trace/trace.h"
#include "app/command/trace_print.h"
#include "app/source/live.h"
#include "record_retry.h"

struct record_series_setup {
    struct live *live;
    const struct model *model;
    struct recorder *recorder;
    struct trace_options trace; /* of one of them; texts are borrowed */
    struct calls_options calls;
    struct spans_capture spans;
    double every_s; /* traces and spans: from start to start; 0: one trace */
    double again_s; /* the first pause behind a refusal */
    bool counts;    /* traces: calls are counted too; before OTP 27 they wait for the trace */
    int64_t (*wall_us)(void *arg);             /* the node's clock; -1: not known */
    void (*tell)(void *arg, const char *text); /* a refusal; that it works after all */
    void (*on_ended)(void *arg); /* after record_series_stop(): nothing is left on the node */
    void *arg;
};

struct record_series;
enum record_series_of { RECORD_TRACES, RECORD_SPANS, RECORD_CALLS, RECORD_SERIES };

/* What a kind does on its own; NULL, where it may be: nothing. */
struct record_kind {
    const char *not_set, *works; /* "not traced", "traced now" */
    const char *what;            /* "a trace", of which something is left */
    bool (*may_begin)(struct record_series *r);
    /* With record_series_changed() as on_change, and r as the arg of the handlers. */
    int (*open)(struct record_series *r, const struct session_port *port, struct error *err);
    /* Not opened (r->session is NULL), too expensive, or failed. */
    void (*refused)(struct record_series *r, const struct error *why);
    void (*changed)(struct record_series *r); /* may be NULL, as those below but ended() */
    void (*ended)(struct record_series *r);
    bool (*may_tick)(struct record_series *r);
    void (*lost)(struct record_series *r); /* before the session is stopped */
    void (*free)(struct record_series *r); /* with the session */
};

struct record_series {
    const struct record_kind *kind;
    struct record_series_setup setup;
    struct session_port port;
    struct session *session; /* NULL: none now */
    struct record_retry retry;
    unsigned number; /* of traces that were armed; of windows; of captures */
    bool done;       /* the session has ended, and is freed at the next tick */
    bool over;       /* no more sessions */
    bool stopping;

    /* record_trace.c */
    struct trace_print *print;
    uint64_t next_ns; /* when the next one may begin */
    bool begun;       /* its start is in the recording */
    int64_t wall_us;  /* of its start */
    int exit_code, refused_code;

    /* record_spans.c */
    unsigned lost; /* captures that were due and not made */

    /* record_calls.c */
    int waited; /* turns, for the node to have answered all */
};

struct record_series *record_trace_new(const struct record_series_setup *setup);
struct record_series *record_calls_new(const struct record_series_setup *setup);
struct record_series *record_spans_new(const struct record_series_setup *setup);

/* ---- NULL is fine for all of these */

/* Before live_close(): frees. */
void record_series_free(struct record_series *r);
/* Ten times a second: begins when there is a link, and the node is known. */
void record_series_tick(struct record_series *r);
void record_series_link_lost(struct record_series *r);
/* After record_series_stop(): its end is not waited for any more. */
void record_series_abandon(struct record_series *r, const struct error *why);
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

struct record_series *record_series_new(const struct record_kind *kind,
                                        const struct record_series_setup *setup);
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
