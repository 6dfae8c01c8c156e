/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows of counted calls in a recording: a session for as long as there is a link, a new one
 * after each loss. What keeps it from counting is told, tried again later, less and less often, and
 * does not end the recording.
 */
#ifndef BEAMTOP_APP_RECORDER_RECORD_CALLS_H
#define BEAMTOP_APP_RECORDER_RECORD_CALLS_H

#include <stdbool.h>

#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"
#include "beamtop/trace/calls.h"
#include "app/source/live.h"

struct record_calls;

struct record_calls_setup {
    struct live *live;
    const struct model *model;
    struct recorder *recorder;
    struct calls_options options; /* its texts are borrowed */
    void (*tell)(void *arg, const char *text); /* why nothing is counted; that it is after all */
    void (*on_ended)(void *arg); /* after record_calls_stop(): nothing is left on the node */
    void *arg;
};

struct record_calls *record_calls_new(const struct record_calls_setup *setup);
/* Before and after live_close(); NULL is fine. */
void record_calls_quit(struct record_calls *c);
void record_calls_free(struct record_calls *c);

/* Ten times a second: begins when there is a link and the node is known. */
void record_calls_tick(struct record_calls *c);
void record_calls_link_lost(struct record_calls *c);
/* Ends; false: there is nothing to wait for. */
bool record_calls_stop(struct record_calls *c);
unsigned record_calls_windows(const struct record_calls *c);
const char *record_calls_refusal(const struct record_calls *c); /* why none are counted; or "" */
/* A window is open: ticks wait for its end where windows leave time for them. NULL: false. */
bool record_calls_counts(const struct record_calls *c);
/* A mistake in the words, before anything else is done. */
int record_calls_check(const struct calls_options *options, struct error *err);

#endif
