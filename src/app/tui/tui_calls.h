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

struct tui_calls;

/* Ends what is counted; false: nothing is. */
bool tui_calls_stop(struct tui_calls *c);
/* Something is counted on a node where a trace cannot stand beside it. */
bool tui_calls_in_the_way(const struct tui_calls *c);
/* A window is open in which other questions to the node would be counted. */
bool tui_calls_hold(const struct tui_calls *c);

#endif
