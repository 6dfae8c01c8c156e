/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The newest sample of each thread of a run of the sampler. Owner: the caller. Thread: that of the
 * loop. */
#ifndef BEAMTOP_APP_OUTSIDE_NEWEST_H
#define BEAMTOP_APP_OUTSIDE_NEWEST_H

#include "app/sample/sampled.h"
#include "beamtop/base/outside.h"

struct newest {
    struct newest_of *threads; /* by their number in the run */
    size_t n;
};

void newest_take(struct newest *k, const struct sampled *run, const struct sample *sample);
/* Those that ran after since_ns (CLOCK_MONOTONIC), by thread, at most LIMIT_OUTSIDE_STACKS. *out is
 * the caller's. */
size_t newest_stacks(const struct newest *k, const struct sampled *run, uint64_t since_ns,
                     struct outside_stack **out);
void newest_clear(struct newest *k);

#endif
