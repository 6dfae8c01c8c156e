/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bracketed paste while it comes in: what is kept of it, and when it is over without its end. */
#ifndef BEAMTOP_UI_TERMINAL_TTY_PASTE_H
#define BEAMTOP_UI_TERMINAL_TTY_PASTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"

struct paste {
    bool open;
    uint64_t last_ms; /* when its last character came */
    size_t taken;     /* characters, with those that were dropped */
    struct buf kept;  /* LIMIT_PASTE_BYTES at most */
};

void paste_init(struct paste *p);
void paste_clear(struct paste *p);
/* A second beginning within a paste changes nothing. */
void paste_begin(struct paste *p, uint64_t now_ms);
/* False: no paste is that long. It is closed. */
bool paste_put(struct paste *p, uint32_t character, uint64_t now_ms);
/* Nothing is waiting to be read. 0: the terminal fell silent within it, so it is closed; else the
   milliseconds after which to ask again. */
unsigned paste_idle(struct paste *p, uint64_t now_ms);

#endif
