/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The looks of a theme as colour pairs and attributes of curses. One thread. */
#ifndef BEAMTOP_UI_TERMINAL_TTY_COLORS_H
#define BEAMTOP_UI_TERMINAL_TTY_COLORS_H

#include <curses.h>

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/ui/theme.h"

struct tty_colors {
    bool has_default;          /* the terminal's own foreground and background */
    const struct theme *theme; /* of the pairs as they are set; borrowed */
    uint32_t generation;
    enum color_depth depth;
};

/* Starts colours on curses' screen. Returns what it has, at most `most`. */
enum color_depth colors_begin(struct tty_colors *t, enum color_depth most);
/* Makes style i the pair i + 1. False: they are these already. */
bool colors_set(struct tty_colors *t, const struct theme *theme, enum color_depth depth);
attr_t colors_attributes(struct look look);

#endif
