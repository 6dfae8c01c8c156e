/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of the sampler for a command without a screen: progress, signals, notes and errors on
 * standard error, and what was sampled, for the command to print. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLE_RUN_H
#define BEAMTOP_APP_SAMPLE_SAMPLE_RUN_H

#include "app/cli/cli.h"
#include "app/source/runtime.h"
#include "beamtop/local/sampler.h"
#include "beamtop/model/samples.h"
#include "sample_log.h"
#include "sampled.h"

struct batch; /* app/command/batch.h */

struct sample_run {
    const struct cli_options *options;
    const struct app_env *env;
    struct sampler_options sampler;
    struct sampled_options sums;
    /* Each record that counted, while it runs; may be NULL. False: enough. */
    bool (*on_sample)(struct sample_run *t, const struct sample *sample);
    void *arg;
    bool may_be_remote; /* an error says that the node could do it */

    const struct sampled *sampled; /* from here on: what the run found */
    struct samples_summary summary;
    struct record_begin begin;

    struct runtime rt; /* sample_run.c */
    uv_timer_t progress;
    struct sample_log *log;
    struct batch *batch; /* with --remote … */
    struct session_port port;
    unsigned turns;
    bool is_lost;
    bool told, ended; /* a line of progress stands; the sampler reached its end */
    bool enough;      /* it was asked to end by on_sample */
};

/* Sets sampler and sums by the words of the command: --thread, a kind or the number of a thread;
 * --scheduler; --pid. ERR_USAGE. */
int sample_run_options(struct sample_run *t, struct error *err);
/* Finds the VM, samples it and calls print(); the exit code of the command. With --remote the node
 * does it, at yield points. */
int sample_run(struct sample_run *t, int (*print)(struct sample_run *t));
/* The same of several nodes, in sample_fleet.c: one sum, in which the first frame of each stack is
 * its node. A node that cannot be sampled is said, and is not in it; the exit code is the first
 * that is not 0. */
int sample_fleet_run(struct sample_run *t, int (*print)(struct sample_run *t));

#endif
