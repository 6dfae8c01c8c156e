/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all of the screen program uses: drawing, messages, the filter, its owners. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/text.h"
#include "tui_internal.h"

#define DRAW_GAP_MS (1000u / LIMIT_FRAMES_PER_S)
#define NOTICE_MS 6000u /* what needs no answer of the user stands so long */

/* ---- drawing */

static void set_clock(struct tui *t)
{
    char text[CLOCK_TEXT_BYTES];
    int64_t wall_us = t->source ? source_wall_us(t->source) : clock_wall_us();
    screen_set_clock(t->screen, clock_time_text(text, wall_us));
    double frozen_s = t->source ? (double)(uv_now(&t->rt.loop) - t->changed_ms) / 1000.0 : NAN;
    screen_set_frozen_s(t->screen, frozen_s);
    screen_set_next_s(t->screen, t->live ? live_next_s(t->live) : NAN);
}

static void end_notice(struct tui *t)
{
    if (t->notice_until_ms == 0 || uv_now(&t->rt.loop) < t->notice_until_ms)
        return;
    screen_end_notice(t->screen);
    t->notice_until_ms = 0;
}

void tui_draw(struct tui *t)
{
    struct tty_cursor cursor = {.row = -1};
    struct filter *filter = model_filter(t->model);
    if (!t->tty)
        return;
    tui_follow_filter(t);
    end_notice(t);
    set_clock(t);
    if (filter_is_on(filter))
        regex_allow(filter_regex(filter), LIMIT_REGEX_DRAW_STEPS);
    if (filter_is_on(t->filter))
        regex_allow(filter_regex(t->filter), LIMIT_REGEX_DRAW_STEPS);
    screen_draw(t->screen, t->model, &t->canvas, &cursor);
    t->tty->ops->draw(t->tty, &t->canvas, &t->settings.theme, cursor);
    t->dirty = false;
    uv_update_time(&t->rt.loop); /* it may have waited for the terminal */
    t->drawn_ms = uv_now(&t->rt.loop);
    uv_timer_again(&t->clock_timer);
    const char *trouble = filter_trouble(filter), *own = filter_trouble(t->filter);
    if (!trouble)
        trouble = own;
    if (trouble)
        tui_message(t, STYLE_WARN, "%s", trouble);
    tui_want(t);
}

static void on_draw_timer(uv_timer_t *timer)
{
    struct tui *t = timer->data;
    if (t->dirty)
        tui_draw(t);
}

void tui_draw_in(struct tui *t, uint64_t ms)
{
    uint64_t now = uv_now(&t->rt.loop), next = t->drawn_ms + DRAW_GAP_MS;
    if (next > now + ms)
        ms = next - now;
    if (!t->tty || (t->dirty && uv_timer_get_due_in(&t->draw_timer) <= ms))
        return;
    t->dirty = true;
    uv_timer_start(&t->draw_timer, on_draw_timer, ms, 0);
}

void tui_touch(struct tui *t)
{
    tui_draw_in(t, 0);
}

void tui_message(struct tui *t, enum style style, const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    screen_set_message(t->screen, style, text);
    t->notice_until_ms = style == STYLE_MESSAGE ? uv_now(&t->rt.loop) + NOTICE_MS : 0;
    tui_touch(t);
}

void tui_journal(struct tui *t, bool trouble, const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    model_journal(t->model, clock_wall_us(), trouble, "%s", text);
}

/* ---- owners */

void tui_act(struct tui *t, enum action action, const char *arg)
{
    const enum action_owner i = action_table[action].owner;
    const struct tui_owner *owner = t->owners[i];
    const struct tui_handler *handler = &owner->acts[action];
    char line[1200];
    if (handler->words)
        snprintf(line, sizeof line, "%s%s", handler->words, *action_table[action].args ? arg : "");
    if (owner->act)
        owner->act(t, action, arg);
    else
        handler->run(t->own[i], handler->words ? line : arg);
    tui_follow_filter(t);
    tui_touch(t);
}

const char *tui_key(const struct tui *t, enum action action, const char *arg, char *out,
                    size_t size)
{
    if (!keymap_first_key_of(&t->settings.keymap, screen_context(t->screen), action, arg, out,
                             size))
        snprintf(out, size, ":%s%s%s", action_table[action].name, arg ? " " : "", arg ? arg : "");
    return out;
}

void tui_announce(struct tui *t, enum tui_event event)
{
    for (size_t i = 0; i < TUI_OWNERS; i++)
        if (t->owners[i]->at[event])
            t->owners[i]->at[event](t->own[i]);
}

void tui_want(struct tui *t)
{
    struct want want = {0};
    struct error err = {0};
    if (!t->source)
        return;
    screen_want(t->screen, &want);
    want.steady = t->has_trigger; /* what it waits for may last a second */
    for (size_t i = 0; t->live && i < TUI_OWNERS; i++)
        if (t->owners[i]->want)
            t->owners[i]->want(t->own[i], &want);
    if (source_set_want(t->source, &want, &err) != 0)
        tui_message(t, STYLE_WARN, "%s", err.text);
}

void tui_quit(struct tui *t, int exit_code, const struct error *err)
{
    runtime_end(&t->rt, exit_code, err);
}

/* ---- the filter */

static int set_on_target(struct tui *t, const char *expression, size_t *where, struct error *err)
{
    int rc = t->source ? source_set_filter(t->source, expression, where, err)
                       : filter_set(model_filter(t->model), expression, where, err);
    if (rc == 0)
        snprintf(t->target_filter, sizeof t->target_filter, "%s", expression);
    return rc;
}

int tui_set_filter(struct tui *t, const char *expression, size_t *offset, struct error *err)
{
    const bool on_target = screen_filters_on_target(t->screen);
    struct filter *filter = on_target ? model_filter(t->model) : t->filter;
    size_t where = 0;
    int rc = on_target ? set_on_target(t, expression, &where, err)
                       : filter_set(filter, expression, &where, err);
    if (offset)
        *offset = where;
    screen_set_filter(t->screen, expression, filter_regex(filter), rc != 0 ? (long)where : -1);
    snprintf(t->filter_text, sizeof t->filter_text, "%s", expression);
    tui_touch(t);
    return rc;
}

/* After all that may have changed the view in focus. */
void tui_follow_filter(struct tui *t)
{
    struct error err = {0};
    char own[sizeof t->filter_text];
    const char *due = screen_filter_due(t->screen);
    snprintf(own, sizeof own, "%s", due ? due : "");
    if (due && tui_set_filter(t, own, NULL, &err) != 0)
        tui_message(t, STYLE_ERROR, "%s", err.text);
    const bool differs = !screen_filters_on_target(t->screen) &&
                         strcmp(screen_target_filter(t->screen), t->target_filter) != 0;
    if (differs) {
        size_t where = 0;
        snprintf(own, sizeof own, "%s", screen_target_filter(t->screen));
        error_clear(&err);
        (void)set_on_target(t, own, &where, &err); /* it was accepted in focus */
        snprintf(t->target_filter, sizeof t->target_filter, "%s", own);
    }
    if (due || differs)
        tui_want(t);
}
