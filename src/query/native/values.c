/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "values.h"

#include <string.h>

#include "beamtop/base/text.h"

#define CHARS_MOST 1000

struct cursor values_cursor(struct slice term)
{
    struct cursor c;
    cursor_init(&c, (const uint8_t *)term.s, term.len);
    return c;
}

bool values_read_list(struct slice term, struct slice *out, size_t n)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    if (term.len == 0 || !cursor_list(&c, &list) || list.string || list.count < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!cursor_raw(&c, &out[i]))
            return false;
    return true;
}

bool values_read_tuple(struct slice term, size_t arity, struct slice *out, size_t n)
{
    struct cursor c = values_cursor(term);
    if (!cursor_tuple_of(&c, arity))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!cursor_raw(&c, &out[i]))
            return false;
    return true;
}

bool values_read_integer(struct slice term, int64_t *out)
{
    struct cursor c = values_cursor(term);
    return cursor_int64(&c, out);
}

bool values_put_chars(struct buf *out, struct slice term)
{
    struct cursor c = values_cursor(term);
    struct cursor_list list;
    if (term.len == 0 || !cursor_list(&c, &list) || list.count > CHARS_MOST)
        return false;
    for (size_t i = 0; i < list.count; i++) {
        char bytes[4];
        int64_t point;
        if (!cursor_list_int64(&c, &list, &point) || point < 0 || point > 0x10ffff ||
            (point >= 0xd800 && point < 0xe000))
            return false;
        buf_put(out, bytes, text_encode((int32_t)point, bytes));
    }
    return cursor_list_end(&c, &list);
}

bool values_is_jit(struct slice version)
{
    struct buf text;
    buf_init(&text, 0);
    const bool jit = values_put_chars(&text, version) && strstr(buf_cstr(&text), "[jit") != NULL;
    buf_clear(&text);
    return jit;
}

void values_build(struct builder *b, struct slice term)
{
    build_raw(b, (const uint8_t *)term.s, term.len);
}
