/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `beamtop spans NODE,NODE PATTERN`: requests over several nodes, wherever they begin. */
#ifndef BEAMTOP_APP_SPANS_SPANS_FLEET_H
#define BEAMTOP_APP_SPANS_SPANS_FLEET_H

#include "app/cli/cli.h"

/* The words are checked. The exit code. */
int spans_fleet(const struct cli_options *o, const struct app_env *env);

#endif
