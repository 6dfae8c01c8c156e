/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What looks at a VM from outside, of a node that is named by a URL: beamtop runs there, if it is
 * there, and prints here. Thread: main's. */
#ifndef BEAMTOP_APP_WAY_WAY_FAR_H
#define BEAMTOP_APP_WAY_WAY_FAR_H

#include <stdbool.h>

#include "app/cli/cli.h"
#include "reach.h"

bool way_far_is_asked(const struct cli_command *command, const struct cli_options *o,
                      const struct reach *reach);
/* Runs the command line there, and returns its exit code; says so where beamtop is not there. */
int way_far_run(const struct cli_options *o, char **argv);

#endif
