/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A VM that is looked at from outside: on request, where it cannot be connected to, or while the
 * node on the screen does not answer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/outside/look.h"
#include "app/search/local_search.h"
#include "app/tui/tui_owners.h"
#include "beamtop/base/alloc.h"
#include "beamtop/model/outside.h"

#define OUTSIDE_VIEW "outside"

struct tui_outside {
    struct tui *tui;
    struct look *look;           /* NULL: none is taken */
    struct local_search *search; /* NULL: no VM is looked for */
    bool by_itself; /* either began because the node did not answer, and ends when it does */
    bool was_shown; /* the view, when something was typed before */
    bool tried;     /* since the node answered last */
    char target[LIMIT_NODE_NAME_BYTES + 1]; /* that was opened last; "": none */
    struct error trouble;                   /* why the node is not on the screen */
    tui_outside_none *none;                 /* of the search */
    char said[512];                         /* the verdict that was reported last */
    struct outside seen;                    /* borrows its rows from the look */
};

static void end_look(struct tui_outside *w)
{
    look_stop(w->look);
    w->look = NULL;
    w->said[0] = '\0';
    model_set_outside(w->tui->model, NULL);
    screen_update(w->tui->screen);
    tui_touch(w->tui);
}

/* A verdict is reported once. */
static void say_verdict(struct tui_outside *w, const struct outside *o)
{
    struct outside_line verdict;
    outside_verdict(o, &verdict);
    if (verdict.mark == OUTSIDE_PLAIN || strcmp(verdict.text, w->said) == 0)
        return;
    snprintf(w->said, sizeof w->said, "%s", verdict.text);
    tui_journal(w->tui, true, "OS process %lld, seen from outside: %.300s", (long long)o->os_pid,
                verdict.text);
    if (w->by_itself)
        tui_message(w->tui, STYLE_WARN, "from outside: %.300s%s%s (:outside shows more)",
                    verdict.text, verdict.next[0] ? ". Next: " : "", verdict.next);
}

static void on_tui_looked(void *arg, const struct outside *o)
{
    struct tui_outside *w = arg;
    struct tui *t = w->tui;
    w->seen = *o;
    snprintf(w->seen.trouble, sizeof w->seen.trouble, "%.511s", w->trouble.text);
    model_set_outside(t->model, &w->seen);
    say_verdict(w, o);
    if (!t->paused)
        screen_update(t->screen);
    tui_touch(t);
}

static void end_search(struct tui_outside *w)
{
    local_search_stop(w->search);
    w->search = NULL;
}

static void on_subject_found(void *arg, const struct discover_vm *vm, const struct error *why)
{
    struct tui_outside *w = arg;
    struct look *look = NULL;
    struct error err = *why;
    const struct look_options options = {.vm = vm, .looked = on_tui_looked, .arg = w};
    if (vm)
        (void)look_start(&look, &w->tui->rt.loop, &options, &err);
    end_search(w);
    if (!look) {
        if (!w->by_itself)
            w->none(w->tui, &w->trouble, &err);
        return;
    }
    end_look(w);
    w->look = look;
    if (!w->by_itself)
        tui_act(w->tui, ACTION_VIEW, OUTSIDE_VIEW);
}

/* A look that is taken goes on until the VM is found. */
static void begin_search(struct tui_outside *w, const char *target, bool by_itself)
{
    struct error err = {0};
    end_search(w);
    w->by_itself = by_itself;
    const struct local_wanted wanted = {.target = target, .cli = w->tui->cli, .env = w->tui->env};
    if (local_search_start(&w->search, &w->tui->rt.loop, &wanted, on_subject_found, w, &err) != 0 &&
        !by_itself)
        w->none(w->tui, &w->trouble, &err);
}

void tui_outside_open(struct tui *t, const char *target, const struct error *trouble,
                      tui_outside_none *none)
{
    struct tui_outside *w = t->own[OWNER_OUTSIDE];
    if (target != w->target)
        snprintf(w->target, sizeof w->target, "%s", target);
    w->trouble = *trouble;
    w->none = none;
    begin_search(w, target, false);
}

static void say_none(struct tui *t, const struct error *trouble, const struct error *why)
{
    (void)trouble;
    tui_message(t, STYLE_ERROR, "%s", why->text);
}

/* What is meant without a name; "": nothing. */
static const char *usual_target(const struct tui_outside *w)
{
    return w->tui->live ? w->tui->opened : w->target;
}

/* Without a name: what is looked at already, or the node that is shown. */
static void act_outside(void *own, const char *arg)
{
    struct tui_outside *w = own;
    struct tui *t = w->tui;
    const struct error no_trouble = {0};
    const char *target = *arg ? arg : usual_target(w);
    if (*arg == '\0' && w->look) {
        w->by_itself = false;
        tui_act(t, ACTION_VIEW, OUTSIDE_VIEW);
    } else if (*target == '\0') {
        tui_message(t, STYLE_ERROR,
                    "there is no node to look at from outside: give its name or its OS pid");
    } else {
        tui_outside_open(t, target, &no_trouble, say_none);
    }
}

/* ---- while the node does not answer */

static bool is_shown(const struct tui *t)
{
    return strcmp(screen_view(t->screen), OUTSIDE_VIEW) == 0;
}

/* The node answers again: what was said of it holds no more. */
static void end_watch(struct tui_outside *w)
{
    if (w->said[0] != '\0')
        tui_message(w->tui, STYLE_MESSAGE, "the node answers again");
    w->by_itself = false;
    if (!is_shown(w->tui))
        end_look(w);
}

static void follow_link(void *own)
{
    struct tui_outside *w = own;
    struct tui *t = w->tui;
    const enum link_state link = model_link(t->model, NULL);
    if (link == LINK_LIVE) {
        w->tried = false;
        if (w->by_itself)
            end_search(w);
        if (w->look && w->by_itself)
            end_watch(w);
    }
    if (!t->live || w->look || w->search || w->tried || (link != LINK_STALE && link != LINK_LOST))
        return;
    w->tried = true;
    w->trouble = (struct error){0};
    begin_search(w, t->opened, true);
}

/* The view shows the node once it is opened, by whichever way; out of sight, no VM is sampled. */
static void follow_view(void *own)
{
    struct tui_outside *w = own;
    const bool shown = is_shown(w->tui);
    const bool comes = shown && !w->was_shown;
    w->was_shown = shown;
    if (w->look && !w->by_itself && !shown)
        end_look(w);
    if (comes && !w->look && !w->search && *usual_target(w))
        act_outside(w, "");
}

static void leave_look(void *own)
{
    struct tui_outside *w = own;
    w->tried = false;
    end_search(w);
    if (w->look)
        end_look(w);
}

static void *make_outside(struct tui *t)
{
    struct tui_outside *w = alloc_zero(1, sizeof *w);
    w->tui = t;
    return w;
}

const struct tui_owner tui_outside_owner = {.acts = {[ACTION_OUTSIDE] = {.run = act_outside}},
                                            .make = make_outside,
                                            .at = {[TUI_CHANGED] = follow_link,
                                                   [TUI_TYPED] = follow_view,
                                                   [TUI_LOST] = follow_link,
                                                   [TUI_OPENS] = leave_look,
                                                   [TUI_CLOSES] = leave_look,
                                                   [TUI_FREES] = free}};
