/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What this user may see of a VM of this host from outside: each way tried, from the one that shows
 * most. An error's code is ERR_NONE where it is allowed; else its text has the errno and what would
 * lift it. Nothing of the VM changes, and nothing is sampled. */
#ifndef BEAMTOP_LOCAL_LADDER_H
#define BEAMTOP_LOCAL_LADDER_H

#include <sys/types.h>

#include "beamtop/base/error.h"

struct ladder {
    struct error stacks;    /* samples with stacks: perf_event_open(2) and process_vm_readv(2) */
    struct error addresses; /* samples by address only: perf_event_open(2) and /proc/PID/maps */
    struct error memory;    /* reading it: process_vm_readv(2) */
    struct error times;     /* CPU time of each thread: /proc/PID/task */
};

void ladder_try(struct ladder *out, pid_t pid);

#endif
