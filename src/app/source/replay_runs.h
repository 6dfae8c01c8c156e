/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was run beside the ticks of a recording, as the screen shows it: of counted calls, samples,
 * captured spans and watches for system events the last at or before a tick. What a recording has
 * of a window of calls are its leaders; applications of functions and times per call are not among
 * it and stay unknown. */
#ifndef BEAMTOP_APP_SOURCE_REPLAY_RUNS_H
#define BEAMTOP_APP_SOURCE_REPLAY_RUNS_H

#include <stdint.h>

#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"

struct replay_runs;

struct replay_runs *replay_runs_new(void);
void replay_runs_free(struct replay_runs *runs); /* not while a model has them */
/* Gives the model what is known at that tick; none: nothing was recorded until then. One that is
 * damaged is a failure of the recording. */
void replay_runs_show(struct replay_runs *runs, struct recording *r, int64_t tick, struct model *m);

#endif
