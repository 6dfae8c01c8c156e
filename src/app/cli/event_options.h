/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command line says of system events. */
#ifndef BEAMTOP_APP_CLI_EVENT_OPTIONS_H
#define BEAMTOP_APP_CLI_EVENT_OPTIONS_H

#include <stdbool.h>

#include "beamtop/trace/events.h"
#include "cli.h"

/* Limits and cap; all else has its default. */
struct events_options event_options_of(const struct cli_options *o);
/* Whether any limit was given. */
bool event_options_given(const struct cli_options *o);

#endif
