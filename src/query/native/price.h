/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an answer cost the node. A process's CPU time is not known in the VM, and wall time counts
 * also the time without a core or a scheduler. So wall time shows what 1,000 reductions of a kind
 * of work cost, and the reductions say how much work it was. Worked out here, since evaluated on
 * the node it would be a tenth of a tick. docs/performance.md has what it was measured against. */
#ifndef BEAMTOP_QUERY_PRICE_H
#define BEAMTOP_QUERY_PRICE_H

#include <stdbool.h>

#include "beamtop/base/question.h"
#include "native.h"

struct cursor;

/* Wall time, native, and the reductions in it. */
struct work {
    double wall;
    double reductions;
};

/* What the keeper says of an answer: docs/queries.md, `Work`. Times are native. */
struct work_report {
    struct work answer; /* of who answered, without waits; reductions 0: of wall time only */
    struct work helpers;
    struct work loaded;       /* evaluating what makes a query */
    double known;             /* what has its time worked out there */
    double keeper_reductions; /* since its last answer */
    bool stopped;             /* at its deadline: wall is the most that the answer's can be */
};

/* Native time for 1,000 reductions; 0: not known yet. */
struct price {
    double us; /* in a unit of native time */
    double plain;
    bool without_jit; /* Erlang code is slower there, and the VM's own is not */
    double answers[QUESTIONS];
    double helpers[QUESTIONS];
    double last;       /* that one of them had */
    double schedulers; /* of all kinds; 0: not known */
    double use;        /* of the normal ones, 0..1: those that work need not be woken up */
    bool busy; /* processes of the node wait for a scheduler: wall times have waits in them */
};

/* per_second: native time of a second. plain: of 1,000 reductions of compiled code that neither
 * waits nor touches much memory; 0 where the node's clock is too coarse, then no price has a bound.
 */
void price_init(struct price *p, double per_second, double plain);

/* Both are asked for natively: a batch that cannot fail. */
void price_call_init(struct native_call *call);
/* As price_init(), of its value; false where that is of another form. */
bool price_take(struct price *p, struct slice value);
/* Of a later one: the least holds, since a busy host makes each of them larger. */
void price_lower(struct price *p, struct slice value);

/* Reads Work; false where it is something else. */
bool price_read(struct cursor *c, struct work_report *out);

/* µs of CPU time, finite, at least 0; learns from it. */
double price_of(struct price *p, enum question question, const struct work_report *report);

/* A batch that waits for nothing is below a time slice: longer, its thread was off its core. */
#define PRICE_BATCH_US 1000

/* Of an ask by compiled code, the way there and back in it: of calls that wait for nothing, and
 * took so long by the node's clock; of those of the header that wait for every scheduler. */
double price_of_ask(const struct price *p, double wall_us);
/* The same where the calls are known to take up to most_us. */
double price_of_calls(const struct price *p, double wall_us, double most_us);
double price_of_waits(const struct price *p);

/* No more than all schedulers can have done in that time, whatever the node says of itself. */
double price_bound(const struct price *p, double us, double took_ms);

#endif
