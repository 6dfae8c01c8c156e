/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which VM of this host is looked at from outside: by its OS pid, or the name of its node. What is
 * found has no cookie. A zombie has no name, user or release. Errors as of local_target_find()
 * (local_target.h). */
#ifndef BEAMTOP_APP_SEARCH_LOCAL_SEARCH_H
#define BEAMTOP_APP_SEARCH_LOCAL_SEARCH_H

#include <uv.h>

#include "local_target.h"

/* Blocks for as long as reading /proc takes, and an answer of epmd. */
int local_search_find(struct discover_vm *out, const struct local_wanted *wanted,
                      struct error *err);

/* The same on another thread; one that is blocked is left behind. epmd has 1 s. Owner: the caller.
 * Thread: that of the loop. */
struct local_search;
/* vm: that was found; else NULL, and why. Once, unless the search is stopped before, as it may be
 * from here. */
typedef void local_found_fn(void *arg, const struct discover_vm *vm, const struct error *why);
int local_search_start(struct local_search **out, uv_loop_t *loop,
                       const struct local_wanted *wanted, local_found_fn *found, void *arg,
                       struct error *err);
void local_search_stop(struct local_search *s); /* frees it, found or not; NULL is fine */

#endif
