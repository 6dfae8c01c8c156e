/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capturing causal spans from the screen: one session at a time, from its words to the check that
 * nothing of it is left. What it captured stays on the screen until the next one begins. */
#ifndef BEAMTOP_APP_TUI_TUI_SPANS_H
#define BEAMTOP_APP_TUI_TUI_SPANS_H

#include <stdbool.h>

#include "beamtop/trace/assist.h"
#include "beamtop/ui/action.h"

struct tui_spans;

/* Ends the capture; false: there is none. */
bool tui_spans_stop(struct tui_spans *s);
/* A capture runs: no trace can stand beside it, and before OTP 27 no calls can be counted. */
bool tui_spans_run(const struct tui_spans *s);
bool tui_spans_alone(const struct tui_spans *s); /* one runs on a node before OTP 27 */

#endif
