/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from the rows of `waits` (struct waits_row): who holds which others. Pure. */
#ifndef BEAMTOP_MODEL_WAITS_H
#define BEAMTOP_MODEL_WAITS_H

#include "beamtop/base/arena.h"
#include "beamtop/model/detail.h"

/* Processes that wait for one: more are a crowd, so that a finding about it, of more than ten, need
 * not come and go. */
#define WAITS_CROWD 8

/* Indices of rows; n: none. Each waits for one at most. */
struct waits_graph {
    const struct waits_row *rows;
    size_t n;
    size_t *to;           /* what it waits for */
    size_t *first, *next; /* who waits for it: the first of them, and of one the next */
};

/* Of an answer as a whole. In words: "shop_cart -> shop_stock -> shop_cart". */
struct waits_sums {
    int64_t waiting, deadlocks;
    int64_t elsewhere;     /* that wait for another node */
    int64_t unknown;       /* for one of several, or for nobody that is known */
    struct slice deadlock; /* the first cycle; empty: none */
    struct slice chain; /* the longest, who waits first; empty: nobody waits for one that waits */
};

/* Lives as long as the arena and the rows. */
void waits_graph_make(struct waits_graph *g, struct arena *arena, const struct waits_row *rows,
                      size_t n);
/* waiters, behind and deadlock of the rows, which are those of g. */
void waits_graph_sum(const struct waits_graph *g, struct arena *arena, struct waits_row *rows);
/* The longest chain into out, which has room for all: who waits first. */
size_t waits_graph_chain(const struct waits_graph *g, struct arena *arena, size_t *out);
/* A deadlock, of one of its rows: for how long each of it has been seen in one at each answer. */
struct waits_cycle {
    struct slice words;
    size_t n;
    double seen_s;
};
struct waits_cycle waits_cycle_of(const struct waits_graph *g, struct arena *arena, size_t start);
/* How it is called; without a name or label, what it was spawned with, and its pid where with_pid.
 */
struct slice waits_name(struct arena *arena, const struct waits_row *row, bool with_pid);

/* Fills what is made of the rows, and puts them in order: deadlocks, then who holds most. before:
 * NULL: there is none. */
void waits_follow(struct table_detail *now, const struct table_detail *before, struct arena *arena);

#endif
