/*
 * A recording as a source of facts: its answers go to a model, tick by tick, by the way that a
 * live node's go. Time is the recording's; nothing here waits.
 */
#ifndef BEAMTOP_APP_REPLAY_H
#define BEAMTOP_APP_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/error.h"
#include "beamtop/model/model.h"
#include "beamtop/model/source.h"
#include "beamtop/store/recording.h"

struct replay;

/* Whether that names a file rather than a node. */
bool replay_is_file(const char *target);

/* The model stays the caller's, and is at no tick yet. */
int replay_open(struct replay **out, const char *path, struct model *model, struct error *err);
void replay_close(struct replay *r);
const struct recording_info *replay_info(const struct replay *r);
struct recording *replay_recording(struct replay *r);

/* At most so many rows of a scan, busiest first; 0: all that were recorded. */
void replay_set_rows(struct replay *r, int rows);
/* ERR_NOT_FOUND tells what of it was not asked for while recording. */
int replay_check(struct replay *r, const struct want *want, struct error *err);

/*
 * To a tick (1 …): straight on from the one before, or by a jump, which gives the model the tick
 * before it first, so that rates are there, and a gap.
 */
int replay_to(struct replay *r, int64_t tick, struct error *err);
int64_t replay_tick(const struct replay *r); /* 0: none yet */
/* The next tick that is there (thinning leaves holes); 0: that was the last. */
int64_t replay_next(struct replay *r);

/*
 * "12:30:05" (UTC), "2026-11-21 12:30:05", "90s" and "10m" (from the start), "#12" (a tick), or a mark's
 * text or its beginning: the tick at, or the last before it. ERR_USAGE: it is none of these.
 */
int replay_find(struct replay *r, const char *when, int64_t *tick, struct error *err);

#endif
