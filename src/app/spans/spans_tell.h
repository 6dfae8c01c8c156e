/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command says of captures that have ended, of one node and of several. */
#ifndef BEAMTOP_APP_SPANS_SPANS_TELL_H
#define BEAMTOP_APP_SPANS_SPANS_TELL_H

#include "app/cli/cli.h"
#include "beamtop/trace/spans_run.h"

/* The capture, on standard output. */
void spans_tell_capture(const struct spans_run *run, const struct cli_options *o,
                        const struct app_env *env);
/* What is left on a node, for people. */
void spans_tell_left(const struct spans_run *run, const char *node, const struct cli_options *o);

#endif
