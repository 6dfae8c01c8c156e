/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop trace FILE`, `beamtop calls FILE`: what was traced and counted in a recording, printed
 * as it was live. Each returns the exit code. */
#ifndef BEAMTOP_APP_COMMAND_SESSION_FILE_H
#define BEAMTOP_APP_COMMAND_SESSION_FILE_H

#include "beamtop/output/calls_sink.h"
#include "app/cli/cli.h"

int session_file_traces(const struct cli_options *o, const struct app_env *env);
/* Syntax and format are those of `sink`, which gets the node. */
int session_file_calls(const struct cli_options *o, struct calls_sink_options sink);

#endif
