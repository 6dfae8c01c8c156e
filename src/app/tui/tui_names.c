/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "tui_owners.h"

#define PAUSE_MS 150u  /* of typing, before the line is looked at … */
#define SETTLE_MS 850u /* … and then, before what is wrong in it is marked */
#define KEYS_HINT "Tab completes, Up recalls, Enter starts"

static bool is_open(const struct tui_naming *n)
{
    return n->names && prompt_is_open(n->tui->prompt) &&
           prompt_kind(n->tui->prompt) == n->names->kind;
}

/* ---- what is known of the line */

static void set_names_hint(struct tui_naming *n, enum style style, const char *known,
                           bool with_cost)
{
    char text[1200], cost[80] = "";
    if (with_cost)
        snprintf(cost, sizeof cost, "; the cost is measured first");
    if (with_cost && n->names->cost)
        n->names->cost(n->arg, cost, sizeof cost);
    snprintf(text, sizeof text, "%s\n%s%s", n->names->syntax, known, cost);
    prompt_set_hint(n->tui->prompt, style, text);
}

static void show_hint(struct tui_naming *n)
{
    const struct assist_line *line = assist_line(n->assist);
    bool wrong = line->wrong && !line->unfinished && n->settled;
    if (*line->text)
        set_names_hint(n, wrong ? STYLE_ERROR : STYLE_MESSAGE, line->text,
                       !line->wrong && !line->nothing);
    else if (line->known)
        set_names_hint(n, STYLE_DIM, KEYS_HINT, true);
    if (wrong)
        prompt_mark_error(n->tui->prompt, line->offset, "");
}

static void show_known_names(struct tui_naming *n)
{
    if (is_open(n) && n->names->show)
        n->names->show(n->arg);
    else if (is_open(n))
        show_hint(n);
    tui_touch(n->tui);
}

static void choose_named(struct tui_naming *n)
{
    if (n->names->choose)
        n->names->choose(n->arg);
}

static void look_at_line(struct tui_naming *n, const char *line)
{
    struct trace_request defaults;
    settings_request(&n->tui->settings, false, &defaults);
    n->looked = true;
    if (n->names->line == NAMES_TRACE) {
        assist_look(n->assist, &defaults, line);
    } else if (n->names->line == NAMES_LIST) {
        assist_count(n->assist, defaults.syntax, line);
    } else {
        char *pattern = alloc_strndup(line, trace_request_pattern_end(line));
        assist_look(n->assist, &defaults, pattern);
        free(pattern);
    }
    show_known_names(n);
}

static void on_typing_settled(uv_timer_t *timer)
{
    struct tui_naming *n = timer->data;
    n->settled = true;
    show_known_names(n);
}

static void on_typing_pause(uv_timer_t *timer)
{
    struct tui_naming *n = timer->data;
    size_t point;
    if (is_open(n) && n->names->held && n->names->held(n->arg)) {
        uv_timer_start(&n->pause, on_typing_pause, PAUSE_MS, 0);
        return;
    }
    uv_timer_start(&n->pause, on_typing_settled, SETTLE_MS, 0);
    if (!is_open(n))
        return;
    choose_named(n);
    look_at_line(n, prompt_line(n->tui->prompt, &point));
}

static void on_names_known(void *arg)
{
    struct tui_naming *n = arg;
    if (!is_open(n))
        return;
    if (n->looked)
        show_known_names(n);
    if (n->completing && !assist_is_asking(n->assist)) {
        const struct live *asked = n->assisted;
        prompt_complete_again(n->tui->prompt);
        /* Once for a key: an unanswered question goes to another node only. */
        n->completing = n->completing && n->assisted != asked;
    }
    tui_touch(n->tui);
}

/* ---- the prompt */

static void forget_names_line(struct tui_naming *n)
{
    n->completing = n->looked = n->settled = false;
    if (n->names->changed)
        n->names->changed(n->arg);
}

