/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions to one target over one connection: asks natively what can be, starts the keeper there
 * for the first question that needs it, matches answers to questions, and gives each a deadline.
 * docs/queries.md is the protocol. One thread: the loop's. Callbacks come from the loop, never
 * from within query_ask(). */
#ifndef BEAMTOP_QUERY_QUERY_H
#define BEAMTOP_QUERY_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/base/question.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

struct conn;
struct query;

struct answer {
    enum question question;
    const uint8_t
        *value; /* checked, without version byte; borrowed for the callback; NULL on failure */
    size_t len;
    double target_us; /* CPU time of the helper processes for this answer */
    struct error err; /* ERR_TARGET, ERR_TIMEOUT, ERR_LIMIT, ERR_LOST, or none */
};

typedef void answer_fn(void *arg, const struct answer *answer);

struct query_handlers {
    void (*on_ready)(void *arg); /* the node has answered: from now on it can be asked */
    void (*on_failed)(void *arg, const struct error *err); /* it has not, or the keeper has ended */
    void (*on_keeper)(void *arg);                          /* the keeper stands. May be NULL */
    /* An answer for another fn_arg than `arg` has come, with its CPU time. May be NULL. */
    void (*on_work)(void *arg, double target_us);
    /* How far a question in flight is, as the node says: 0 <= done <= all, all > 0. May be NULL. */
    void (*on_progress)(void *arg, enum question question, int64_t done, int64_t all);
};

/* Takes what conn receives until query_close(), which conn_close() must follow, and asks the target
 * for the first time: on_ready or on_failed follows within deadline_ms, which is also that of a
 * start of the keeper. */
int query_open(struct query **out, uv_loop_t *loop, struct conn *conn,
               const struct query_handlers *handlers, void *arg, unsigned deadline_ms,
               struct error *err);

/*
 * Asks. `arg_term` is the question's Arg (borrowed). The answer, or an error by the deadline,
 * comes to fn exactly once, unless query_close() comes first. ERR_LIMIT with LIMIT_CALLS_IN_FLIGHT
 * questions open. Where the keeper could not be started, the questions that waited for it fail, and
 * for 10 s those that need it fail at once, with ERR_TIMEOUT or ERR_TARGET. */
int query_ask(struct query *q, enum question question, const struct builder *arg_term,
              unsigned deadline_ms, answer_fn *fn, void *fn_arg, struct error *err);
/* Sets the number of schedulers of all kinds, the use of the normal ones (0..1), and whether
 * processes wait for one: for the cost of answers. */
void query_node(struct query *q, double schedulers, double use, bool busy);

/* {t, Id, Seq, Body}, pushed by the node, goes to fn: checked, without version byte, borrowed for
   the call. At most LIMIT_CALLS_IN_FLIGHT listen at once; others get nothing. */
typedef void event_fn(void *arg, const uint8_t *term, size_t len);
void query_listen(struct query *q, uint64_t id, event_fn *fn, void *fn_arg);
/* Neither answers nor events come to fn_arg any more. Places of open questions stay taken. */
void query_drop(struct query *q, const void *fn_arg);
/* {tell, Question, Term} to the keeper, for the question's own process there; no answer. */
int query_tell(struct query *q, enum question question, const struct builder *term,
               struct error *err);
/* Ends the question's own process there, which takes back what it holds on the node. */
int query_end(struct query *q, enum question question, struct error *err);
/* Of all of the node's pids, once it has answered; else 0. */
uint32_t query_creation(const struct query *q);
/* A process that the node spawned for a question lately: it has no flag that the keeper could take
 * off. */
bool query_is_own(const struct query *q, const struct etf_pid *pid);
bool query_pending(const struct query *q, enum question question);
/* It has many processes, as the last header said: what recordings ask needs the keeper. */
bool query_is_large(const struct query *q);

/* Says goodbye (the keeper ends) and frees. The connection stays the caller's. No
 * callbacks after. */
void query_close(struct query *q);

#endif
