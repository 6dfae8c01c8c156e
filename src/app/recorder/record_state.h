/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording that runs: what was asked for, its state, what it says. Each file uses those below:
 * record_run.c (loop, signals, progress, the first and the last step), record_run_requests.c (what
 * others ask for through the socket), record_run_source.c (what the node says, and is asked at and
 * beside ticks), record_run_armed.c (what is set on the node: counted calls, traces; the end),
 * record_state.c. Each writes only to its own part of the struct. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_STATE_H
#define BEAMTOP_APP_RECORDER_RECORD_STATE_H

#include <uv.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "app/cli/cli.h"
#include "app/command/settings.h"
#include "app/fleet/fleet_index.h"
#include "app/source/feed.h"
#include "app/live/live.h"
#include "app/source/runtime.h"
#include "record_control.h"
#include "app/source/target.h"

struct record_series;
enum record_series_of {
    RECORD_TRACES,
    RECORD_SPANS,
    RECORD_CALLS,
    RECORD_SAMPLES,
    RECORD_EVENTS,
    RECORD_SERIES
};

/* What a recorder says to the process that has started it with others, in memory of both. */
struct record_clocks {
    struct recorded_clock begin, end;
    int64_t ticks;
};

struct record_setup {
    const struct cli_options *options;
    const struct app_env *env;
    const char *node; /* as it was typed */
    const char *file;
    const char *const *patterns; /* of calls to count */
    size_t n_patterns;
    const char *const *traced; /* patterns of calls and messages to trace; none: no trace */
    size_t n_traced;
    struct trace_request trace;   /* with what the configuration says */
    bool calls;                   /* count them; without patterns those of every function */
    bool detached;                /* no progress, and the end of a terminal does not end it */
    bool several;                 /* nodes: `node` is their names, `file` a directory */
    struct record_clocks *clocks; /* NULL: nobody asks */
    const struct cookie *lent;    /* by who has named the node; NULL: it was typed */
    int ready_fd;                 /* gets "ok" at the first tick, or the error; -1: none */
};

struct recording_run {
    const struct record_setup *setup;
    const struct cli_options *options;

    /* record_run.c */
    struct buf file; /* its name, fit for a terminal */
    struct runtime rt;
    uv_timer_t progress, until;
    struct target target;
    struct model *model;
    struct recorder *recorder;

    /* record_state.c */
    bool shown_progress, reported_ready, log_is_full;

    /* record_run_source.c */
    struct live *live;
    struct feed feed;
    char node[LIMIT_NODE_NAME_BYTES + 1]; /* what it calls itself; before that what it was called */
    bool has_node;                        /* its own answer about itself, since it is there */
    bool was_up, is_locked;
    bool is_timed;            /* --for counts */
    bool is_over;             /* its time: the next tick is the last */
    double wall_less_here_us; /* the node's clock against ours */

    /* record_run_armed.c */
    struct record_series *series[RECORD_SERIES]; /* by enum record_series_of; NULL: none */
    uv_timer_t turn;
    unsigned waiting; /* at the end: for so many proofs, and for the last run of the sampler */
    bool asking_to_end;
    const char *why; /* the recording's end */

    /* record_run_requests.c */
    struct record_control *control;
    int64_t marks;
};

/* On stderr, where the progress stood. */
void record_run_tell(struct recording_run *t, const char *format, ...) ATTR_PRINTF(2, 3);
void record_run_clear_progress(struct recording_run *t);
/* To who started a detached recording, and waits for one line. */
void record_run_tell_ready(struct recording_run *t, const char *text);
/* At the end: of one that is waited for it is verified that nothing is left on the node. */
void record_run_verified(struct recording_run *t);
/* The node's clock now; -1: not known. */
int64_t record_run_node_wall_us(const struct recording_run *t);

/* ---- record_run_source.c */
int record_run_source_open(struct recording_run *t, double interval_s, struct error *err);

/* ---- record_run_armed.c */
/* An error in the arguments, before anything else is done. */
int record_run_armed_check(const struct record_setup *setup, struct error *err);
void record_run_armed_start(struct recording_run *t);
void record_run_armed_link_lost(struct recording_run *t);
/* Ends the recording. The first reason counts. The loop stops when it is proven that nothing is
 * left on the node. */
void record_run_finish(struct recording_run *t, const char *why, int exit_code,
                       const struct error *err);
/* After that: what is armed ends with the link, and the proof is not waited for. */
void record_run_end_unproven(struct recording_run *t, const char *text);
void record_run_armed_close(struct recording_run *t); /* before live_close() */

/* ---- record_run_requests.c */
void record_run_requests_open(struct recording_run *t);

/* ---- record_run.c */
/* A recording from its first tick to its end, in the foreground or detached: prints on stderr what
   went wrong and what was written. The exit code. */
int record_run(const struct record_setup *setup);

#endif
