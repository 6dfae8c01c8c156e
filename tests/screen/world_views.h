/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted calls, findings and samples of a made-up node. */
#ifndef TESTS_SCREEN_WORLD_VIEWS_H
#define TESTS_SCREEN_WORLD_VIEWS_H

#include "beamtop/model/finding.h"
#include "beamtop/model/samples.h"
#include "beamtop/trace/calls_log.h"

enum calls_world {
    COUNTED_NOT,
    COUNTED_FIRST, /* the first window is not over */
    COUNTED_CALLS, /* calls alone */
    COUNTED_TIME,  /* with time and words, one counter lost */
    COUNTED_ENDED,
    COUNTED_FAILED,
    COUNTED_REFUSED, /* ended before its first window: others are there, many of them */
    COUNTED_COSTLY,  /* and it was not agreed to */
};

enum found_world { FOUND_NOT_JUDGED, FOUND_NOTHING, FOUND_SOME };

enum sampled_world {
    SAMPLED_NOT,
    SAMPLED_STARTS,
    SAMPLED_RUNS,
    SAMPLED_ENDED,
    SAMPLED_YIELDS, /* by the node, weighted by reductions */
    SAMPLED_FAILED,
};

void world_calls(struct calls_log *log, enum calls_world world);
void world_findings(struct findings_shown *shown, enum found_world world);
/* Returns its stacks, which are the caller's. */
struct stacks *world_samples(struct samples_log *log, enum sampled_world world);

#endif
