/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A finished run of the sampler, summed up: what its sinks print (output/samples_sink.h). All is
 * borrowed from whoever made it. */
#ifndef BEAMTOP_MODEL_SAMPLES_H
#define BEAMTOP_MODEL_SAMPLES_H

#include "beamtop/base/sample.h"
#include "beamtop/model/stacks.h"

/* An Erlang process or a thread of the VM, with its samples. */
struct samples_source {
    struct slice name;  /* "<0.123.0>", "scheduler 1" */
    struct slice about; /* a process: registered name or label, a thread: kind; empty: unknown */
    int64_t samples;
};
/* Stacks of a part of the samples: of one thread. */
struct samples_part {
    struct slice name;
    const struct stacks *stacks;
};

/* Counts and times that are not known are -1, NaN. */
struct samples_summary {
    struct slice label; /* the node, or "OS process N" */
    struct slice otp;   /* "27.3.4"; empty: unknown */
    int64_t wall_us;    /* when it started, since the epoch */
    double seconds, hz; /* how long it ran; samples for each second of a thread's CPU time */
    int64_t samples;
    int64_t lost; /* that the kernel could not deliver: not among the samples */
    int64_t moved_on, truncated, unresolved, complete; /* samples with that flag */
    double sampler_cpu_s, target_cpu_s;                /* CPU time in the run, user and system */
    int64_t classes[SAMPLE_CLASSES];
    const struct samples_source *processes; /* most samples first, as the threads */
    size_t n_processes;
    const struct samples_source *threads;
    size_t n_threads;
    const struct stacks *stacks;      /* of all samples; a weight of 1 is one sample */
    const struct samples_part *parts; /* the same samples by thread; none: not kept */
    size_t n_parts;
};

#endif
