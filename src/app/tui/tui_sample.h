/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sampling from the screen: one run at a time, of the VM of the node that is shown; from outside,
 * or where that is refused by the node itself. The last run stays on the screen. From outside it
 * goes on when the connection is lost. */
#ifndef BEAMTOP_APP_TUI_TUI_SAMPLE_H
#define BEAMTOP_APP_TUI_TUI_SAMPLE_H

#include <stdbool.h>

#include "beamtop/ui/action.h"

struct tui;
struct tui_sample;

struct tui_sample *tui_sample_new(struct tui *t);
void tui_sample_leave(struct tui_sample *s); /* another node is about to be shown, or none */
void tui_sample_lost(struct tui_sample *s);  /* the connection: what the node does for it ends */
void tui_sample_free(struct tui_sample *s);  /* after tui_sample_leave() */

bool tui_sample_has(enum action action); /* OWNER_SAMPLE has a handler for it */
void tui_sample_act(struct tui *t, enum action action, const char *arg);

#endif
