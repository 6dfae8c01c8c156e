/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counted calls of a recording as the screen shows them: the last window at or before a tick. What
 * a recording has of a window are its leaders; applications of functions and times per call are not
 * among it and stay unknown. */
#ifndef BEAMTOP_APP_SOURCE_REPLAY_CALLS_H
#define BEAMTOP_APP_SOURCE_REPLAY_CALLS_H

#include <stdint.h>

#include "beamtop/model/model.h"
#include "beamtop/recording/recording.h"

struct replay_calls;

struct replay_calls *replay_calls_new(void);
void replay_calls_free(struct replay_calls *c); /* NULL is fine */
/* Gives the model what is known at that tick; none: no window was recorded until then. */
void replay_calls_show(struct replay_calls *c, struct recording *r, int64_t tick, struct model *m);

#endif
