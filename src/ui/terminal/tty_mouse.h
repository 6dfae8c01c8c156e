/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a terminal says of its mouse, read byte by byte: the forms of SGR (1006) and of X10, after
 * the bytes that begin them. Curses' own reader waits for a key inside get_wch() when a report is
 * not one of those asked for. */
#ifndef BEAMTOP_UI_TERMINAL_TTY_MOUSE_H
#define BEAMTOP_UI_TERMINAL_TTY_MOUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/ui/tty.h"

#define MOUSE_SGR_BEGIN "\x1b[<"
#define MOUSE_X10_BEGIN "\x1b[M"
#define MOUSE_ON "\x1b[?1000h\x1b[?1006h" /* presses, releases, the wheel; no moves */
#define MOUSE_OFF "\x1b[?1006l\x1b[?1000l"

enum mouse_form { MOUSE_CLOSED, MOUSE_SGR, MOUSE_X10 };

struct mouse {
    enum mouse_form open;
    uint64_t last_ms; /* when its last byte came */
    size_t len;
    char bytes[24];
    bool garbled; /* it has a byte that no report has */
    bool pressed; /* a press that another one would make a double click */
    int row, column;
    uint64_t pressed_ms;
};

void mouse_begin(struct mouse *m, enum mouse_form form, uint64_t now_ms);
/* False: the byte belongs to no report, and to no open one any more. An event of TTY_NONE: the
   report goes on, or was a release, a move, another button. */
bool mouse_put(struct mouse *m, unsigned char byte, uint64_t now_ms, struct tty_event *event);
/* How long to wait, in ms, for the rest of what the terminal sends and has begun; 0: no longer, its
   end was lost. */
unsigned tty_rest_ms(uint64_t last_ms, uint64_t now_ms);
/* Nothing is waiting to be read. 0: no report is open (any more); else the milliseconds after which
   to ask again. */
unsigned mouse_idle(struct mouse *m, uint64_t now_ms);

#endif
