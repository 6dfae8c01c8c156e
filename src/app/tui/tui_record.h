/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording from the screen. The recorder is a separate OS process, the one of `beamtop record
 * start`, which outlives screen and terminal; here it is started, found again, and spoken to by its
 * socket. */
#ifndef BEAMTOP_APP_TUI_TUI_RECORD_H
#define BEAMTOP_APP_TUI_TUI_RECORD_H

#include <stdbool.h>

#include "beamtop/ui/action.h"

struct tui;
struct tui_record;

struct tui_record *tui_record_new(struct tui *t);
void tui_record_left(struct tui_record *r); /* the screen has left the node */
/* Looks from now on, once a second, how the recording of the node on the screen goes. */
void tui_record_watch(struct tui_record *r);
void tui_record_close(struct tui_record *r); /* before the loop's last run; the recorder goes on */
void tui_record_free(struct tui_record *r);

bool tui_record_has(enum action action); /* OWNER_RECORD has a handler for it */
void tui_record_act(struct tui *t, enum action action, const char *arg);
/* Stops the recording of the node on the screen once the user has confirmed it. */
void tui_record_ask_to_stop(struct tui_record *r);
/* What goes on without the screen, for the terminal that is back. */
void tui_record_print_end(const struct tui_record *r);

#endif
