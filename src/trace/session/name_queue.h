/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes of events whose names are to be asked for, each once. */
#ifndef BEAMTOP_TRACE_SESSION_NAME_QUEUE_H
#define BEAMTOP_TRACE_SESSION_NAME_QUEUE_H

#include "session_base.h"

#define NAMES_AT_ONCE 64
#define NAMES_ASKED 4096 /* pids remembered as asked for; a power of two */

struct name_queue {
    struct etf_pid waiting[NAMES_AT_ONCE];
    size_t n;
    bool asked;                       /* a question is under way; the answer ends that */
    struct etf_pid seen[NAMES_ASKED]; /* by hash; a collision is asked again */
};

void name_queue_add(struct name_queue *q, const struct etf_pid *pid);
/* Asks for those that wait, unless a question is under way. An answer to fn has s as its arg. */
void name_queue_ask(struct name_queue *q, struct session *s, unsigned deadline_ms, answer_fn *fn);

#endif
