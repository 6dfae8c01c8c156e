/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer to `leaders` of docs/queries.md. Pure. */
#ifndef BEAMTOP_QUERY_LEADERS_ANSWER_H
#define BEAMTOP_QUERY_LEADERS_ANSWER_H

#include "leaders_read.h"
#include "leaders_table.h"
#include "query/who/who.h"

#define LEADERS_HOLDERS 10
#define LEADERS_TIED 5
#define LEADERS_BUSY 20
#define LEADERS_SENDERS 5
#define LEADERS_LONGEST 5
/* Leaders whose kin is looked for. */
#define LEADERS_SHOWN 48

struct leader_list {
    struct leader *of[LEADERS_SHOWN];
    size_t n;
};

/* Who one with a long queue waits for, in a call: the pid, or a name and its node. */
struct leader_call {
    const struct leader *caller;
    bool is_named;
    struct etf_pid pid;
    struct slice node; /* of the pid, or the name; an atom's text */
    struct slice name;
};

struct leaders_answer {
    int64_t mono_ns;
    const char *node; /* its name */
    size_t most;      /* of each sort */
    const struct leaders_table *table;
    struct leader_list longest, busy, large, holders, tied, shown;
    int64_t binary_bytes; /* of all; -1: unknown */
    size_t looked_at;
    struct leaders_waits waits;
    int64_t reductions, of_ended;
    int64_t looks, suspended_looks, suspended; /* at senders */
    struct slice sender_nodes;                 /* a list */
    struct etf_pid senders[LEADERS_SENDERS];
    size_t n_senders;
    struct leader_call calls[LEADERS_LONGEST];
    size_t n_calls;
    struct who *who;
};

void leaders_build(struct builder *b, const struct leaders_answer *answer);

#endif
