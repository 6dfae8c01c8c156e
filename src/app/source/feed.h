/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Feeds a recorder with a live node: its ticks, the facts beside them, gaps; and says which
 * processes findings watch at every tick: those with the longest message queues, the most memory,
 * the most reductions, as the last answer to `leaders` says (docs/queries.md). The screen's
 * recorder in memory and that of a file have one each. Thread: the loop's. */
#ifndef BEAMTOP_APP_SOURCE_FEED_H
#define BEAMTOP_APP_SOURCE_FEED_H

#include "beamtop/base/question.h"
#include "app/live/live.h"

struct recorder;
struct proc_scan;

struct feed {
    struct recorder *recorder; /* owned by the user; NULL: nothing is kept now */
    struct model *model;       /* borrowed */
    question_mask questions;   /* mask of those beside ticks; without `every_s` ticks ask them */
    bool busiest;              /* watch also these: a scan may be ranked by something else */
    void (*watch)(void *arg);  /* others are to be watched: feed_want() names them */
    /* A fact could not be kept, or read where it is seldom asked for. NULL: nobody reads it. */
    void (*trouble)(void *arg, const struct error *err);
    void *arg;

    /* feed.c's own; zeroed before */
    struct live *live;  /* that was asked last */
    bool has_tick;      /* since the last gap */
    uint64_t ticked_ns; /* the node's time of the last tick's header */
    struct etf_pid pids[WANT_WATCHED];
    int n_pids;
    bool looked; /* the node has said who they are */
    struct {
        uint64_t due_ms;  /* 0: at once */
        unsigned times;   /* that it was asked */
        int wait_s;       /* from the last time to the next, on a node that is not idle */
        uint64_t keep_ms; /* KEPT_LAST: an answer that is due before that is not kept */
        double us_per_s;  /* what it costs the node, by its last answer */
        bool waits, reported;
        bool first; /* the next answer is the smaller one */
    } asked[QUESTIONS];
};

/* As recorder_tick(), which it calls; one without a new answer of `system` is none,
   and a gap where that was asked. */
int feed_tick(struct feed *f, struct error *err);
/*
 * Asks the questions that are due and not under way: each every `every_s` of its row, the second
 * time after `again_s`, twice that on an idle node, less often where it would take more than a
 * tenth of the cost limit; ticks have the rest of it. On a large node the first answer waits until
 * a quarter of the limit pays for it; leaders have a smaller one before, of the longest message
 * queues only. */
void feed_ask(struct feed *f, struct live *live, uint64_t now_ms);
/* Seconds until it is asked again, when it was `times` before this time. A sooner second time moves
 * no later one. */
int feed_wait_s(const struct question_row *row, unsigned times);
void feed_again(struct feed *f); /* all are due again: another recorder is fed */
/* Whether its rows are the busiest processes of the node with that creation as they are now: of
 * no longer ago than leaders are asked for, by the target's clock. */
bool feed_has_busiest(const struct proc_scan *scan, uint64_t now_ns, uint32_t creation);
/* Adds the processes to watch, with the items that rules read of them. */
void feed_want(const struct feed *f, struct want *want);
/* The connection is lost: nothing is under way any more; a gap, if ticks were there. */
void feed_lost(struct feed *f);

#endif
