/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A frame in one write. Debian's curses writes after each move of the cursor, some fifty times a
 * frame, and each write wakes whoever reads the terminal; sshd may send each by itself. So while
 * curses draws, its descriptor is a file in memory. One thread. */
#ifndef BEAMTOP_UI_TERMINAL_TTY_FRAME_H
#define BEAMTOP_UI_TERMINAL_TTY_FRAME_H

#include <stdbool.h>

struct tty_frame {
    int fd;       /* curses writes to it; borrowed */
    int terminal; /* another descriptor of what fd is outside of frames; owned */
    int memory;   /* owned; -1: there is none, and curses writes to the terminal itself */
};

void frame_init(struct tty_frame *f, int fd);
void frame_clear(struct tty_frame *f);
/* Between the two nothing but curses may use fd. */
void frame_begin(struct tty_frame *f);
/* False: the terminal has not taken all of it, in parts of a second; what it shows is unknown. */
bool frame_end(struct tty_frame *f);

#endif
