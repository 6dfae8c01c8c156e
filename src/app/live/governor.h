/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps the program's cost on the target within its budget: decides how far apart the expensive
 * questions are asked. Pure: knows costs and intervals, no clock and no connection.
 *
 * The header's question is asked every interval, or every 2 s where the budget does not pay for it.
 * What it and the questions beside ticks leave of the budget, a quarter at least, is shared by the
 * others: where they would cost more, they are asked less often, all stretched alike. Those that
 * sweep no processes come with the header at a pace of their own, and get out of the others' way;
 * so do applications in a recording, of which a large node's cost ten times as much as a scan.
 * While scans are further apart than the header may be, the rows shown are asked again in between,
 * as often as the header at the most expensive; they may take half of what the others had.
 *
 * A node that does nothing has nothing to show: it is asked half as often, not beyond 2 s. */
#ifndef BEAMTOP_APP_LIVE_GOVERNOR_H
#define BEAMTOP_APP_LIVE_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/model/snapshot.h"
#include "beamtop/query/query.h"

#define GOVERNOR_MIN_INTERVAL_S 0.25
#define GOVERNOR_MAX_INTERVAL_S 3600.0

/* What a scan waits for a process that does not yield is none of its work, but looks like it. */
#define GOVERNOR_LATE_MS 200

struct governor {
    double interval_s; /* asked for by the user */
    double budget;     /* share of one scheduler, 0.02 = 2 % */
    double
        most_s; /* together: never further apart, whatever it costs; 0: as far as the budget says */
    question_mask apart;   /* asked at a pace of their own: PACE_APART, and what the owner adds */
    bool together;         /* the header's question is asked with the others, not more often */
    bool idle;             /* the node does nothing, by its last answers; not where `together` */
    unsigned idle_answers; /* of the header's question, in a row */
    double beside_us;      /* what questions beside ticks cost, a second */
    double seldom_us;      /* and a scan that no view shows */
    double cost_us[QUESTIONS]; /* smoothed cost of one answer; 0: not known yet */
    question_mask begun; /* questions that were answered since the beginning: the first answer paid
                       for parsing */
};

struct governor_plan {
    double header_s;         /* how often the header's question is asked */
    double apart_s;          /* how often those apart are */
    double others_s;         /* how often the others are */
    double rows_s;           /* how often the rows shown are, between two scans; 0: never */
    enum question costliest; /* of those that are stretched, the one that costs most */
    double why_s;            /* how far apart those are; 0: none is stretched */
    double second_s;         /* when the others are asked again after the first time */
    char why[160];           /* "" when nothing is stretched by its cost */
    bool idle;               /* all are as far apart as of an idle node, and no further */
};

void governor_init(struct governor *g, double interval_s, double budget);
/* The target has none of our expressions yet: each question's next answer says nothing of
 * its cost. Nor is it known what the node does. */
void governor_begin(struct governor *g);
/* The node has that many processes: what a sweep of them costs, as long as none was made. */
void governor_expect(struct governor *g, long long processes);
/* An answer came and cost that much. */
void governor_note(struct governor *g, enum question q, double target_us);
/* The header's question was answered: after twenty answers in a row in which others than us do
 * nothing the node is idle, until the next one in which they do something. `own_use`: what we took
 * of a scheduler since the answer before, 0..1. `steady`: who asks must see each interval. */
void governor_look_for_work(struct governor *g, const struct system_sample *sample, double own_use,
                            bool steady);
/* The plan for the questions in the mask (1 << enum question). */
void governor_plan(const struct governor *g, question_mask questions, struct governor_plan *plan);

#endif
