/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling by the node of itself, where a VM cannot be looked at from outside: stacks of the
 * processes that do most, at the moments at which they yield (question `stacks`), for half of the
 * cost limit at most. Owner: the caller. Thread: that of the loop. */
#ifndef BEAMTOP_APP_SAMPLE_YIELDS_H
#define BEAMTOP_APP_SAMPLE_YIELDS_H

#include "beamtop/trace/session.h"
#include "sampled.h"

struct yields;

struct yields_options {
    double for_s;      /* 0: until it is stopped */
    double budget;     /* the cost limit, share of one scheduler */
    struct slice root; /* the first frame of each stack, borrowed; empty: none */
};

/* Asks through the port, and adds to sums what is answered. ended is the last call, once: why is
 * NULL, or what kept it from going on. */
struct yields *yields_start(const struct session_port *port, const struct yields_options *o,
                            struct sampled *sums, void (*ended)(void *arg, const struct error *why),
                            void *arg);
void yields_turn(struct yields *y); /* ten times a second: asks when that is due */
void yields_stop(struct yields *y); /* it ends at its next turn, with what it has */
/* The port cannot be used any more: it ends with what it has, or fails where it has nothing. */
void yields_lost(struct yields *y, const struct error *why);
void yields_free(struct yields *y); /* NULL is fine; ended is not called any more */

/* Why it ended before its time, with what it had; NULL: it did not. Lives as long as y. */
const char *yields_cut(const struct yields *y);
double yields_cost_s(const struct yields *y); /* that it took on the node */

#endif
