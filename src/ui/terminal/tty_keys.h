/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What curses says of a key press, as a struct key. */
#ifndef BEAMTOP_UI_TERMINAL_TTY_KEYS_H
#define BEAMTOP_UI_TERMINAL_TTY_KEYS_H

#include <stdbool.h>
#include <wchar.h>

#include "beamtop/ui/key.h"

/* is_code: a key code of curses, not a character. false: unknown key. */
bool tty_key_of(wint_t ch, bool is_code, struct key *out);

#endif
