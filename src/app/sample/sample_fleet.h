/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop sample --remote` of several nodes: one sum, in which the first frame of each stack is
 * its node. */
#ifndef BEAMTOP_APP_SAMPLE_SAMPLE_FLEET_H
#define BEAMTOP_APP_SAMPLE_SAMPLE_FLEET_H

#include "sample_run.h"

/* As sample_run(). A node that cannot be sampled is said, and is not in the sum; the exit code is
 * the first that is not 0. */
int sample_fleet_run(struct sample_run *t, int (*print)(struct sample_run *t));

#endif
