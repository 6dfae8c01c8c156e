/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Borrowed bytes with their length, and how they compare. None is changed or kept here but by the
 * last three. A slice of no bytes may be {0}; as text it equals "". */
#ifndef BEAMTOP_BASE_SLICE_H
#define BEAMTOP_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct buf;

struct slice {
    const char *s;
    size_t len;
};

struct slice slice_of(const char *text); /* all of it, up to its NUL */

bool slice_equal(struct slice a, struct slice b);
bool slice_is(struct slice s, const char *text);
bool slice_begins(struct slice s, const char *prefix);
/* By bytes, the shorter first where one begins the other: below, at or above 0. */
int slice_order(struct slice a, struct slice b);
/* What follows the prefix, where something does; else s as it is. */
struct slice slice_without(struct slice s, const char *prefix);

/* A copy that lives as long as the arena, with a NUL behind it, of an empty one too. */
struct slice slice_keep(struct arena *arena, struct slice s);
struct slice slice_keep_safe(struct arena *arena, struct slice s, bool ascii); /* text_put_safe */
struct slice slice_take(struct arena *arena, struct buf *from);                /* clears it */

#endif
