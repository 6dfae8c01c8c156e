/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the question `waits` share: waits.c answers, waits_steps.c has its steps. */
#ifndef BEAMTOP_QUERY_WAITS_INTERNAL_H
#define BEAMTOP_QUERY_WAITS_INTERNAL_H

#include "query/native/run.h"
#include "query/who/who_terms.h"
#include "waits.h"
#include "waits_table.h"

#define WAITS_SLICE 2000       /* of one ask of a function */
#define WAITS_LIST_MOST 100000 /* of a node with more a part comes in each answer */

/* A process of so many monitors or links that they are not asked for again in SPARED_MS. */
#define WAITS_SPARED_MOST 1000
struct waits_spared {
    struct etf_pid pid;
    bool by_links;
    int64_t among; /* monitors; 0: unknown */
    uint64_t until_ms;
};

/* Steps that go through parts of the table. */
enum waits_part {
    PART_NONE,
    PART_LOOKS,
    PART_SPARED,
    PART_LINKS,
    PART_NAMES,
    PART_HELD,
    PART_AGAIN,
};

/* What the steps read, and what is asked: `own` of the run. */
struct waits_ask {
    struct query *query;
    struct run *run;
    struct scan *scan;
    struct who *who;
    struct conn *conn;
    uv_loop_t *loop; /* NULL: no time passes */
    bool asking, who_is_out;
    const char *node;
    uint64_t due_ms; /* nobody else is looked for after that */

    struct etf_pid *list; /* all processes of a part of the node */
    size_t n_list, next;  /* looked through up to there */
    int64_t first;        /* the part that is listed next: its first process */
    bool is_part;         /* there are others */
    bool has_round;       /* each part has been looked through since it was first one of several */
    bool is_partial;      /* a look has failed */

    struct etf_pid out[WAITS_SLICE];
    size_t n_out;
    bool is_still; /* of those that are out it is known that they do not run */
    struct waits_table table;
    struct waits_spared spared[WAITS_SPARED_MOST]; /* the oldest goes first */
    size_t n_spared, next_spared;
    double failed_us; /* what a process has copied for an ask that then failed */
    enum waits_part part_of;
    size_t *some;         /* of the table, those that the step is about */
    struct who_span span; /* of these */
};

/* ---- waits_steps.c */

void waits_init(struct waits_ask *a); /* of zeroes */
void waits_clear(struct waits_ask *a);
/* An answer; node: borrowed until the next one. */
void waits_begin(struct waits_ask *a, const char *node, uint64_t due_ms);

extern const struct run_step waits_steps[];
extern const size_t waits_steps_count;

#endif
