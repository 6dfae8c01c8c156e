/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which processes of the node are beamtops': what holds their connections, the keepers, which are
 * registered under the names of the nodes of their clients, what is linked to these, and what is
 * linked to that (docs/queries.md, `own`); and the process of ours that holds a flag. Asked
 * natively. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_OWN_H
#define BEAMTOP_QUERY_OWN_H

#include "query/native/internal.h"

struct own;
typedef void own_fn(void *arg, bool ok);

/* place: of its asks. */
struct own *own_new(const struct way_setup *setup, unsigned place);
void own_free(struct own *o);
/* Asks which, and whether each of `news` was spawned for a beamtop's ask. fn comes once, from the
 * loop; false: the node did not answer by due_ms, and what was known before is kept. One at a
 * time. */
int own_learn(struct own *o, const struct etf_pid *news, size_t n, uint64_t due_ms, own_fn *fn,
              void *arg, struct error *err);
/* Of the last one: news[i] was. */
bool own_is_asked(const struct own *o, size_t i);
bool own_has(const struct own *o, const struct etf_pid *pid);
size_t own_count(const struct own *o); /* without those of asks that end */
double own_take_us(struct own *o);     /* what it cost the node since this was called last */

#endif
