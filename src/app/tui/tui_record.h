/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording from the screen. The recorder is a separate OS process, the one of `beamtop record
 * start`, which outlives screen and terminal; here it is started, found again, and spoken to by its
 * socket. */
#ifndef BEAMTOP_APP_TUI_TUI_RECORD_H
#define BEAMTOP_APP_TUI_TUI_RECORD_H

struct tui_record;

/* Stops the recording of the node on the screen once the user has confirmed it. */
void tui_record_ask_to_stop(struct tui_record *r);

#endif
