/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whoever carries out actions on the screen, or follows what happens to it: a row for each. */
#ifndef BEAMTOP_APP_TUI_TUI_OWNERS_H
#define BEAMTOP_APP_TUI_TUI_OWNERS_H

#include "tui_internal.h"

/* Each in its owner's file. */
extern const struct tui_owner tui_time_owner;
extern const struct tui_owner tui_trace_owner;
extern const struct tui_owner tui_calls_owner;
extern const struct tui_owner tui_sample_owner;
extern const struct tui_owner tui_spans_owner;
extern const struct tui_owner tui_events_owner;
extern const struct tui_owner tui_record_owner;
extern const struct tui_owner tui_sessions_owner;
extern const struct tui_owner tui_names_owner;
extern const struct tui_owner tui_findings_owner;
extern const struct tui_owner tui_fleet_owner;
/* app/tui_outside */
extern const struct tui_owner tui_outside_owner;
/* app/tui_fleet */
extern const struct tui_owner tui_several_owner;

/* Indexed by enum action_owner, and by enum tui_owner_more. */
extern const struct tui_owner *const tui_owners[TUI_OWNERS];

#endif
