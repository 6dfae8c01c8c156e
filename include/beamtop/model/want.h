/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What views and batch commands need of a tick; which tick of a recording is shown; the header's
 * state of the connection. */
#ifndef BEAMTOP_MODEL_WANT_H
#define BEAMTOP_MODEL_WANT_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/question.h"
#include "beamtop/etf/term.h"

/* What a view needs on a tick: a mask of these. The header's is always on. */
#define NEED(id) QUESTION_BIT(QUESTION_##id)

#define WANT_PIDS 64
#define WANT_WATCHED 32

/* The scan that the visible columns add up to. */
struct want_scan {
    const char *sort_key; /* column key of model/column.h */
    bool by_delta;
    bool ascending;
    int rows;
    uint32_t items; /* bit mask of enum proc_item */
    struct etf_pid pids[WANT_PIDS];
    int n_pids;
    struct etf_pid watched[WANT_WATCHED]; /* looked at beside what is shown: for findings */
    int n_watched;
    bool watches; /* the node has said which to watch: no other has a longer message queue */
    bool own;
    bool filtered; /* the question carried a filter */
    bool seldom;   /* no view shows it: for the header and findings, and no tick waits for it */
};

/* One process, as it is asked for. */
struct process_ref {
    struct etf_pid pid;
    char name[LIMIT_ATOM_BYTES + 1]; /* registered; "": by its pid */
};
bool process_ref_same(const struct process_ref *a, const struct process_ref *b);

struct want {
    question_mask needs;
    struct want_scan scan;
    struct process_ref process;
    char tree_app[256];                /* empty: all applications */
    int heaps;                         /* rows of the largest processes */
    bool heaps_running;                /* only of those that run or are ready to */
    char table[LIMIT_ATOM_BYTES + 1];  /* an ETS table: its name, or #Ref<…> */
    char module[LIMIT_ATOM_BYTES + 1]; /* whose old code is looked for, on request */
    int keys;                          /* of it, on request: the first of them */
    bool steady; /* also an idle node is asked as often as the interval says */
};

/*
 * Adds what another view needs: needs, items, pids (those that fit) and the larger number of rows.
 * The scan's order and what process, tree are asked for stay those of `into` unless it
 * has none. */
void want_merge(struct want *into, const struct want *other);
bool want_add_pid(struct want_scan *scan, const struct etf_pid *pid); /* false: no room for it */

/* The tick of a recording that is shown. */
struct recorded_position {
    int64_t tick, ticks;
    int64_t wall_us, first_us, last_us; /* the node's clock; -1 unknown */
    double speed;                       /* so many times as fast as recorded; 0: nothing plays it */
    bool gap;                           /* the node was not there before this tick */
    bool at_end;                        /* no tick follows */
    char mark[100];                     /* the last one at or before the tick; empty: none */
};

/* The state that the header shows. */
enum link_state { LINK_CONNECTING, LINK_LIVE, LINK_STALE, LINK_LOST, LINK_CLOSED };

#endif
