/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The terminal's background: by the environment at once, and by its own answer (OSC 11) when that
 * comes. Meanwhile the screen is drawn. */
#ifndef BEAMTOP_UI_TERMINAL_TTY_BACKGROUND_H
#define BEAMTOP_UI_TERMINAL_TTY_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/ui/tty.h"

#define BACKGROUND_ASK "\x1b]11;?\x07"
#define BACKGROUND_BEGIN "\x1b]11;"

enum background_part { BACKGROUND_CLOSED, BACKGROUND_OPEN, BACKGROUND_ENDING };

struct background {
    bool due;   /* the answer to a question of LIMIT_BACKGROUND_MS or less ago */
    bool waits; /* the program does, for LIMIT_BACKGROUND_ANSWER_MS */
    uint64_t asked_ms;
    enum background_part part;
    uint64_t last_ms; /* when its last byte came */
    size_t len;
    char bytes[40];
};

/* Its beginning has come. */
void background_begin(struct background *b, uint64_t now_ms);
/* False: the byte belongs to no answer. The event is TTY_BACKGROUND when the answer is whole. */
bool background_put(struct background *b, unsigned char byte, uint64_t now_ms,
                    struct tty_event *event);
/* Nothing is waiting to be read; as mouse_idle(). */
unsigned background_idle(struct background *b, uint64_t now_ms);
/* An answer is not due for ever. */
void background_wait(struct background *b, uint64_t now_ms);
/* For how much longer the program waits for one. 0: not at all; the event says so once. */
unsigned background_left(struct background *b, uint64_t now_ms, struct tty_event *event);

#endif
