/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the native question share: leaders.c runs it, leaders_look.c and leaders_kin.c
 * have its steps (query/native/run.h; own: struct leaders_ask). */
#ifndef BEAMTOP_QUERY_LEADERS_INTERNAL_H
#define BEAMTOP_QUERY_LEADERS_INTERNAL_H

#include "beamtop/base/buf.h"
#include "leaders.h"
#include "leaders_answer.h"
#include "query/native/run.h"

#define ASLEEP_MOST 2
#define ASKED_MOST 1000
#define NEAR_MOST 20 /* processes in one answer, and links of each */
#define PORTS_MOST 200
#define STEPS_MOST 16

struct leaders_ask {
    struct query *query;
    struct run *run;
    struct run_step steps[STEPS_MOST];
    struct scan *scan;
    struct who *who;
    struct conn *conn;
    uv_loop_t *loop;
    bool asking, who_is_out;
    unsigned answers;

    struct leaders_table table;
    struct leader *out[ASKED_MOST]; /* who is asked by the step that is out */
    size_t n_out;
    size_t next, next_tied, next_holder;           /* who is looked at then, and listed */
    struct etf_pid near[NEAR_MOST][NEAR_MOST + 1]; /* candidates of out[i]: its parent, its links */
    size_t n_near[NEAR_MOST];
    struct leader *asleep[ASLEEP_MOST];
    size_t n_asleep;
    struct buf connections;  /* [{Node, Port}] */
    struct buf congested;    /* a list of nodes */
    bool is_congested;       /* now */
    struct buf sender_nodes; /* congested when somebody was suspended */
    bool is_once;            /* one with very many links is counted in this answer */
    bool is_heavy;           /* one that takes long is among those looked at */
    struct buf names;        /* of calls; borrowed by them */
    struct leaders_answer answer;
};

/* Asks these items of all that are out. */
void leaders_ask_infos(struct leaders_ask *a, struct run_calls *calls, const char *items);
/* Of a value with an element for each that is out. */
bool leaders_read_each(const struct leaders_ask *a, struct slice value, struct slice *each);

extern const struct run_step leaders_look_steps[], leaders_kin_steps[];
extern const size_t leaders_look_count, leaders_kin_count;

/* Who works, as scans have seen it. */
void leaders_choose_busy(struct leaders_ask *a);

#endif
