/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop calls FILE`: the windows of counted calls of a recording, printed as they were live. */
#ifndef BEAMTOP_APP_COMMAND_CALLS_FILE_H
#define BEAMTOP_APP_COMMAND_CALLS_FILE_H

#include "beamtop/output/calls_sink.h"
#include "app/cli/cli.h"

/* The exit code; syntax and format of `sink`, which gets the node. */
int calls_file_print(const struct cli_options *o, struct calls_sink_options sink);

#endif
