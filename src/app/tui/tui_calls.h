/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counting calls from the screen: one session at a time, window after window, from its words to
 * the proof that nothing of it is left. Its last window stays on
 * the screen. */
#ifndef BEAMTOP_APP_TUI_TUI_CALLS_H
#define BEAMTOP_APP_TUI_TUI_CALLS_H

#include <stdbool.h>

#include "beamtop/trace/assist.h"
#include "beamtop/ui/action.h"

struct tui;
struct tui_calls;

struct tui_calls *tui_calls_new(struct tui *t);
void tui_calls_free(struct tui_calls *c); /* after tui_sessions_close() */

bool tui_calls_has(enum action action); /* OWNER_CALLS has a handler for it */
void tui_calls_act(struct tui *t, enum action action, const char *arg);
/* Ends what is counted; false: nothing is. */
bool tui_calls_stop(struct tui_calls *c);
/* Something is counted on a node where a trace cannot stand beside it. */
bool tui_calls_in_the_way(const struct tui_calls *c);
/* A window is open in which other questions to the node would be counted. */
bool tui_calls_hold(const struct tui_calls *c);

#endif
