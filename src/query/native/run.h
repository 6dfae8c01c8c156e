/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A question that takes several native asks (native.h), one after the other: a table of steps, each
 * of which makes its calls of what those before have read. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_RUN_H
#define BEAMTOP_QUERY_RUN_H

#include <uv.h>

#include "internal.h"
#include "native.h"
#include "price.h"

/* The most of one step. */
#define RUN_CALLS 64

/* The calls of one ask, which answers with the value of each. */
struct run_calls {
    struct native_step steps[RUN_CALLS + 2]; /* between two clocks */
    struct builder *terms[RUN_CALLS];
    size_t n;
    double most_us;      /* what they take at most on a slow machine; PRICE_BATCH_US, or more */
    uint64_t heap_words; /* 0: as native.h says */
    double waited_us;    /* what they sleep is none of it */
    double way_us;       /* what their terms cost on the way there and back */
    unsigned ends_ms; /* 0, or of a step that waits: after so long it is ended, not left to end */
    double waits;     /* they ask every scheduler: so many times what the header's asks take */
};
/* args: a list, with version byte; it is the run's from then on. */
void run_add(struct run_calls *calls, const char *module, const char *function,
             struct builder *args);
/* args: as text, as "[process_count]". */
void run_add_text(struct run_calls *calls, const char *module, const char *function,
                  const char *args);

struct run_step {
    /* false: there is nothing to ask (any more), and the next step comes. Calls that were added
     * then are not made. */
    bool (*ask)(void *own, struct run_calls *calls);
    /* values: as many as there were calls, in their order, borrowed; NULL: one of them failed, the
     * answer was too large, or late; n 0: it was not asked, one before is late. */
    void (*take)(void *own, const struct slice *values, size_t n);
    /* It waits for schedulers or for a disk, and may be late by itself: it gets so many ms. 0: the
     * question's deadline, past which the question fails. */
    unsigned waits_ms;
    bool repeats; /* it is asked again after its answer, until there is nothing more */
};

struct run;
/* All steps are through (err NULL), or the question fails. It may free the run. */
typedef void run_fn(void *own, const struct error *err);

/* place: of its asks, and the one behind it, of those that wait. */
struct run *run_new(const struct way_setup *setup, unsigned place);
void run_free(struct run *r); /* fn is not called */
/* fn comes once, from the loop, never from within, unless run_cancel() is first. ERR_LIMIT: an ask
 * of the run before has not ended on the node. */
int run_begin(struct run *r, const struct run_step *steps, size_t n, uint64_t due_ms, run_fn *fn,
              void *own, struct error *err);
void run_cancel(struct run *r);
/* The node's monotonic clock after the last ask, in ns. */
int64_t run_clock_ns(const struct run *r);
/* CPU time of the asks since it was last called. */
double run_take_us(struct run *r);

#endif
