/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who carries actions out on the screen: a row for each owner. */
#ifndef BEAMTOP_APP_TUI_TUI_OWNERS_H
#define BEAMTOP_APP_TUI_TUI_OWNERS_H

#include <stdbool.h>

#include "beamtop/ui/action.h"

struct tui;

struct tui_owner {
    bool (*has)(enum action action); /* its table has a handler for it */
    void (*act)(struct tui *t, enum action action, const char *arg); /* only for those it has */
};

extern const struct tui_owner tui_owners[ACTION_OWNERS]; /* indexed by enum action_owner */

#endif
