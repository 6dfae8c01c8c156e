/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop spans FILE`: a capture of a recording, printed as it was live. */
#ifndef BEAMTOP_APP_SPANS_SPANS_FILE_H
#define BEAMTOP_APP_SPANS_SPANS_FILE_H

#include "app/cli/cli.h"
#include "beamtop/output/spans_sink.h"

/* Without system events. */
struct spans_sink_options spans_file_options(const struct cli_options *o,
                                             const struct app_env *env);
/* The exit code. */
int spans_file(const struct cli_options *o, const struct app_env *env);

#endif
