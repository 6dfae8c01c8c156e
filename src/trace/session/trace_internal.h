/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a trace's life share. */
#ifndef BEAMTOP_TRACE_SESSION_TRACE_INTERNAL_H
#define BEAMTOP_TRACE_SESSION_TRACE_INTERNAL_H

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/trace/trace.h"
#include "name_queue.h"
#include "preparation.h"

struct credit {
    uint64_t events, bytes;             /* a full credit now */
    uint64_t dealt_events, dealt_bytes; /* not granted again yet */
    uint64_t round_events, round_bytes; /* since round_ns */
    uint64_t round_ns;
    bool hold;
};

/* Calls were skipped: one event when the next counts say how many. */
struct shut_time {
    bool any;
    int64_t from, until; /* native */
    char why[32];
};

/* Calls that were not seen. */
struct unseen {
    uint64_t counted; /* by the last counts */
    uint64_t shut;    /* of them between counts with a shut budget in between */
    uint64_t settled; /* at the last such counts */
};

struct trace_session {
    struct session s;
    struct trace_log *log;
    struct trace_state *state; /* the log's */
    struct caps asked;         /* at its start: what it is extended by */
    struct preparation prep;
    struct trace_function *functions; /* with their numbers; names in prep.preflight_bytes */
    uint64_t id;
    int64_t mono_start; /* native, at arming */
    int64_t wall_start_us;
    uint64_t per_second;
    uint64_t armed_ns, heard_ns, stopped_ns; /* ours; 0: not yet */
    struct buf held; /* messages before the answer `armed`, each after its length */
    struct credit credit;
    struct shut_time shut;
    bool dry;      /* the budget was shut since the last counts */
    bool dry_last; /* and between them and those before */
    bool dry_ever;
    struct unseen unseen[LIMIT_TRACE_PATTERNS];
    bool fewer[LIMIT_TRACE_PATTERNS]; /* calls were counted than seen, by the last counts */
    bool one;                         /* of one process, with its off-CPU time */
    bool narrowed; /* by the user, in mid-trace: what is not seen is not all missed */
    uint64_t lost_reported[LIMIT_TRACE_PATTERNS]; /* missed calls that an event has reported */
    uint64_t unread;                              /* events that could not be read */
    struct name_queue names;
    uint64_t rate_ns;
    uint64_t rate_shown[LIMIT_TRACE_PATTERNS];
};

/* ---- trace.c */

bool trace_is_set(const struct trace_session *t);     /* asked to be set, and not asked to end */
bool trace_is_running(const struct trace_session *t); /* or paused */
size_t trace_text_of(const struct trace_session *t, size_t pattern); /* which it is of */
/* Where the error is that it fails by: a byte of the pattern's text. */
void trace_wrong(struct session *s, size_t pattern, size_t offset);
/* Its end, unless it has one. */
void trace_set_end(struct trace_session *t, enum trace_end end, const char *format, ...)
    ATTR_PRINTF(3, 4);
void trace_finish(struct trace_session *t); /* asks it to stop, and waits for its end */
/* {Tag, Id … of so many elements; the rest follows. */
struct builder *trace_term(const struct trace_session *t, const char *tag, size_t arity);

/* ---- trace_act.c */

void trace_stop(struct session *s);
void trace_lost(struct session *s, const struct error *why);
void trace_tick(struct session *s);
int64_t trace_ns(const struct trace_session *t, int64_t native); /* of the node's clock */
void trace_report_running(struct trace_session *t, struct pushed_event *e);

/* ---- trace_prepare.c */

extern const struct preparation_kind trace_preparation;

int trace_mfa_order(const struct mfa *m, const struct mfa *n); /* as of memcmp */

/* ---- trace_arm.c */

struct builder *trace_arm_arg(const struct trace_session *t);

/* ---- trace_own.c */

/* The first function of pattern i that our evaluation on the node calls too; NULL: none. */
const struct mfa *trace_own_function(const struct trace_session *t, size_t i);

/* ---- trace_take.c */

void trace_take(void *t, const uint8_t *term, size_t len); /* what the node pushes */
void trace_ask_names(struct trace_session *t);
void trace_grant(struct trace_session *t);
void trace_rates(struct trace_session *t, uint64_t now);

/* ---- trace_counts.c */

void trace_take_status(struct trace_session *t, const struct trace_status *s);
void trace_take_counts(struct trace_session *t, struct push *p);
void trace_last_counts(struct trace_session *t); /* no more will come */
/* Counts that come each second lag behind the events: an end has at least the calls seen. */
void trace_lift_calls(struct trace_session *t);

#endif
