/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "source.h"

#include <assert.h>
#include <stddef.h>

bool source_can(const struct source *s, enum source_ability ability)
{
    return s && (s->ops->abilities >> ability & 1) != 0;
}

int source_set_want(struct source *s, const struct want *want, struct error *err)
{
    return s->ops->set_want(s, want, err);
}

int source_set_filter(struct source *s, const char *expression, size_t *error_offset,
                      struct error *err)
{
    return s->ops->set_filter(s, expression, error_offset, err);
}

void source_set_interval(struct source *s, double interval_s)
{
    s->ops->set_interval(s, interval_s);
}

void source_set_budget(struct source *s, double budget)
{
    s->ops->set_budget(s, budget);
}

void source_pause(struct source *s, bool paused)
{
    s->ops->pause(s, paused);
}

void source_step(struct source *s)
{
    s->ops->step(s);
}

int64_t source_wall_us(const struct source *s)
{
    return s->ops->wall_us(s);
}

void source_close(struct source *s, void (*closed)(void *arg), void *arg)
{
    if (s)
        s->ops->close(s, closed, arg);
    else if (closed)
        closed(arg);
}

struct live *source_live(struct source *s)
{
    return source_can(s, SOURCE_ACTS) ? s->ops->live(s) : NULL;
}

int source_seek(struct source *s, const char *when, struct error *err)
{
    assert(source_can(s, SOURCE_SEEKS));
    return s->ops->seek(s, when, err);
}

double source_set_speed(struct source *s, double speed)
{
    assert(source_can(s, SOURCE_SEEKS));
    return s->ops->set_speed(s, speed);
}

struct recording *source_recording(struct source *s, int64_t *tick)
{
    return source_can(s, SOURCE_SEEKS) ? s->ops->recording(s, tick) : NULL;
}
