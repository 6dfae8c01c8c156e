/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef BEAMTOP_APP_JOB_START_H
#define BEAMTOP_APP_JOB_START_H

#include "beamtop/base/error.h"

/* Whether there are descriptors, memory and threads enough to begin with: the event loop and its
 * workers end the program where there are not. ERR_SYSTEM names the limit. */
int start_check(struct error *err);

#endif
