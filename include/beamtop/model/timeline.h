/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one process did in time: calls of traced functions, one within the other, and the times in
 * which it did not run. Events are fed in any order, timeline_build() nests them. Lost events are
 * tolerated: a gap is a row, a call without an end is marked. Pure: no clock, no I/O.
 *
 * Owner: the caller. Thread: one at a time. Times are the node's monotonic time in ns. Any values
 * are safe: what is out of range or beyond LIMIT_TIMELINE_EVENTS is dropped and counted. Slices
 * that go in are copied, those that come out are borrowed until timeline_free(). */
#ifndef BEAMTOP_MODEL_TIMELINE_H
#define BEAMTOP_MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/slice.h"

struct stacks;
struct timeline;

#define TIMELINE_KIND_LIST(X)                                                                      \
    X(TIMELINE_CALL, "call")                                                                       \
    X(TIMELINE_WAITING, "WAITING") /* it did not run: it waited for a message or a timeout */      \
    X(TIMELINE_OFF_CPU, "OFF_CPU") /* … it was ready, or the time was too short to know */       \
    X(TIMELINE_GAP, "gap")         /* calls are missing */

#define TIMELINE_OUTCOME_LIST(X)                                                                   \
    X(TIMELINE_RETURNED, "returned")                                                               \
    X(TIMELINE_RAISED, "exception")                                                                \
    X(TIMELINE_OPEN, "open") /* not returned when the trace ended */                               \
    X(TIMELINE_LOST, "lost") /* its end was lost: it ended with its caller at the latest */

#define TIMELINE_ENUM(name, key) name,
enum timeline_kind { TIMELINE_KIND_LIST(TIMELINE_ENUM) TIMELINE_KINDS };
enum timeline_outcome { TIMELINE_OUTCOME_LIST(TIMELINE_ENUM) TIMELINE_OUTCOMES };
#undef TIMELINE_ENUM

const char *timeline_kind_key(enum timeline_kind kind);
const char *timeline_outcome_key(enum timeline_outcome outcome);

enum timeline_why { TIMELINE_UNKNOWN, TIMELINE_WAITS, TIMELINE_READY };

struct timeline *timeline_new(void);
void timeline_free(struct timeline *t); /* NULL is fine */

/* All return false where the event is dropped. */
bool timeline_call(struct timeline *t, uint64_t id, int64_t at_ns, struct slice function);
/* Of a call that was fed. `reason` of an exception: "error: badarg". */
bool timeline_end(struct timeline *t, uint64_t id, int64_t at_ns, bool raised, struct slice reason);
/* It did not run `times` times between these two times, `total_ns` in all, each time at function.
 */
bool timeline_off(struct timeline *t, int64_t from_ns, int64_t until_ns, int64_t total_ns,
                  uint64_t times, struct slice function, enum timeline_why why);
/* Calls in that time may be missing: so many, at most so many, or an unknown number (0). */
bool timeline_gap(struct timeline *t, int64_t from_ns, int64_t until_ns, uint64_t calls,
                  bool at_most, struct slice why);
/* When the process runs is known from this time on, or until it. Before the first: not known. */
void timeline_follow(struct timeline *t, int64_t at_ns, bool on);

/* Makes rows, functions and sums of all events until now, for the time between these two. */
void timeline_build(struct timeline *t, int64_t from_ns, int64_t until_ns);

#define TIMELINE_NONE UINT32_MAX
struct timeline_row {
    enum timeline_kind kind;
    uint32_t parent;       /* the row of the call that it stands in, above it; or TIMELINE_NONE */
    uint32_t depth;        /* calls around it */
    struct slice function; /* "m:f/a"; of a time off CPU where it stopped, of a gap why; or empty */
    int64_t from_ns, until_ns;
    /* calls */
    enum timeline_outcome outcome;
    struct slice reason;
    int64_t own_ns;                 /* without calls in it, and without time off CPU */
    int64_t waiting_ns, off_cpu_ns; /* in it and in calls in it */
    bool off_known;                 /* else own_ns may have time off CPU in it */
    /* off CPU */
    uint64_t times;
    int64_t total_ns; /* of these times; up to until_ns - from_ns */
    bool inferred;    /* WAITING: not looked at, but the process waits at this function */
    /* gaps */
    uint64_t calls; /* 0: unknown */
    bool at_most;
};
size_t timeline_rows(const struct timeline *t);
/* By start; a call stands before what is in it. */
const struct timeline_row *timeline_row(const struct timeline *t, size_t i);

struct timeline_function {
    struct slice name;
    uint64_t calls, open, raised, lost;
    int64_t total_ns; /* outermost calls only: recursion counts once */
    int64_t own_ns, max_ns;
    bool off_known;                 /* of all its calls: as of a row */
    int64_t waiting_ns, off_cpu_ns; /* directly in it */
};
size_t timeline_functions(const struct timeline *t);
/* The most own time first. */
const struct timeline_function *timeline_function(const struct timeline *t, size_t i);

struct timeline_sums {
    int64_t from_ns, until_ns;
    int64_t followed_from_ns, followed_until_ns;       /* when it runs is known; equal: never */
    uint64_t calls, open, raised, lost, gaps, missing; /* missing: calls, of gaps that know it */
    int64_t calls_ns;                                  /* in outermost calls */
    int64_t waiting_ns, off_cpu_ns;                    /* of the whole time */
    uint64_t dropped;                                  /* events */
};
struct timeline_sums timeline_sums(const struct timeline *t);

/* Stacks of calls, weighted with µs of own time; below them WAITING(m:f/a) and OFF_CPU(m:f/a), and
 * beside them the rest of the time, when it ran outside. Owned by the caller. */
struct stacks *timeline_stacks(const struct timeline *t);

#endif
