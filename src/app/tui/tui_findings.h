/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The screen's findings: each tick is recorded into memory, a ring of the last minutes, and every
   few seconds the rules of reports judge them. Beside what the screen asks for, the node is asked
   for its configuration once a minute, and for the processes worth watching (leaders.h). Of a
   recording that is played, the minutes before the shown tick are judged. */
#ifndef BEAMTOP_APP_TUI_TUI_FINDINGS_H
#define BEAMTOP_APP_TUI_TUI_FINDINGS_H

#include "beamtop/model/samples.h"
#include "beamtop/trace/calls.h"

struct tui;

/* Counted calls and samples of the node on the screen, for rules about them. */
void tui_findings_window(struct tui *t, const struct calls_window *window);
void tui_findings_samples(struct tui *t, const struct samples_summary *run);

#endif
