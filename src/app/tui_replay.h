/* The screen over a recording: plays it by the interval, pauses, steps, goes to a moment. */
#ifndef BEAMTOP_APP_TUI_REPLAY_H
#define BEAMTOP_APP_TUI_REPLAY_H

#include <stdbool.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/error.h"

struct tui;
struct tui_replay;

int tui_replay_open(struct tui *t, const char *path, const char *at, struct error *err);
void tui_replay_close(struct tui_replay *r); /* while the loop can still run; NULL is fine */
/* A recorded interval is played in the time of the option; both NULL-safe. */
void tui_replay_retime(struct tui_replay *r);
void tui_replay_step(struct tui_replay *r);
/* WHEN of replay_find(), or "+10m", "-30s" from here. */
void tui_replay_seek(struct tui_replay *r, const char *when);
/* Says once what of it the recording does not have. */
void tui_replay_want(struct tui_replay *r);
const char *tui_replay_clock(const struct tui_replay *r, char out[CLOCK_TEXT_BYTES]);

#endif
