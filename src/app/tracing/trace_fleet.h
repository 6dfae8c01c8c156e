/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop trace` of several nodes. */
#ifndef BEAMTOP_APP_COMMAND_TRACE_FLEET_H
#define BEAMTOP_APP_COMMAND_TRACE_FLEET_H

#include "app/cli/cli.h"

/* The patterns have been checked, the request has what the configuration says. An exit code. */
int trace_fleet(const struct cli_options *o, const struct app_env *env,
                const struct trace_request *request);

#endif
