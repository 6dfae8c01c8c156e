/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which VM of this host is looked at from outside. */
#ifndef BEAMTOP_APP_OUTSIDE_SUBJECT_H
#define BEAMTOP_APP_OUTSIDE_SUBJECT_H

#include "app/cli/cli.h"
#include "beamtop/link/discover.h"

/*
 * By its OS pid, or the name of its node. *out has no cookie. A zombie has no name, user or
 * release. Errors as of local_target_find() (app/sample/local_target.h). */
int outside_subject_find(struct discover_vm *out, const char *target, const struct cli_options *o,
                         const struct app_env *env, struct error *err);

#endif
