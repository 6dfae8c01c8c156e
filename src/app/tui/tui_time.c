/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The actions on time: of a recording its own, of a node pace and pause. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tui_internal.h"
#include "tui_owners.h"

void tui_pause(struct tui *t, bool paused)
{
    t->paused = paused;
    screen_set_paused(t->screen, paused);
    if (t->source)
        source_pause(t->source, paused);
    tui_announce(t, TUI_PAUSED);
}

/* ---- one handler an action */

static void act_pause(void *own, const char *arg)
{
    struct tui *t = own;
    (void)arg;
    tui_pause(t, !t->paused);
}

static void act_resume(void *own, const char *arg)
{
    struct tui *t = own;
    (void)arg;
    tui_pause(t, false);
}

static void act_step(void *own, const char *arg)
{
    struct tui *t = own;
    (void)arg;
    if (!t->paused) {
        tui_message(t, STYLE_MESSAGE, "step works only while paused: pause first");
        return;
    }
    if (t->source)
        source_step(t->source);
}

static bool can_seek(struct tui *t)
{
    bool can = source_can(t->source, SOURCE_SEEKS);
    if (!can)
        tui_message(t, STYLE_ERROR, "seek works only in a recording: beamtop replay FILE");
    return can;
}

static void act_seek(void *own, const char *when)
{
    struct tui *t = own;
    struct error err = {0};
    if (can_seek(t) && source_seek(t->source, when, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
}

/* Seeks to a mark by its key, and shows which one it is. */
static void seek_mark(void *own, const char *when)
{
    struct tui *t = own;
    struct error err = {0};
    if (!can_seek(t))
        return;
    if (source_seek(t->source, when, &err) != 0)
        tui_message(t, STYLE_MESSAGE, "%s", err.text);
    else
        tui_message(t, STYLE_MESSAGE, "mark %s", model_recorded(t->model)->mark);
}

static void act_speed(void *own, const char *arg)
{
    struct tui *t = own;
    char *end = NULL;
    double speed = strtod(arg, &end);
    if (end != arg && (*end == 'x' || *end == 'X'))
        end++;
    if (end == arg || *end != '\0' || !(speed > 0) || isinf(speed))
        tui_message(t, STYLE_ERROR, "invalid speed “%s”: 10 is ten times the recorded speed", arg);
    else if (can_seek(t))
        tui_message(t, STYLE_MESSAGE, "speed %.3g", source_set_speed(t->source, speed));
}

static double next_step(const double *steps, size_t n, double now, bool up)
{
    double next = now;
    for (size_t i = 0; i < n; i++) {
        if (up && next == now && steps[i] > now * 1.001)
            next = steps[i];
        if (!up && steps[i] < now * 0.999)
            next = steps[i];
    }
    return next;
}

/* From step to step, so that it is a number that you know. */
static void change_speed(struct tui *t, bool up)
{
    static const double steps[] = {0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200};
    double next = next_step(steps, ARRAY_LEN(steps), source_set_speed(t->source, 0), up);
    tui_message(t, STYLE_MESSAGE, "speed %.3g", source_set_speed(t->source, next));
}

/* Steps that you count in, not ratios of the value there. A longer interval is a slower play. */
static void change_interval(void *own, const char *direction)
{
    static const double steps[] = {0.25, 0.5, 1, 2, 3, 5, 10, 15, 30, 60};
    struct tui *t = own;
    struct options *o = &t->settings.options;
    const bool up = *direction == '+';
    char text[32];
    struct error err = {0};
    if (source_can(t->source, SOURCE_SEEKS)) {
        change_speed(t, !up);
        return;
    }
    snprintf(text, sizeof text, "%gs",
             next_step(steps, ARRAY_LEN(steps), option_double(o, OPTION_INTERVAL), up));
    if (option_set(o, OPTION_INTERVAL, text, &err) == 0)
        tui_message(t, STYLE_MESSAGE, "interval %s", text);
}

static void act_refresh(void *own, const char *arg)
{
    struct tui *t = own;
    (void)arg;
    if (t->live)
        live_refresh(t->live);
}

const struct tui_owner tui_time_owner = {.acts = {
                                             [ACTION_PAUSE] = {.run = act_pause},
                                             [ACTION_STEP] = {.run = act_step},
                                             [ACTION_RESUME] = {.run = act_resume},
                                             [ACTION_INTERVAL_UP] = {change_interval, "+"},
                                             [ACTION_INTERVAL_DOWN] = {change_interval, "-"},
                                             [ACTION_REFRESH] = {.run = act_refresh},
                                             [ACTION_SEEK] = {.run = act_seek},
                                             [ACTION_SPEED] = {.run = act_speed},
                                             [ACTION_STEP_BACK] = {act_seek, "-#1"},
                                             [ACTION_NEXT_MARK] = {seek_mark, "+mark"},
                                             [ACTION_PREVIOUS_MARK] = {seek_mark, "-mark"},
                                         }};
