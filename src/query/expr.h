/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of the questions, and what starts the keeper. */
#ifndef BEAMTOP_QUERY_EXPR_H
#define BEAMTOP_QUERY_EXPR_H

#include "beamtop/base/embed.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

/* Of src/query/q/NAME.erl what src/query/prepare.erl makes of it. */
extern const struct embedded query_sources[];

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
