/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The life that all kinds of sessions share: questions in order, baseline, estimate and consent,
 * end and verification. A kind is a struct with a struct session as its first member. */
#ifndef BEAMTOP_TRACE_SESSION_SESSION_BASE_H
#define BEAMTOP_TRACE_SESSION_SESSION_BASE_H

#include "beamtop/base/limits.h"
#include "beamtop/trace/pattern.h"
#include "beamtop/trace/procs.h"
#include "beamtop/trace/session.h"
#include "trace/log/decode.h"

/* What a kind does on its own. All may assume that the session has not ended. */
struct session_kind {
    enum question question; /* whose process on the node is addressed */
    const char *session;    /* the name of the trace session that it makes there (OTP 27) */
    bool control_word;      /* it sets the trace control word */
    const char *cost;       /* what the share of its estimate is of */
    /* What ended it, where that was the node (ERR_TARGET) or the connection (ERR_LOST). NULL: those
       fail it. */
    void (*broken_off)(const struct session *s, struct error *err);
    void (*proceed)(struct session *s); /* cheap, or confirmed */
    void (*close)(struct session *s);   /* asked to stop while nothing runs */
    void (*stop)(struct session *s);    /* something is set, or about to be */
    void (*broken)(struct session *s, const struct error *why); /* a question cannot be asked */
    void (*lost)(struct session *s, const struct error *why);   /* as session_link_lost() */
    void (*tick)(struct session *s);
    void (*free)(struct session *s); /* asks the node to stop, frees all but s itself */
};

struct session {
    const struct session_kind *kind;
    struct session_port port;
    char node[LIMIT_NODE_NAME_BYTES + 1];
    struct session_handlers handlers;
    void *arg;
    struct session_status *status; /* the kind's, as its estimate */
    const double *calls_per_s, *load;
    struct procs procs;
    struct pattern **groups[LIMIT_TRACE_PATTERNS]; /* of each text */
    size_t group_sizes[LIMIT_TRACE_PATTERNS], n_groups;
    struct pattern *patterns[LIMIT_TRACE_PATTERNS]; /* of all texts */
    size_t n_patterns;
    struct preparation *preparation; /* of a kind that has one */
    bool force, dry_run;
    bool hold;     /* waits for consent whatever it costs */
    bool quiet;    /* opening, or its end: on_change is not called */
    bool touched;  /* counters, breakpoints or flags of ours may be set on the node */
    bool stopping; /* stop was asked for while something had to be waited for */
    bool detached; /* the port must not be used */
    bool verify_asked;
    struct armed baseline;
    void (*next)(struct session *s); /* after the baseline */
    uint64_t asked_ns, ended_ns;     /* of the check; of the end */
};

/* Pieces of opening: copies the port, parses texts and processes, fills status->procs. */
void session_init(struct session *s, const struct session_kind *kind,
                  const struct session_port *port, const struct session_handlers *handlers,
                  void *arg, struct session_status *status);
int session_parse(struct session *s, const char *const *texts, size_t n, enum syntax syntax,
                  pattern_check_fn *check, size_t *pattern, size_t *offset, struct error *err);
int session_parse_procs(struct session *s, const char *procs, struct error *err);
int session_opened(struct session **out, struct session *s, int rc); /* rc: of it all; or frees */

uint64_t session_now(const struct session *s);
void session_changed(struct session *s);
void session_enter(struct session *s, enum session_phase phase);
void session_fail(struct session *s, const struct error *why);
void session_over(struct session *s);

/* Both free the builder. An answer to fn has s as its arg. */
int session_ask(struct session *s, enum question question, struct builder *arg,
                unsigned deadline_ms, answer_fn *fn, struct error *err);
int session_tell(struct session *s, struct builder *term);
/* Enters a phase with a question, and is broken if it cannot be asked. Frees arg. */
void session_step(struct session *s, enum session_phase phase, enum question question,
                  struct builder *arg, unsigned deadline_ms, answer_fn *fn);
/* What is set on the node before it, for the check at the end; then `next`. */
void session_baseline(struct session *s, enum session_phase phase, void (*next)(struct session *s));
/* After the estimate: stops, waits for consent, or proceeds. */
void session_estimated(struct session *s, bool expensive);
/* {pids, [Pid]}, or all, running, new. */
void session_build_procs(struct builder *b, const struct preflight *p);
/* The end: asks what is left until nothing is, or for two seconds. */
void session_verify(struct session *s);

#endif
