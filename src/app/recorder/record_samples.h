/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs of the sampler in a recording, from start to start while the node is there: of its VM, from
 * outside, or by the node where that is refused. What keeps it from sampling is reported once, and
 * tried again, less and less often. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_SAMPLES_H
#define BEAMTOP_APP_RECORDER_RECORD_SAMPLES_H

#include <stdbool.h>
#include <uv.h>

#include "app/cli/cli.h"
#include "app/source/live.h"
#include "beamtop/recording/recording.h"

struct record_samples;

struct record_samples_setup {
    uv_loop_t *loop;
    struct live *live;
    const struct model *model;
    struct recorder *recorder;
    const struct cli_options *options; /* --sample, --sample-every, --hz */
    const struct app_env *env;
    void (*tell)(void *arg, const char *text); /* a refusal; that it works after all */
    void (*on_ended)(void *arg);               /* after record_samples_stop(): it is kept */
    void *arg;
};

struct record_samples *record_samples_new(const struct record_samples_setup *setup);
/* Ten times a second: begins a run that is due. NULL is fine, as for the next one. */
void record_samples_tick(struct record_samples *r);
void record_samples_link_lost(struct record_samples *r, const struct error *why);
/* Ends the run that goes on; false: there is nothing to wait for. */
bool record_samples_stop(struct record_samples *r);
void record_samples_free(struct record_samples *r); /* a run that has not ended is not kept */

#endif
