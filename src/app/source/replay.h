/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording as a source of facts: its answers go to a model, tick by tick, by the way that a live
 * node's go. Time is the recording's; nothing here waits. */
#ifndef BEAMTOP_APP_SOURCE_REPLAY_H
#define BEAMTOP_APP_SOURCE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/model/filter.h"
#include "beamtop/model/model.h"
#include "beamtop/model/want.h"
#include "beamtop/recording/recording.h"

struct replay;

/* Whether that names a file rather than a node. */
bool replay_is_file(const char *target);

/* The model stays the caller's, and is at no tick yet. */
int replay_open(struct replay **out, const char *path, struct model *model, struct error *err);
void replay_close(struct replay *r);
const struct recording_info *replay_info(const struct replay *r);
struct recording *replay_recording(struct replay *r);

/*
 * What is shown of the rows recorded: order, number, and those that match; before the first call
 * all, in the order recorded. The filter is borrowed, NULL: none. The tick shown follows
 * at once. */
void replay_show(struct replay *r, const struct want_scan *shown, struct filter *filter);
/* From the next tick on the model has the trace of the tick too: what no batch command prints. */
void replay_show_traces(struct replay *r);
/* ERR_NOT_FOUND says what of it was not recorded. */
int replay_check(struct replay *r, const struct want *want, struct error *err);
/* Whether the rows have all of these: bits of enum proc_item. */
bool replay_has_items(const struct replay *r, uint32_t items);

/*
 * To a tick (1 …): straight on from the one before, or by a jump, which gives the model the tick
 * before it first, so that rates are there, and a gap. */
int replay_to(struct replay *r, int64_t tick, struct error *err);
/* The first tick that can be shown: thinning (--thin) gives up what the node said at older ones. */
int64_t replay_first(const struct replay *r);
int64_t replay_tick(const struct replay *r); /* 0: none yet */
/* The next tick that is there (thinning leaves holes); 0: that was the last, or replay_failed(). */
int64_t replay_next(struct replay *r);
/* Why the file could not be read, of the last of these calls. ERR_USAGE: it is damaged. */
int replay_failed(struct replay *r, struct error *err);

/* So many times as fast as it was recorded, for the position in the model; 0: paused. */
void replay_set_speed(struct replay *r, double speed);

/*
 * "12:30:05" (UTC), "2026-11-21 12:30:05", "90s" and "10m" (from the start), "#12" (a tick), or a
 * mark's text or its beginning: the tick at, or the last before it. From the tick shown: "+10m",
 * "-30s", "+#1", "-#5" (ticks), "+mark", "-mark" (the next and the previous one). ERR_USAGE: it is
 * none of these. */
int replay_find(struct replay *r, const char *when, int64_t *tick, struct error *err);

#endif
