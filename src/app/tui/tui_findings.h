/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen's findings: each tick is recorded into memory, a ring of the last minutes, and every
 * few seconds the rules of reports judge them. Beside what the screen asks for, the node is asked
 * for its configuration once a minute, and for the processes worth watching (leaders.h). A
 * recording that is played is judged itself, the minutes before the
 * tick shown. */
#ifndef BEAMTOP_APP_TUI_TUI_FINDINGS_H
#define BEAMTOP_APP_TUI_TUI_FINDINGS_H

#include <stdbool.h>

#include "beamtop/model/samples.h"
#include "beamtop/model/want.h"
#include "beamtop/trace/calls.h"

struct tui;
struct tui_findings;

struct tui_findings *tui_findings_new(struct tui *t);
void tui_findings_free(struct tui_findings *f); /* when the live source is gone; NULL is fine */

void tui_findings_tick(struct tui_findings *f); /* the model has taken a tick */
/* Adds what rules need to what the screen wants of a live node. */
void tui_findings_want(const struct tui_findings *f, struct want *want);
void tui_findings_window(struct tui_findings *f, const struct calls_window *window);
void tui_findings_samples(struct tui_findings *f, const struct samples_summary *run);
void tui_findings_lost(struct tui_findings *f); /* the connection is */
void tui_findings_left(struct tui_findings *f); /* the source is closed: another node is next */

#endif
