/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `memory` and `total_heap_size` of processes whose read walks what is long: a message queue, links
 * and monitors (docs/queries.md). Their price is known or estimated, and they are read in turn. */
#ifndef BEAMTOP_QUERY_SCAN_WALKS_H
#define BEAMTOP_QUERY_SCAN_WALKS_H

#include "query/native/native.h"
#include "scan_table.h"

/* It takes too long to be read with the others. sum_ns: what these take, to which it is added;
 * NULL: it is not read now. */
bool scan_walk_is_slow(const struct scan_proc *p, int64_t *sum_ns);
/* Whether it is read now; *paid_ms: until then all reads before are paid for. */
bool scan_walk_has_turn(const struct scan_proc *p, uint64_t *paid_ms, uint64_t now_ms);
/* It was read with the others: what it has beyond its heaps may be links. */
void scan_walk_suspect(struct scan_proc *p);

void scan_walk_call(struct native_call *call, const char *node, struct scan_proc *const *procs,
                    size_t n, bool sure);
/* In the order in which they were asked for. us: what it took. */
bool scan_walk_read(struct slice value, struct scan_proc *const *procs, size_t n, uint64_t now_ms,
                    double *us);

/* One that was read by itself: {memory, …} and {total_heap_size, …}, or `undefined` where it has
 * ended. A read that took longer than its queue explains has walked links. */
void scan_walk_take(struct scan_proc *p, struct slice info, int64_t took_ns, uint64_t now_ms);
/* What is known of the same process in another table, where it was read later. */
void scan_walk_copy(struct scan_proc *to, const struct scan_proc *from);

/* Of a slow one, as it was read, or the least that it can be. */
enum scan_age { SCAN_AGE_NONE = -1, SCAN_AGE_NEVER = -2 }; /* it was read lately; never */
int64_t scan_walk_value(const struct scan_proc *p, bool memory, uint64_t now_ms, int64_t *age_ms);
/* A number where it was read lately, else {older, Value, AgeMs}. */
void scan_age_build(struct builder *b, int64_t value, int64_t age_ms);
/* The same, of scan_walk_value(). */
void scan_walk_build(struct builder *b, const struct scan_proc *p, bool memory, uint64_t now_ms);

#endif
