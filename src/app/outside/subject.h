/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which VM of this host is looked at from outside. */
#ifndef BEAMTOP_APP_OUTSIDE_SUBJECT_H
#define BEAMTOP_APP_OUTSIDE_SUBJECT_H

#include <uv.h>

#include "app/cli/cli.h"
#include "beamtop/link/discover.h"

/*
 * By its OS pid, or the name of its node. *out has no cookie. A zombie has no name, user or
 * release. Errors as of local_target_find() (app/sample/local_target.h). Blocks for as long as
 * reading /proc takes, and an answer of epmd. */
int outside_subject_find(struct discover_vm *out, const char *target, const struct cli_options *o,
                         const struct app_env *env, struct error *err);

/* The same on another thread; one that is blocked is left behind. epmd has 1 s. Owner: the caller.
 * Thread: that of the loop. */
struct subject_search;
/* vm: that was found; else NULL, and why. Once, unless the search is stopped before. */
typedef void subject_found_fn(void *arg, const struct discover_vm *vm, const struct error *why);
int subject_search_start(struct subject_search **out, uv_loop_t *loop, const char *target,
                         const struct cli_options *o, const struct app_env *env,
                         subject_found_fn *found, void *arg, struct error *err);
void subject_search_stop(struct subject_search *s); /* frees it, found or not; NULL is fine */

#endif
