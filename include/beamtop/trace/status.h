/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The status of every session on a node, of any kind: its phase, why it failed, and what was left
 * on the node after it. Plain data for views and sinks. */
#ifndef BEAMTOP_TRACE_STATUS_H
#define BEAMTOP_TRACE_STATUS_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/error.h"

/* The first release with trace sessions: before, a node has one space for all tracing. */
#define OTP_SESSIONS 27

enum session_phase {
    SESSION_PREPARING, /* definitions, functions, other tools, the estimate */
    SESSION_ASKING,    /* expensive, or a dry run: waits for session_confirm or session_stop */
    SESSION_ARMING,
    SESSION_RUNNING, /* events arrive, or a window of calls is open */
    SESSION_PAUSED,
    SESSION_TIMING,  /* the second window of counted calls */
    SESSION_WAITING, /* for the next window */
    SESSION_ENDING,
    SESSION_VERIFYING,
    SESSION_ENDED,
    SESSION_FAILED, /* nothing was set on the node, or counting broke off: `error` says why */
};

/* The node's answer after the end to what is still set there. */
struct session_check {
    bool unarmed; /* stopped before anything was set: there is nothing to verify */
    bool done;
    bool clean;
    uint64_t after_us; /* since the end */
    uint64_t breakpoints, flags, processes, sessions;
    uint64_t control_word;
    bool system_tracer;  /* of a beamtop, not there before */
    bool system_monitor; /* the same */
    uint64_t tokens;     /* processes with a sequential trace token, of anyone: not judged */
    char text[240];      /* why it is not done or not clean; or "" */
};

struct session_status {
    enum session_phase phase;
    struct error error;              /* of SESSION_FAILED, or why windows of calls came to an end */
    bool wrong;                      /* that stands in the text of patterns number wrong_text … */
    size_t wrong_text, wrong_offset; /* … at that byte */
    char procs[240];                 /* the processes, as they were understood */
    struct session_check check;
};
/* It has not come to its end. */
bool session_status_runs(const struct session_status *s);

/* What the share of an expensive session is of. */
#define CALLS_COST "its scheduler time"
#define SPANS_COST "one scheduler"
#define TRACE_COST "one scheduler, or more since counting slows them"
/* "12% of one scheduler"; share 1: all of it. Above 1, "all of one scheduler, or more": callers
   that are slowed call less, so how much more is not known. */
const char *session_share_text(char *out, size_t size, double share, const char *of);
/* That nothing is left on where, a node's name; or why that is not known. */
void session_check_text(char *out, size_t size, const struct session_check *check,
                        const char *where);

#endif
