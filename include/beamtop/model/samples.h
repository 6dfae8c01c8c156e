/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A finished run of the sampler, summed up: what its sinks print (output/samples_sink.h). All is
 * borrowed from whoever made it. */
#ifndef BEAMTOP_MODEL_SAMPLES_H
#define BEAMTOP_MODEL_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/base/sample.h"
#include "beamtop/etf/term.h"
#include "beamtop/model/stacks.h"

/* Where samples of a source were taken. */
struct samples_place {
    struct slice name; /* of a thread: "CPU 3", of a process: the thread, "scheduler 1" */
    int64_t samples;
};
/* An Erlang process or a thread of the VM, with its samples. */
struct samples_source {
    struct slice name;  /* "<0.123.0>", "scheduler 1" */
    struct slice about; /* a process: registered name or label, a thread: kind; empty: unknown */
    int64_t samples;
    /* Where, most samples first; none: unknown. Beyond LIMIT_SAMPLED_PLACES they are not kept. */
    const struct samples_place *places;
    size_t n_places;
    int64_t moves; /* samples that were elsewhere than the one before: at least so many moves */
};
/* A native call that was sampled twice or more while it held a normal scheduler. */
struct samples_held {
    struct slice call; /* the BIF, the function of the NIF library, or "global::garbage_collect" */
    struct slice object; /* of a NIF: its library */
    struct slice caller; /* the Erlang function; empty: unknown */
    struct slice process, name, thread;
    double seconds; /* from the first of its samples to the last: it lasted longer */
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
    struct slice host;  /* on which it was sampled from outside; empty: another one, unknown */
    /* Taken by the node of itself, where processes yield: shares are of reductions, not of CPU
       time, and native code is hardly among them. Classes, threads and flags are not known. */
    bool at_yields;
    struct slice otp;   /* "27.3.4"; empty: unknown */
    int64_t wall_us;    /* when it started, since the epoch */
    double seconds, hz; /* how long it ran; samples for each second of a thread's CPU time */
    int64_t samples;
    int64_t lost; /* that the kernel could not deliver: not among the samples */
    int64_t moved_on, truncated, unresolved, complete; /* samples with that flag */
    double sampler_cpu_s, target_cpu_s;                /* CPU time in the run, user and system */
    int64_t in_prologue;                               /* samples with that flag … */
    const struct stacks *prologues; /* … the functions, one frame each; NULL: not kept */
    int64_t classes[SAMPLE_CLASSES];
    const struct samples_source *processes; /* most samples first, as the threads */
    size_t n_processes;
    const struct samples_source *threads;
    size_t n_threads;
    const struct samples_held *held; /* the longest first; NULL: not known */
    size_t n_held;
    const struct stacks *stacks;      /* of all samples; a weight of 1 is one sample */
    const struct samples_part *parts; /* the same samples by thread; none: not kept */
    size_t n_parts;
};

/* ---- taken by the node of itself: the answer to the question `stacks` (docs/queries.md) */

struct yield_stack {
    struct etf_pid pid;
    int64_t samples, reductions;
    const struct slice *functions; /* the innermost first */
    size_t n;
};
struct yield_stacks {
    double seconds;
    int64_t looks, processes; /* that were looked at */
    const struct yield_stack *stacks;
    size_t n;
};
struct arena;
/* Texts and stacks are the arena's. ERR_FORMAT. */
int yield_stacks_decode(struct yield_stacks *out, struct arena *arena, const uint8_t *term,
                        size_t len, struct error *err);
#define SAMPLES_NO_STACK "[no stack]"            /* the frame of what ended at the root of a tree */
#define SAMPLES_TREE_SHARE 0.01                  /* of all: what is lighter is left out of trees */
double samples_share(double part, double whole); /* NaN of nothing */
/* Half of the 95% interval of a share; NaN at yields, where weights are not counts. */
double samples_error(const struct samples_summary *run, double share);
const char *samples_unit(const struct samples_summary *run); /* of weights: "samples" */

/* Who a process is: registered name, label or initial call; empty: it has ended. */
struct process_who {
    struct etf_pid pid;
    struct slice name;
};
/* The answer to the question `who`: *n of *out, the arena's. ERR_FORMAT. */
int process_who_decode(const struct process_who **out, size_t *n, struct arena *arena,
                       const uint8_t *term, size_t len, struct error *err);

/* ---- sampling on the screen, and in a recording that is replayed */

enum sampling_phase { SAMPLING_STARTS, SAMPLING_RUNS, SAMPLING_ENDED, SAMPLING_FAILED };

/* The run that is shown, or was last; borrowed by the model (model_set_samples()). */
struct samples_log {
    enum sampling_phase phase;
    struct samples_summary run; /* so far; run.stacks is never NULL */
    double for_s;               /* how long it is to run; 0: until it is stopped */
    char note[240]; /* what limits it: "not pinned …", "no names …"; empty: nothing */
    char why[240];  /* it failed, or is of another kind than asked for: the reason */
};

#endif
