/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The processes that findings look at whatever the screen shows: those with the longest mailboxes,
 * the most memory, the most work. The node is asked for them now and then (docs/queries.md,
 * `leaders`), the seldomer the more that costs; in between they are watched at every tick.
 */
#ifndef BEAMTOP_APP_SOURCE_LEADERS_H
#define BEAMTOP_APP_SOURCE_LEADERS_H

#include "live.h"

struct leaders;

/* busiest: those that work most too, where the scan may be ranked by something else. */
struct leaders *leaders_new(bool busiest,
                            void (*answered)(void *arg, const uint8_t *value, size_t len), void *arg);
void leaders_free(struct leaders *l);

/* At a tick: asks when it is time. */
void leaders_tick(struct leaders *l, struct live *live, struct model *model, uint64_t now_ms);
/* The link is lost, or it is another node: nothing is known of it. */
void leaders_forget(struct leaders *l);
/* Adds them, with the items that rules read of them. */
void leaders_want(const struct leaders *l, const struct model *model, struct want *want);

#endif
