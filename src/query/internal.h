/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to the query layer. */
#ifndef BEAMTOP_QUERY_INTERNAL_H
#define BEAMTOP_QUERY_INTERNAL_H

#include "beamtop/base/embed.h"
#include "beamtop/query/query.h"

/* Of src/query/q/NAME.erl what src/query/prepare.erl makes of it. */
extern const struct embedded query_sources[];

/* ---- query.c, for the questions that are asked natively */

/* The answer: of docs/queries.md, with version byte, borrowed; or NULL and why. It may free q. */
void query_reply(struct query *q, enum question question, const struct builder *value,
                 double target_us, const struct error *err);
/* The scan that is out goes to the keeper. */
void query_pass_scan(struct query *q);
/* Deadlines of native asks have changed. */
void query_arm(struct query *q);
/* The keeper links a process of ours that it has not started; false: there is none, or pid is NULL.
 */
bool query_adopt(struct query *q, const struct etf_pid *pid);
const struct etf_pid *query_keeper(const struct query *q); /* NULL: there is none */

/* ---- expr.c */

/* Tag of the answer to a start. net_kernel answers its request with the other tag beforehand. */
#define EXPR_TAG 1
#define SPAWN_TAG 0

/* The source of q/NAME.erl, an external term. Every question has one. */
const struct embedded *expr_source(const char *name);

/*
 * Builds the message to `rex` that evaluates the loader on the target with the bindings 'C' (self),
 * 'K' (the keeper) and 'O' (options: an empty map). The answer is {EXPR_TAG, Value} or {EXPR_TAG,
 * {badrpc, Why}}. Returns 0, or an error when the constant form does not parse, which is a bug. */
int expr_build(struct builder *b, const char *own_node, const struct etf_pid *self,
               struct error *err);
/* The same for `net_kernel`, where `rex` does not answer: a process that it spawns sends the answer
 * itself. */
int expr_build_spawn(struct builder *b, const char *own_node, const struct etf_pid *self,
                     struct error *err);

#endif
