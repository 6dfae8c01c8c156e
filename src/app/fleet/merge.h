/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One order for what happens on several nodes, as far as their clocks allow one. Each node's
 * monotonic clock is compared with ours again and again (rounds); a moment there is put between the
 * rounds around it. So a clock that runs fast or slow, as a VM's does while it corrects a step of
 * its host's, costs exactness, and never order: what is closer than the bounds of both is said to
 * be of the same time. After Cristian's algorithm: the error of one round is at most half of its
 * round trip.
 *
 * Pure: time is an argument. Nanoseconds; `here`: of this host's monotonic clock. */
#ifndef BEAMTOP_APP_FLEET_MERGE_H
#define BEAMTOP_APP_FLEET_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/arena.h"
#include "beamtop/output/trace_line.h"

#define CLOCK_ROUNDS 64 /* kept of each node */

struct clock_round {
    int64_t here_ns;   /* when its answer was made, at best guess */
    int64_t offset_ns; /* the node's clock less ours, then */
    int64_t bound_ns;  /* how much that may be wrong, either way */
};

struct node_clock {
    struct clock_round rounds[CLOCK_ROUNDS]; /* a ring, in time */
    size_t n;                                /* that there were */
};

void node_clock_add(struct node_clock *c, const struct clock_round *round);
/* A moment of the node's clock, here, and how much that may be wrong. False: there was no round. */
bool node_clock_here(const struct node_clock *c, int64_t node_ns, int64_t *here_ns,
                     int64_t *bound_ns);

/* A line of a trace, copied. */
struct merge_line {
    struct arena arena; /* of its texts */
    struct trace_line line;
    size_t node;        /* which of them */
    int64_t arrived_ns; /* here */
    uint64_t number;    /* of its arrival */
    int64_t here_ns, bound_ns;
    bool placed;    /* both are known, and stay */
    bool same_time; /* as a line of another node that was taken before */
    bool late;      /* it belongs before a line that was taken before */
};

struct merge;

/* clocks: of each node, borrowed; they may get rounds as long as it lives. */
struct merge *merge_new(const struct node_clock *clocks, size_t nodes);
void merge_free(struct merge *m);
/* Takes over the line and its arena. */
void merge_add(struct merge *m, struct merge_line *line);
size_t merge_len(const struct merge *m);
/* Places what had come by then, as long as the rounds around it are kept: for lines that wait. */
void merge_settle(struct merge *m, int64_t arrived_ns);
/* The next in order of those that happened by then, here; NULL: none is left. The caller's to free,
 * by merge_line_free(). */
struct merge_line *merge_take(struct merge *m, int64_t by_ns);
void merge_line_free(struct merge_line *line);

#endif
