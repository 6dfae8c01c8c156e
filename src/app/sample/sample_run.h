/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One run of the sampler for a command without a screen: progress, signals, notes and errors on
 * standard error, and what was sampled, for the command to print. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLE_RUN_H
#define BEAMTOP_APP_SAMPLE_SAMPLE_RUN_H

#include "app/cli/cli.h"
#include "app/source/runtime.h"
#include "beamtop/model/samples.h"
#include "sample_options.h"
#include "sampling.h"

struct sample_run {
    const struct cli_options *options;
    const struct app_env *env;
    struct sampler_options sampler;
    struct sampled_options sums;
    /* Each record that counted, while it runs; may be NULL. False: enough. */
    bool (*on_sample)(struct sample_run *t, const struct sample *sample);
    void *arg;

    struct sampled *sampled; /* from here on: what the run found */
    struct record_begin begin;
    struct record_end end;
    int64_t wall_us;

    struct runtime rt; /* sample_run.c */
    uv_timer_t progress;
    struct sampling *sampling;
    uint64_t began_ns;
    bool told, ended; /* a line of progress stands; the sampler reached its end */
};

/* Finds the VM, samples it and calls print(); the exit code of the command. */
int sample_run(struct sample_run *t, int (*print)(struct sample_run *t));
/* Label, rate, times and counts; what they refer to belongs to t. */
void sample_run_summary(struct sample_run *t, struct samples_summary *out);

#endif
