/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source_internal.h"

#include "beamtop/base/clock.h"
#include "app/live/live.h"
#include "replay.h"

int source_open(struct source **out, const char *target, const struct source_setup *setup,
                struct error *err)
{
    return replay_is_file(target) ? source_replay_open(out, target, setup, err)
                                  : source_live_open(out, target, setup, err);
}

bool source_can(const struct source *s, enum source_ability ability)
{
    return s && (ability == SOURCE_ACTS) == (s->live != NULL);
}

struct live *source_live(struct source *s)
{
    return s ? s->live : NULL;
}

int source_set_want(struct source *s, const struct want *want, struct error *err)
{
    if (!s->live)
        return source_replay_set_want(s, want, err);
    live_set_want(s->live, want); /* a node can be asked for all */
    return 0;
}

int source_set_filter(struct source *s, const char *expression, size_t *error_offset,
                      struct error *err)
{
    return s->live ? live_set_filter(s->live, expression, error_offset, err)
                   : source_replay_set_filter(s, expression, error_offset, err);
}

void source_set_interval(struct source *s, double interval_s)
{
    if (s->live)
        live_set_interval(s->live, interval_s);
    else
        source_replay_set_interval(s, interval_s);
}

void source_set_budget(struct source *s, double budget)
{
    if (s->live) /* a recording costs no node anything */
        live_set_budget(s->live, budget);
}

void source_pause(struct source *s, bool paused)
{
    if (s->live)
        live_pause(s->live, paused);
    else
        source_replay_pause(s, paused);
}

void source_step(struct source *s)
{
    if (s->live)
        live_refresh(s->live);
    else
        source_replay_step(s);
}

int64_t source_wall_us(const struct source *s)
{
    return s->live ? clock_wall_us() : source_replay_wall_us(s);
}

void source_close(struct source *s, void (*closed)(void *arg), void *arg)
{
    if (s && s->live)
        source_live_close(s, closed, arg);
    else if (s)
        source_replay_close(s, closed, arg);
    else if (closed)
        closed(arg);
}
