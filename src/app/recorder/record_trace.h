/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Traces in a recording: one for its caps, or one after the other. Ends of traces are kept and do
 * not end the recording. What keeps one from being armed is told and kept, and tried again later,
 * less and less often.
 */
#ifndef BEAMTOP_APP_RECORDER_RECORD_TRACE_H
#define BEAMTOP_APP_RECORDER_RECORD_TRACE_H

#include <stdbool.h>

#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"
#include "beamtop/trace/trace.h"
#include "app/source/live.h"

struct record_trace;

struct record_trace_setup {
    struct live *live;
    const struct model *model;
    struct recorder *recorder;
    struct trace_options options; /* its texts are borrowed */
    double every_s; /* from start to start; 0: one trace */
    double again_s; /* the first pause behind a refusal */
    bool counts;    /* calls are counted too: before OTP 27 they have to wait for the trace */
    int64_t (*wall_us)(void *arg); /* the node's clock; -1: not known */
    void (*tell)(void *arg, const char *text); /* why nothing is traced; that it is after all */
    void (*on_ended)(void *arg); /* after record_trace_stop(): nothing is left on the node */
    void *arg;
};

struct record_trace *record_trace_new(const struct record_trace_setup *setup);
/* Before and after live_close(); NULL is fine. */
void record_trace_quit(struct record_trace *c);
void record_trace_free(struct record_trace *c);

/* Ten times a second: begins when there is a link, and the node and its clock are known. */
void record_trace_tick(struct record_trace *c);
void record_trace_link_lost(struct record_trace *c);
/* Ends; false: there is nothing to wait for. */
bool record_trace_stop(struct record_trace *c);
/* Calls cannot be counted while it is so. */
bool record_trace_holds_calls(const struct record_trace *c);
unsigned record_trace_number(const struct record_trace *c); /* of traces that were armed */
const char *record_trace_refusal(const struct record_trace *c); /* why there is none; or "" */
/* As that of `beamtop trace`: the first that was none of success. What was refused at first, and
   traced after all, is a success. */
int record_trace_exit_code(const struct record_trace *c);

#endif
