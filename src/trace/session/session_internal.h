/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a trace's life share. */
#ifndef BEAMTOP_TRACE_SESSION_SESSION_INTERNAL_H
#define BEAMTOP_TRACE_SESSION_SESSION_INTERNAL_H

#include "beamtop/base/buf.h"
#include "beamtop/trace/matchspec.h"
#include "beamtop/trace/session.h"
#include "prepare.h"

/* What is being waited for. The phase of the log is what a person sees of it. */
enum stage {
    STAGE_RECORDS,
    STAGE_PREFLIGHT,
    STAGE_NEAR,     /* names like one that is not there */
    STAGE_COUNT,
    STAGE_ASK,      /* a person, or for good in a dry run */
    STAGE_BASELINE,
    STAGE_ARM,
    STAGE_RUN,
    STAGE_END,      /* told to stop, not ended yet */
    STAGE_VERIFY,
    STAGE_OVER,
};

/* Texts of patterns and what was made of them. */
struct pattern_group {
    struct pattern **patterns;
    size_t n;
};

struct credit {
    uint64_t events, bytes;             /* a full credit now */
    uint64_t dealt_events, dealt_bytes; /* not granted anew yet */
    uint64_t round_events, round_bytes; /* since round_ns */
    uint64_t round_ns;
    bool hold;
};

/* The budget was shut: told as one event when the next counts say how many calls it cost. */
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

#define NAMES_AT_ONCE 64
#define NAMES_ASKED 4096 /* pids remembered as asked for; a power of two */

struct name_queue {
    struct etf_pid waiting[NAMES_AT_ONCE];
    size_t n;
    bool asked; /* a question is under way */
    struct etf_pid seen[NAMES_ASKED]; /* by hash; a collision is asked again */
};

struct trace_session {
    struct trace_port port;
    struct trace_handlers handlers;
    void *arg;
    struct trace_log *log;
    struct trace_state *state; /* the log's */
    struct pattern_group groups[LIMIT_TRACE_PATTERNS];
    size_t n_groups;
    struct pattern *patterns[LIMIT_TRACE_PATTERNS];
    struct matchspec specs[LIMIT_TRACE_PATTERNS];
    size_t n_patterns;
    struct procs procs;
    bool force, dry_run;
    struct record_store records;
    enum stage stage;
    bool opening;    /* within trace_open: nobody is told yet */
    bool stopping;   /* stop was asked for while something had to be waited for */
    uint8_t *preflight_bytes; /* what `preflight` points into */
    struct preflight preflight;
    struct trace_function *functions; /* with their numbers; names in preflight_bytes */
    struct armed baseline;
    uint64_t id;
    int64_t mono_start; /* native, at arming */
    int64_t wall_start_us;
    uint64_t per_second;
    uint64_t armed_ns, heard_ns, stopped_ns, ended_ns; /* ours; 0: not yet */
    bool verify_asked;
    struct buf held; /* messages before the answer `armed`, each after its length */
    struct credit credit;
    struct shut_time shut;
    bool dry;        /* the budget was shut since the last counts */
    bool dry_last;   /* and between them and those before */
    struct unseen unseen[LIMIT_TRACE_PATTERNS];
    bool fewer[LIMIT_TRACE_PATTERNS]; /* calls were counted than seen, by the last counts */
    bool narrowed;   /* by a person, in mid-trace: what is not seen is not all missed */
    uint64_t lost_told[LIMIT_TRACE_PATTERNS]; /* missed calls that an event told of */
    struct name_queue names;
    uint64_t rate_ns;
    uint64_t rate_shown[LIMIT_TRACE_PATTERNS];
};

/* ---- session.c */

void session_changed(struct trace_session *t);
void session_fail(struct trace_session *t, const struct error *why); /* nothing was armed */
size_t session_text_of(const struct trace_session *t, size_t pattern); /* which it is of */
/* Where the mistake is that it fails by: a byte of the pattern's text. */
void session_wrong(struct trace_session *t, size_t pattern, size_t offset);
/* Tells it to stop, and waits for its end. */
void session_end(struct trace_session *t);
void session_over(struct trace_session *t, enum trace_end end, const char *text);
void session_over_unarmed(struct trace_session *t); /* stopped before: there is nothing to verify */
void session_verify(struct trace_session *t);
void session_verify_again(struct trace_session *t);
void session_phase(struct trace_session *t, enum stage stage, enum trace_phase phase);
void session_proceed(struct trace_session *t); /* to the baseline and the arming */
int session_ask(struct trace_session *t, enum question question, struct builder *arg,
                answer_fn *fn, struct error *err); /* frees arg */
int session_tell(struct trace_session *t, struct builder *term); /* frees it */
/* {Tag, Id … of so many elements; the rest follows. */
struct builder *session_term(const struct trace_session *t, const char *tag, size_t arity);

/* ---- session_prepare.c */

/* Asks for records if there are any, else compiles and asks for the preflight. */
int session_prepare(struct trace_session *t, size_t *pattern, size_t *offset, struct error *err);

int session_mfa_order(const struct mfa *m, const struct mfa *n); /* as of memcmp */

/* ---- session_arm.c */

/* The match specifications: ERR_USAGE with the pattern and the offset. */
int session_compile(struct trace_session *t, size_t *pattern, size_t *offset, struct error *err);
struct builder *session_preflight_arg(const struct trace_session *t);
struct builder *session_count_arg(const struct trace_session *t, unsigned ms);
struct builder *session_arm_arg(const struct trace_session *t);
const char *session_cap_atom(enum cap cap); /* NULL: none that travels after arming */

/* ---- session_own.c */

/* The first function of pattern i that our evaluation on the node calls too; NULL: none. */
const struct mfa *session_own_function(const struct trace_session *t, size_t i);

/* ---- session_take.c */

void session_take(struct trace_session *t, const uint8_t *term, size_t len);
void session_ask_names(struct trace_session *t);
void session_grant(struct trace_session *t);
void session_rates(struct trace_session *t, uint64_t now);
/* Counts that come each second lag behind the events: no end may tell fewer calls than were seen. */
void session_lift_calls(struct trace_session *t);
uint64_t session_now(const struct trace_session *t);

#endif
