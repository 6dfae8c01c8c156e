/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording from its first tick to its end, in the foreground or detached. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_RUN_H
#define BEAMTOP_APP_RECORDER_RECORD_RUN_H

#include "record_state.h"

/* Runs to the end, prints on stderr what went wrong and what was written. The exit code. */
int record_run(const struct record_setup *setup);

#endif
