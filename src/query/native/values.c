/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "values.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"

#define CHARS_MOST 1000

struct cursor values_cursor(struct slice term)
{
    struct cursor c;
    cursor_init(&c, (const uint8_t *)(term.s ? term.s : ""), term.len);
    return c;
}

bool values_enter_list(struct slice term, struct cursor *c, size_t *n)
{
    struct cursor_list list;
    *c = values_cursor(term);
    if (term.len == 0 || !cursor_list(c, &list) || list.string)
        return false;
    *n = list.count;
    return true;
}

bool values_read_list(struct slice term, struct slice *out, size_t n)
{
    struct cursor c;
    size_t count;
    if (!values_enter_list(term, &c, &count) || count < n)
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

int64_t values_count(struct slice term)
{
    int64_t n;
    return values_read_integer(term, &n) && n >= 0 && n <= VALUES_MOST ? n : -1;
}

struct slice values_of_pair(struct slice pair, const char *key)
{
    struct cursor c = values_cursor(pair);
    struct slice value = {0};
    if (cursor_kind(&c) == ETF_KIND_TUPLE && cursor_tuple_of(&c, 2) && cursor_atom_is(&c, key))
        cursor_raw(&c, &value);
    return value;
}

size_t values_read_ports(struct slice controllers, struct slice *nodes, struct slice *ports,
                         size_t most)
{
    struct cursor c = values_cursor(controllers), row, name;
    struct cursor_list list;
    struct slice text;
    size_t n = 0;
    if (!cursor_list(&c, &list) || list.string)
        return 0;
    for (size_t i = 0; i < list.count && n < most && cursor_apart(&c, &row); i++) {
        if (!cursor_tuple_of(&row, 2) || !cursor_raw(&row, &nodes[n]) ||
            cursor_kind(&row) != ETF_KIND_PORT || !cursor_raw(&row, &ports[n]))
            continue;
        name = values_cursor(nodes[n]);
        n += cursor_atom(&name, &text) && !slice_begins(text, "beamtop");
    }
    return n;
}

struct slice values_find(struct slice list, const char *key)
{
    struct cursor c;
    struct slice name, value;
    size_t n;
    if (!values_enter_list(list, &c, &n))
        return (struct slice){0};
    for (size_t i = 0; i < n; i++) {
        if (!cursor_tuple_of(&c, 2) || !cursor_atom(&c, &name) || !cursor_raw(&c, &value))
            break;
        if (slice_is(name, key))
            return value;
    }
    return (struct slice){0};
}

int64_t values_add(int64_t sum, int64_t n)
{
    const int64_t all = (sum < 0 ? 0 : sum) + (n < 0 ? 0 : n);
    return all < VALUES_MOST ? all : VALUES_MOST;
}

struct slice values_find_in_map(struct slice map, const char *key)
{
    struct cursor c = values_cursor(map);
    struct slice name, value;
    size_t pairs = 0;
    if (cursor_kind(&c) == ETF_KIND_MAP && cursor_map(&c, &pairs))
        for (size_t i = 0; i < pairs && cursor_raw(&c, &name) && cursor_raw(&c, &value); i++) {
            struct cursor atom = values_cursor(name);
            if (cursor_peek_atom(&atom, key))
                return value;
        }
    return (struct slice){0};
}

int64_t values_find_integer(struct slice list, const char *key)
{
    const struct slice term = values_find(list, key);
    int64_t n;
    return term.len > 0 && values_read_integer(term, &n) && n <= VALUES_MOST ? n : -1;
}

double values_between_us(int64_t from_ns, int64_t until_ns)
{
    return fmax(((double)until_ns - (double)from_ns) / 1000, 0);
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

void values_build_known(struct builder *b, struct slice term)
{
    if (term.len > 0)
        values_build(b, term);
    else
        build_atom(b, "undefined");
}

void values_build_words(struct builder *b, const char *text)
{
    if (text)
        build_binary(b, text, strlen(text));
    else
        build_atom(b, "undefined");
}

void values_build_printed(struct builder *b, struct slice term, const struct print_limits *limits)
{
    struct buf text;
    buf_init(&text, 0);
    print_term(&text, (const uint8_t *)term.s, term.len, limits);
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

void values_build_pid(struct builder *b, const char *node, bool known, const struct etf_pid *pid)
{
    if (known)
        build_pid(b, node, pid);
    else
        build_atom(b, "undefined");
}
