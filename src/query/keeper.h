/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The keeper of one connection: the evaluated helper process on the node (docs/queries.md). It is
 * started by what is first sent to it, through `rex`, and, where that does not answer, through
 * net_kernel. What is sent before it stands waits, in order. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_KEEPER_H
#define BEAMTOP_QUERY_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "beamtop/base/error.h"
#include "beamtop/base/question.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

struct conn;
struct cursor;
struct keeper;

/* It stands (`why` is NULL), or could not be started: then what waits for it is dropped. Comes from
 * the loop. May free the keeper where it stands. */
typedef void keeper_fn(void *arg, const struct error *why);

/* Sends nothing. start_ms: the deadline of each start. */
struct keeper *keeper_new(struct conn *conn, uv_loop_t *loop, unsigned start_ms, keeper_fn *fn,
                          void *arg);
void keeper_free(struct keeper *k);
/* Ends it on the node, where it stands. */
void keeper_stop(struct keeper *k);

/*
 * {ask, Id, …} with the text of the question before its first one, and {tell, …}. Both start the
 * keeper where there is none. After a start that failed they fail as that did, ERR_TIMEOUT or
 * ERR_TARGET, for 10 s, then they start it again, unless a few such requests have no answer yet:
 * each stays in the queue of a server that hangs. ERR_LIMIT where too much waits already; else as
 * conn_send(). A question whose deadline passes while it waits is not sent. */
int keeper_ask(struct keeper *k, int64_t id, enum question question, const struct builder *arg_term,
               unsigned deadline_ms, struct error *err);
int keeper_tell(struct keeper *k, enum question question, const struct builder *term,
                struct error *err);
/* {drop, …}: nothing where it does not stand, as then nothing is there to be dropped. */
int keeper_end(struct keeper *k, enum question question, struct error *err);
/* It links that process; false: it does not stand, or the process is not known (NULL). */
bool keeper_adopt(struct keeper *k, const struct etf_pid *pid);

/* NULL: it does not stand. */
const struct etf_pid *keeper_pid(const struct keeper *k);

/* When keeper_expire() is due next; UINT64_MAX: never. */
uint64_t keeper_due_ms(const struct keeper *k);
void keeper_expire(struct keeper *k, uint64_t now_ms);

/* The answer to a start, without its tag: {keeper, Pid, Version} or {badrpc, Reason}. A second
 * keeper is ended: `rex` was only slow. */
void keeper_take_start(struct keeper *k, struct cursor *c);

/* The rest of {a, Id, error | timeout | killed, Work, What} as an error. */
void keeper_explain(struct error *err, enum question question, struct slice status,
                    struct slice what);

#endif
