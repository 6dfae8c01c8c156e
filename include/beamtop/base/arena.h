/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An arena: many small allocations that end together. One for each message, parse or built page.
 * Embedded by its owner; not shared between threads. */
#ifndef BEAMTOP_BASE_ARENA_H
#define BEAMTOP_BASE_ARENA_H

#include <stddef.h>

#include "beamtop/base/attr.h"

struct arena_block;

struct arena {
    struct arena_block *head;
    size_t used_bytes; /* all that was handed out since init or clear */
};

void arena_init(struct arena *a);
void arena_clear(struct arena *a); /* frees everything; the arena may be used again */
void arena_reset(struct arena *a); /* as clear, but keeps one block for the next round */

void *arena_alloc(struct arena *a, size_t bytes) ATTR_MUST_USE; /* zeroed, aligned for any type */
char *arena_strndup(struct arena *a, const char *s, size_t len) ATTR_MUST_USE; /* adds NUL */
char *arena_strdup(struct arena *a, const char *s) ATTR_MUST_USE;
char *arena_printf(struct arena *a, const char *fmt, ...) ATTR_PRINTF(2, 3) ATTR_MUST_USE;

#endif
