/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop trace FILE`: the traces of a recording, printed as they were live. */
#ifndef BEAMTOP_APP_COMMAND_TRACE_FILE_H
#define BEAMTOP_APP_COMMAND_TRACE_FILE_H

#include "app/cli/cli.h"

int trace_file_print(const struct cli_options *o, const struct app_env *env); /* the exit code */

#endif
