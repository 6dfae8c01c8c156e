/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the arguments of `beamtop trace` before it connects. */
#ifndef BEAMTOP_APP_COMMAND_TRACE_ARGUMENTS_H
#define BEAMTOP_APP_COMMAND_TRACE_ARGUMENTS_H

#include <stddef.h>

#include "app/cli/cli.h"
#include "app/command/settings.h"

/* What the configuration says, and above it what the command line gives. An exit code; what is
   wrong has been printed. */
int trace_arguments_settings(struct trace_request *out, const struct cli_options *o,
                             const struct app_env *env);
/* Errors come before any connection. `request` gets whether the patterns wait for
   some results only: unless set otherwise such a trace skips calls above the rate cap, since it is
   for rare calls. */
int trace_arguments_check(const char *const *patterns, size_t n, struct trace_request *request);

#endif
