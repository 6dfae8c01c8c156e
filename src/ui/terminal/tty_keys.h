/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What curses says of a key press, as a struct key. */
#ifndef BEAMTOP_UI_TERMINAL_TTY_KEYS_H
#define BEAMTOP_UI_TERMINAL_TTY_KEYS_H

#include <stdbool.h>
#include <wchar.h>

#include "beamtop/ui/key.h"

/* is_code: curses told of a key of its own, not of a character. false: no key of ours. */
bool tty_key_of(wint_t ch, bool is_code, struct key *out);

#endif
