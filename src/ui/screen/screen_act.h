/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What actions and the mouse share. */
#ifndef BEAMTOP_UI_SCREEN_SCREEN_ACT_H
#define BEAMTOP_UI_SCREEN_SCREEN_ACT_H

#include "screen_internal.h"

/* What a handler works on. */
struct act {
    struct screen *s;
    const struct model *m;
    struct pane *pane;
    struct pane_entry *e;
    const char *arg; /* "" when none */
    int n;           /* what one handler of several actions is to do: its row of handlers[] */
    struct error *err;
    bool confirmed; /* the user has agreed to its price */
};

/* Both return what a handler does: 1 done, 0 not here, below 0 with *a->err. */
int act_enter(struct act *a);
int act_sort_by(struct act *a, const char *key, int direction); /* as view_ops.sort */

void act_refresh(struct act *a); /* other facts may be wanted: ask now */
/* Shows a view, opened on the link where one is given. */
int act_open(struct act *a, const struct view_ops *ops, const struct view_link *link);

/* ---- screen_process.c */
bool link_has_pid(const struct view_link *link);
/* A word after a view's name: a pid or a name, as --procs takes them. */
struct view_link act_link_of_word(const struct view_ops *ops, const char *typed);
/* The process meant: the one shown, or the one under the cursor. */
bool act_process_meant(const struct act *a, struct view_link *link);
int act_process(struct act *a);
int act_follow(struct act *a);
int act_ask_process(struct act *a);

#endif
