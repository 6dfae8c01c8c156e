/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Native calls that held a scheduler: consecutive samples of one thread in the same call
 * (sample.call). Two samples are needed, so that shorter calls than the time between samples are
 * seldom seen, and none counts as longer than it was. */
#ifndef BEAMTOP_APP_SAMPLE_HELD_H
#define BEAMTOP_APP_SAMPLE_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/sample.h"

#define HELD_NO_FRAME UINT32_MAX

struct held_call {
    uint64_t call; /* 0: none */
    uint64_t first_ns, last_ns;
    int64_t samples;
    uint64_t pid_number, pid_serial;
    uint32_t thread, frame, caller; /* indexes as in the sample; HELD_NO_FRAME: unknown */
};

struct held {
    struct held_call list[LIMIT_SAMPLED_HELD]; /* the longest first */
    size_t n;
};

/* now: of that thread, zero before its first sample. True: a call begins, whose frames the caller
 * sets. */
bool held_take(struct held *h, struct held_call *now, const struct sample *s);
/* Those that have ended, and that of each thread so far. */
void held_keep(struct held *h, const struct held_call *call);

#endif
