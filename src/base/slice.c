/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/slice.h"

#include <string.h>

#include "beamtop/base/arena.h"

struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

bool slice_equal(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.s, b.s, a.len) == 0);
}

bool slice_is(struct slice s, const char *text)
{
    return slice_equal(s, slice_of(text));
}

bool slice_begins(struct slice s, const char *prefix)
{
    size_t len = strlen(prefix);
    return len == 0 || (s.len >= len && memcmp(s.s, prefix, len) == 0);
}

int slice_order(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len > 0 ? memcmp(a.s, b.s, len) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

struct slice slice_without(struct slice s, const char *prefix)
{
    size_t len = strlen(prefix);
    return s.len > len && slice_begins(s, prefix) ? (struct slice){s.s + len, s.len - len} : s;
}

struct slice slice_keep(struct arena *arena, struct slice s)
{
    return (struct slice){arena_strndup(arena, s.s, s.len), s.len};
}
