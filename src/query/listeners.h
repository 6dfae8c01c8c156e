/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who gets what the node pushes, by the id in it. One thread: the loop's. */
#ifndef BEAMTOP_QUERY_LISTENERS_H
#define BEAMTOP_QUERY_LISTENERS_H

#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/query/query.h"

struct listener {
    uint64_t id;
    event_fn *fn; /* NULL: free */
    void *arg;
};

struct listeners {
    struct listener all[LIMIT_CALLS_IN_FLIGHT];
};

void listeners_add(struct listeners *l, uint64_t id, event_fn *fn,
                   void *arg); /* if there is room */
void listeners_drop(struct listeners *l, const void *arg);
/* The listener for {t, Id, …}, at its first element; NULL: there is none. */
const struct listener *listeners_find(const struct listeners *l, struct cursor c);

#endif
