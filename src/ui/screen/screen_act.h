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
    struct error *err;
};

/* Both return what a handler does: 1 done, 0 not here, below 0 with *a->err. */
int act_enter(struct act *a, int n);
int act_sort_by(struct act *a, const char *key, int direction); /* as view_ops.sort */

#endif
