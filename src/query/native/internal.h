/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the questions that are asked natively need of query.c. */
#ifndef BEAMTOP_QUERY_INTERNAL_H
#define BEAMTOP_QUERY_INTERNAL_H

#include <stdbool.h>

#include "beamtop/base/error.h"
#include "beamtop/base/question.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/term.h"

struct query;

/* The answer: of docs/queries.md, with version byte, borrowed; or NULL and why. It may free q. */
void query_reply(struct query *q, enum question question, const struct builder *value,
                 double target_us, const struct error *err);
/* The one that is out goes to the keeper: a scan, a process. */
void query_pass(struct query *q, enum question question);
/* Deadlines of native asks have changed. */
void query_arm(struct query *q);
/* The keeper links a process of ours that it has not started; false: there is none, or pid is NULL.
 */
bool query_adopt(struct query *q, const struct etf_pid *pid);
const struct etf_pid *query_keeper(const struct query *q); /* NULL: there is none */

#endif
