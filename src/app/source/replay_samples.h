/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of a recording as the screen shows them: the last run at or before a tick, as ended. */
#ifndef BEAMTOP_APP_SOURCE_REPLAY_SAMPLES_H
#define BEAMTOP_APP_SOURCE_REPLAY_SAMPLES_H

#include <stdint.h>

#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"

struct replay_samples;

struct replay_samples *replay_samples_new(void);
void replay_samples_free(struct replay_samples *s); /* NULL is fine; not while a model has them */
/* Gives the model the run; none: no run was recorded until that tick. One that is damaged is a
 * failure of the recording. */
void replay_samples_show(struct replay_samples *s, struct recording *r, int64_t tick,
                         struct model *m);

#endif
