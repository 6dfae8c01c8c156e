/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes that findings watch at every tick, whatever the screen shows: those with the
 * longest mailboxes, the most memory, the most work, as the last answer to `leaders` says
 * (docs/queries.md). */
#ifndef BEAMTOP_APP_SOURCE_LEADERS_H
#define BEAMTOP_APP_SOURCE_LEADERS_H

#include "beamtop/model/model.h"

struct leaders {
    bool busiest; /* those that work most too, where the scan may be ranked by something else */
    struct etf_pid pids[WANT_WATCHED];
    int n_pids;
};

void leaders_take(struct leaders *l, const uint8_t *value, size_t len);
/* Adds them, with the items that rules read of them. */
void leaders_want(const struct leaders *l, const struct model *model, struct want *want);

#endif
