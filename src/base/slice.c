/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/slice.h"

#include <string.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

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

struct slice slice_keep_safe(struct arena *arena, struct slice s, bool ascii)
{
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, s.s, s.len, ascii);
    return slice_take(arena, &safe);
}

struct slice slice_take(struct arena *arena, struct buf *from)
{
    struct slice kept = slice_keep(arena, (struct slice){(const char *)from->data, from->len});
    buf_clear(from);
    return kept;
}
