/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop calls` of several nodes. */
#ifndef BEAMTOP_APP_COMMAND_CALLS_FLEET_H
#define BEAMTOP_APP_COMMAND_CALLS_FLEET_H

#include "app/cli/cli.h"
#include "beamtop/output/calls_sink.h"
#include "beamtop/trace/calls.h"

/* The patterns have been checked. An exit code. */
int calls_fleet(const struct cli_options *o, const struct app_env *env,
                const struct calls_options *options, const struct calls_sink_options *sink);

#endif
