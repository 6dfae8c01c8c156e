/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to source.c, which says what a source does of a node, source_live.c (a node's life as a
 * source) and source_replay.c (all of a recording). */
#ifndef BEAMTOP_APP_SOURCE_SOURCE_INTERNAL_H
#define BEAMTOP_APP_SOURCE_SOURCE_INTERNAL_H

#include "source.h"

/* What both begin with. */
struct source {
    struct live *live; /* NULL: it is a recording */
};

int source_live_open(struct source **out, const char *node, const struct source_setup *setup,
                     struct error *err);
void source_live_close(struct source *s, void (*closed)(void *arg), void *arg);

/* As those of source.h. */
int source_replay_open(struct source **out, const char *path, const struct source_setup *setup,
                       struct error *err);
int source_replay_set_want(struct source *s, const struct want *want, struct error *err);
int source_replay_set_filter(struct source *s, const char *expression, size_t *error_offset,
                             struct error *err);
void source_replay_set_interval(struct source *s, double interval_s);
void source_replay_pause(struct source *s, bool paused);
void source_replay_step(struct source *s);
int64_t source_replay_wall_us(const struct source *s);
void source_replay_close(struct source *s, void (*closed)(void *arg), void *arg);

#endif
