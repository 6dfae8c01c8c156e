/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a failed connection leads to: the VM of this host that was meant, seen from outside. */
#ifndef BEAMTOP_APP_OUTSIDE_OUTSIDE_COMMAND_H
#define BEAMTOP_APP_OUTSIDE_OUTSIDE_COMMAND_H

#include "app/cli/cli.h"

/* After a command that has ended with this exit code: where that is a connection's failure, the
 * node a VM of this host, and both outputs a terminal, lines on standard error. Takes 1.5 s at
 * most. */
void outside_after(const struct cli_command *command, const struct cli_options *o,
                   const struct app_env *env, int exit_code);

#endif