static void on_line_changed(void *ctx, const char *line)
{
    struct tui_naming *n = ctx;
    (void)line;
    forget_names_line(n);
    uv_timer_start(&n->pause, on_typing_pause, PAUSE_MS, 0);
}

void tui_names_look(struct tui *t)
{
    on_line_changed(t->own[TUI_NAMES], NULL);
}

static void on_line_accepted(void *ctx, const char *line)
{
    struct tui_naming *n = ctx;
    uv_timer_stop(&n->pause);
    n->names->accepted(n->arg, line);
}

static void on_line_cancelled(void *ctx)
{
    struct tui_naming *n = ctx;
    uv_timer_stop(&n->pause);
}

/* Names that are still to come complete the line again once they have. */
static void complete_names(void *ctx, const char *line, size_t point, struct completion *out)
{
    struct tui_naming *n = ctx;
    struct trace_request defaults;
    settings_request(&n->tui->settings, false, &defaults);
    n->completing = false;
    choose_named(n);
    n->completing = !n->names->complete(out, n->assist, defaults.syntax, line, point);
    if (n->names->listed)
        n->names->listed(n->arg, out->len);
}

static void on_spec(void *ctx)
{
    struct tui_naming *n = ctx;
    if (n->names->spec)
        n->names->spec(n->arg);
}

static void lose_names_link(void *own)
{
    struct tui_naming *n = own;
    assist_set_port(n->assist, NULL);
    n->assisted = NULL;
}

void tui_names_lost(struct tui *t)
{
    lose_names_link(t->own[TUI_NAMES]);
}

/* Asked for at each prompt: a source knows its node a moment after it stands. */
static void link_names(struct tui_naming *n, struct live *of)
{
    struct session_port port;
    struct error ignored = {0}; /* without a node there is nothing to ask */
    if (n->assisted && n->assisted != of)
        lose_names_link(n);
    if (n->assisted || live_port(of, &port, &ignored) != 0)
        return;
    n->assisted = of;
    assist_set_port(n->assist, &port);
}

void tui_names_follow(struct tui *t, struct live *of)
{
    struct tui_naming *n = t->own[TUI_NAMES];
    const bool completing = n->completing;
    if (n->names && n->names->of != of) /* another prompt took its place */
        return;
    lose_names_link(n);
    if (!of || !is_open(n))
        return;
    link_names(n, of);
    on_line_changed(n, NULL);
    if (completing)
        prompt_complete_again(t->prompt);
}

void tui_names_open(struct tui *t, const struct tui_names *names, void *arg, const char *line)
{
    struct tui_naming *n = t->own[TUI_NAMES];
    const struct prompt_calls calls = {.changed = on_line_changed,
                                       .accepted = on_line_accepted,
                                       .cancelled = on_line_cancelled,
                                       .complete = complete_names,
                                       .spec = on_spec,
                                       .ctx = n};
    link_names(n, names->of ? names->of : t->live);
    n->names = names;
    n->arg = arg;
    forget_names_line(n);
    prompt_open(t->prompt, names->kind, names->mark, line, &calls);
    assist_begin(n->assist);
    if (names->show) {
        look_at_line(n, line);
        uv_timer_start(&n->pause, on_typing_settled, SETTLE_MS, 0);
    } else {
        set_names_hint(n, STYLE_DIM, KEYS_HINT, true);
    }
    tui_touch(t);
}

/* ---- life */

static void *make_names(struct tui *t)
{
    struct tui_naming *n = alloc_zero(1, sizeof *n);
    n->tui = t;
    runtime_timer(&t->rt, &n->pause, n);
    n->assist = assist_new(on_names_known, n);
    return n;
}

static void free_names(void *own)
{
    struct tui_naming *n = own;
    assist_free(n->assist);
    free(n);
}

const struct tui_owner tui_names_owner = {.make = make_names,
                                          .at = {[TUI_LOST] = lose_names_link,
                                                 [TUI_LEAVES] = lose_names_link,
                                                 [TUI_CLOSES] = lose_names_link,
                                                 [TUI_FREES] = free_names}};
