/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/etf/cursor.h"

#include <assert.h>
#include <math.h>

#include "beamtop/base/attr.h"
#include "beamtop/etf/check.h"
#include "internal.h"

static const char *const kind_words[] = {
    [ETF_KIND_NONE] = "nothing that can be read",
    [ETF_KIND_INTEGER] = "an integer",
    [ETF_KIND_FLOAT] = "a float",
    [ETF_KIND_ATOM] = "an atom",
    [ETF_KIND_PID] = "a pid",
    [ETF_KIND_PORT] = "a port",
    [ETF_KIND_REF] = "a reference",
    [ETF_KIND_TUPLE] = "a tuple",
    [ETF_KIND_NIL] = "an empty list",
    [ETF_KIND_LIST] = "a list",
    [ETF_KIND_STRING] = "a list of bytes",
    [ETF_KIND_BINARY] = "a binary",
    [ETF_KIND_MAP] = "a map",
    [ETF_KIND_FUN] = "a fun",
    [ETF_KIND_RECORD] = "a record",
};

static enum etf_kind kind_of_tag(uint8_t tag)
{
    switch ((enum etf_tag)tag) {
    case ETF_SMALL_INTEGER:
    case ETF_INTEGER:
    case ETF_SMALL_BIG:
    case ETF_LARGE_BIG:
        return ETF_KIND_INTEGER;
    case ETF_NEW_FLOAT:
    case ETF_FLOAT:
        return ETF_KIND_FLOAT;
    case ETF_ATOM_UTF8:
    case ETF_SMALL_ATOM_UTF8:
    case ETF_ATOM_LATIN1:
    case ETF_SMALL_ATOM_LATIN1:
        return ETF_KIND_ATOM;
    case ETF_PID:
    case ETF_NEW_PID:
        return ETF_KIND_PID;
    case ETF_PORT:
    case ETF_NEW_PORT:
    case ETF_V4_PORT:
        return ETF_KIND_PORT;
    case ETF_REFERENCE:
    case ETF_NEW_REFERENCE:
    case ETF_NEWER_REFERENCE:
        return ETF_KIND_REF;
    case ETF_SMALL_TUPLE:
    case ETF_LARGE_TUPLE:
        return ETF_KIND_TUPLE;
    case ETF_NIL:
        return ETF_KIND_NIL;
    case ETF_LIST:
        return ETF_KIND_LIST;
    case ETF_STRING:
        return ETF_KIND_STRING;
    case ETF_BINARY:
    case ETF_BIT_BINARY:
        return ETF_KIND_BINARY;
    case ETF_MAP:
        return ETF_KIND_MAP;
    case ETF_NEW_FUN:
    case ETF_EXPORT:
        return ETF_KIND_FUN;
    case ETF_RECORD:
        return ETF_KIND_RECORD;
    case ETF_VERSION:
    case ETF_COMPRESSED:
    case ETF_ATOM_CACHE_REF:
        break;
    }
    return ETF_KIND_NONE;
}

void cursor_init(struct cursor *c, const uint8_t *bytes, size_t len)
{
    *c = (struct cursor){.start = bytes, .at = bytes, .end = bytes + len};
    if (len > 0 && bytes[0] == ETF_VERSION)
        c->at++;
}

enum etf_kind cursor_kind(const struct cursor *c)
{
    if (cursor_failed(c))
        return ETF_KIND_NONE;
    if (c->string_left > 0)
        return ETF_KIND_INTEGER;
    return c->at < c->end ? kind_of_tag(*c->at) : ETF_KIND_NONE;
}

bool cursor_failed(const struct cursor *c)
{
    return c->err.code != ERR_NONE;
}

bool cursor_at_end(const struct cursor *c)
{
    return c->at == c->end;
}

static size_t bytes_left(const struct cursor *c)
{
    return (size_t)(c->end - c->at);
}

static bool fail_kind(struct cursor *c, const char *expected)
{
    enum etf_kind kind = cursor_kind(c);
    error_set(&c->err, ERR_FORMAT, "byte %zu of the term: expected %s, found %s",
              (size_t)(c->at - c->start), expected, kind_words[kind]);
    return false;
}

/* True when the next term has that kind and `n` bytes of it (tag included) are there. It reads
 * nothing, so that a failure points at the tag. */
static bool next_is(struct cursor *c, enum etf_kind kind, size_t n)
{
    if (cursor_failed(c))
        return false;
    if (c->string_left > 0 || cursor_kind(c) != kind || bytes_left(c) < n)
        return fail_kind(c, kind_words[kind]);
    return true;
}

bool cursor_tuple(struct cursor *c, size_t *arity)
{
    if (!next_is(c, ETF_KIND_TUPLE, 2))
        return false;
    size_t width = *c->at == ETF_SMALL_TUPLE ? 1 : 4;
    if (bytes_left(c) < 1 + width)
        return fail_kind(c, kind_words[ETF_KIND_TUPLE]);
    *arity = etf_be(c->at + 1, width);
    c->at += 1 + width;
    return true;
}

bool cursor_tuple_of(struct cursor *c, size_t arity)
{
    struct cursor before = *c;
    size_t found;
    if (!cursor_tuple(c, &found))
        return false;
    if (found == arity)
        return true;
    c->at = before.at;
    error_set(&c->err, ERR_FORMAT,
              "byte %zu of the term: expected a tuple of %zu, found one of %zu",
              (size_t)(c->at - c->start), arity, found);
    return false;
}

bool cursor_map(struct cursor *c, size_t *pairs)
{
    if (!next_is(c, ETF_KIND_MAP, 5))
        return false;
    *pairs = etf_be(c->at + 1, 4);
    c->at += 5;
    return true;
}

static bool enter_string(struct cursor *c, struct cursor_list *list)
{
    if (!next_is(c, ETF_KIND_STRING, 3))
        return false;
    size_t count = etf_be(c->at + 1, 2);
    if (bytes_left(c) < 3 + count)
        return fail_kind(c, kind_words[ETF_KIND_STRING]);
    *list = (struct cursor_list){.count = count, .string = true};
    c->string_left = count;
    c->at += 3;
    return true;
}

bool cursor_list(struct cursor *c, struct cursor_list *list)
{
    *list = (struct cursor_list){.nil = true};
    switch (cursor_kind(c)) {
    case ETF_KIND_NIL:
        c->at++;
        return true;
    case ETF_KIND_STRING:
        return enter_string(c, list);
    case ETF_KIND_NONE:
    case ETF_KIND_INTEGER:
    case ETF_KIND_FLOAT:
    case ETF_KIND_ATOM:
    case ETF_KIND_PID:
    case ETF_KIND_PORT:
    case ETF_KIND_REF:
    case ETF_KIND_TUPLE:
    case ETF_KIND_LIST:
    case ETF_KIND_BINARY:
    case ETF_KIND_MAP:
    case ETF_KIND_FUN:
    case ETF_KIND_RECORD:
        break;
    }
    if (!next_is(c, ETF_KIND_LIST, 5))
        return false;
    *list = (struct cursor_list){.count = etf_be(c->at + 1, 4)};
    c->at += 5;
    return true;
}

bool cursor_list_int64(struct cursor *c, const struct cursor_list *list, int64_t *v)
{
    assert(!list->nil);
    return cursor_int64(c, v);
}

bool cursor_list_end(struct cursor *c, const struct cursor_list *list)
{
    if (cursor_failed(c))
        return false;
    if (list->nil || (list->string && c->string_left == 0))
        return true;
    if (list->string || !next_is(c, ETF_KIND_NIL, 1))
        return fail_kind(c, "the end of a list");
    c->at++;
    return true;
}

/* An integer as it stands on the wire: magnitude bytes, least significant first. */
struct integer {
    bool negative;
    const uint8_t *bytes;
    size_t len;       /* without leading zeros */
    size_t wire_size; /* with the tag */
    uint8_t room[4];  /* the bytes of a small integer */
};

static bool small_integer(struct integer *i, int64_t v, size_t wire_size)
{
    i->negative = v < 0;
    uint64_t magnitude = v < 0 ? -(uint64_t)v : (uint64_t)v;
    i->len = 0;
    for (; magnitude > 0; magnitude >>= 8)
        i->room[i->len++] = (uint8_t)magnitude;
    i->bytes = i->room;
    i->wire_size = wire_size;
    return true;
}

static bool big_integer(struct cursor *c, struct integer *i, size_t width)
{
    size_t header = 1 + width + 1;
    if (bytes_left(c) < header || bytes_left(c) - header < etf_be(c->at + 1, width))
        return fail_kind(c, kind_words[ETF_KIND_INTEGER]);
    i->len = etf_be(c->at + 1, width);
    i->negative = c->at[1 + width] != 0;
    i->bytes = c->at + header;
    i->wire_size = header + i->len;
    while (i->len > 0 && i->bytes[i->len - 1] == 0)
        i->len--;
    return true;
}

/* Looks at the next integer without reading it. */
static bool look_integer(struct cursor *c, struct integer *i)
{
    if (cursor_failed(c))
        return false;
    if (c->string_left > 0)
        return small_integer(i, *c->at, 1);
    if (!next_is(c, ETF_KIND_INTEGER, 2))
        return false;
    if (*c->at == ETF_SMALL_INTEGER)
        return small_integer(i, c->at[1], 2);
    if (*c->at == ETF_SMALL_BIG)
        return big_integer(c, i, 1);
    if (bytes_left(c) < 5)
        return fail_kind(c, kind_words[ETF_KIND_INTEGER]);
    if (*c->at == ETF_LARGE_BIG)
        return big_integer(c, i, 4);
    return small_integer(i, (int32_t)etf_be(c->at + 1, 4), 5);
}

static void pass_integer(struct cursor *c, const struct integer *i)
{
    c->at += i->wire_size;
    if (c->string_left > 0)
        c->string_left--;
}

static uint64_t magnitude_of(const struct integer *i)
{
    uint64_t v = 0;
    for (size_t k = i->len; k > 0; k--)
        v = v << 8 | i->bytes[k - 1];
    return v;
}

bool cursor_int64(struct cursor *c, int64_t *v)
{
    struct integer i;
    if (!look_integer(c, &i))
        return false;
    uint64_t magnitude = i.len <= 8 ? magnitude_of(&i) : UINT64_MAX;
    if (magnitude > (uint64_t)INT64_MAX + (i.negative ? 1 : 0))
        return fail_kind(c, "an integer of 64 bits with sign");
    *v = i.negative ? (int64_t)-magnitude : (int64_t)magnitude;
    pass_integer(c, &i);
    return true;
}

bool cursor_uint64(struct cursor *c, uint64_t *v)
{
    struct integer i;
    if (!look_integer(c, &i))
        return false;
    if (i.len > 8 || (i.negative && i.len > 0))
        return fail_kind(c, "a positive integer of 64 bits");
    *v = magnitude_of(&i);
    pass_integer(c, &i);
    return true;
}

/* Rounded once: the 64 highest bits, the lowest of them set when anything below is. */
static double integer_to_double(const struct integer *i)
{
    struct integer top = *i;
    size_t dropped = i->len > 8 ? i->len - 8 : 0;
    bool below = false;
    for (size_t k = 0; k < dropped; k++)
        below = below || i->bytes[k] != 0;
    top.bytes += dropped;
    top.len -= dropped;
    double v = (double)(magnitude_of(&top) | (below ? 1 : 0));
    return dropped > 200 ? HUGE_VAL : ldexp(v, (int)(8 * dropped));
}

static bool take_float(struct cursor *c, double *v)
{
    size_t size = *c->at == ETF_NEW_FLOAT ? 8 : ETF_OLD_FLOAT_BYTES;
    if (!next_is(c, ETF_KIND_FLOAT, 1 + size))
        return false;
    if (*c->at == ETF_NEW_FLOAT)
        *v = etf_new_float(c->at + 1);
    else if (!etf_old_float(c->at + 1, v))
        return fail_kind(c, "a float of digits");
    c->at += 1 + size;
    return true;
}

bool cursor_number(struct cursor *c, double *v)
{
    if (cursor_kind(c) == ETF_KIND_FLOAT)
        return take_float(c, v);
    struct integer i;
    if (!look_integer(c, &i))
        return false;
    double magnitude = integer_to_double(&i);
    *v = i.negative ? -magnitude : magnitude;
    pass_integer(c, &i);
    return true;
}

/* Looks at the next term as an atom: its bytes on the wire, or 0. */
static size_t look_atom(const struct cursor *c, struct slice *name)
{
    if (cursor_kind(c) != ETF_KIND_ATOM)
        return 0;
    return etf_atom_at(c->at, c->end, name);
}

bool cursor_atom(struct cursor *c, struct slice *name)
{
    if (cursor_failed(c))
        return false;
    size_t used = look_atom(c, name);
    if (used == 0)
        return fail_kind(c, kind_words[ETF_KIND_ATOM]);
    c->at += used;
    return true;
}

bool cursor_atom_is(struct cursor *c, const char *name)
{
    if (cursor_failed(c))
        return false;
    struct slice found;
    size_t used = look_atom(c, &found);
    if (used == 0)
        return fail_kind(c, kind_words[ETF_KIND_ATOM]);
    if (!slice_is(found, name)) {
        error_set(&c->err, ERR_FORMAT, "byte %zu of the term: expected the atom %s, found %.*s",
                  (size_t)(c->at - c->start), name, (int)found.len, found.s);
        return false;
    }
    c->at += used;
    return true;
}

bool cursor_peek_atom(const struct cursor *c, const char *name)
{
    struct slice found;
    return look_atom(c, &found) > 0 && slice_is(found, name);
}

bool cursor_bool(struct cursor *c, bool *v)
{
    *v = cursor_peek_atom(c, "true");
    if (*v || cursor_peek_atom(c, "false"))
        return cursor_atom_is(c, *v ? "true" : "false");
    return cursor_failed(c) ? false : fail_kind(c, "true or false");
}

bool cursor_pid(struct cursor *c, struct etf_pid *pid, struct slice *node)
{
    if (!next_is(c, ETF_KIND_PID, 2))
        return false;
    size_t creation_width = *c->at == ETF_NEW_PID ? 4 : 1;
    struct slice name;
    size_t used = etf_atom_at(c->at + 1, c->end, &name);
    if (used == 0 || bytes_left(c) - 1 - used < 8 + creation_width)
        return fail_kind(c, kind_words[ETF_KIND_PID]);
    const uint8_t *p = c->at + 1 + used;
    pid->id = etf_be(p, 4);
    pid->serial = etf_be(p + 4, 4);
    pid->creation = etf_be(p + 8, creation_width);
    if (node)
        *node = name;
    c->at = p + 8 + creation_width;
    return true;
}

bool cursor_ref(struct cursor *c, struct etf_ref *ref)
{
    if (!next_is(c, ETF_KIND_REF, 4))
        return false;
    const uint8_t tag = *c->at;
    const bool old = tag == ETF_REFERENCE; /* one word, then the creation */
    const size_t creation_width = tag == ETF_NEWER_REFERENCE ? 4 : 1;
    const size_t n = old ? 1 : etf_be(c->at + 1, 2), header = old ? 1 : 3;
    struct slice name;
    const size_t used = etf_atom_at(c->at + header, c->end, &name);
    if (used == 0 || n == 0 || n > ARRAY_LEN(ref->words) ||
        bytes_left(c) - header - used < creation_width + 4 * n)
        return fail_kind(c, kind_words[ETF_KIND_REF]);
    const uint8_t *words = c->at + header + used + (old ? 0 : creation_width);
    *ref = (struct etf_ref){.n = (uint32_t)n};
    ref->creation = etf_be(old ? words + 4 : c->at + header + used, creation_width);
    for (size_t i = 0; i < n; i++)
        ref->words[i] = etf_be(words + 4 * i, 4);
    c->at = old ? words + 5 : words + 4 * n;
    return true;
}

bool cursor_binary(struct cursor *c, struct slice *bytes)
{
    if (!next_is(c, ETF_KIND_BINARY, 5))
        return false;
    size_t header = *c->at == ETF_BINARY ? 5 : 6;
    if (bytes_left(c) < header || bytes_left(c) - header < etf_be(c->at + 1, 4))
        return fail_kind(c, kind_words[ETF_KIND_BINARY]);
    *bytes = (struct slice){(const char *)c->at + header, etf_be(c->at + 1, 4)};
    c->at += header + bytes->len;
    return true;
}

bool cursor_raw(struct cursor *c, struct slice *bytes)
{
    if (cursor_failed(c))
        return false;
    if (c->string_left > 0)
        return fail_kind(c, "a whole term");
    size_t used = 0;
    if (etf_check_bare(c->at, bytes_left(c), &used, &c->err) < 0) {
        error_context(&c->err, "from byte %zu of the term", (size_t)(c->at - c->start));
        return false;
    }
    *bytes = (struct slice){(const char *)c->at, used};
    c->at += used;
    return true;
}

bool cursor_apart(struct cursor *c, struct cursor *term)
{
    struct slice bytes = {0};
    if (!cursor_raw(c, &bytes))
        return false;
    cursor_init(term, (const uint8_t *)bytes.s, bytes.len);
    return true;
}

bool cursor_skip(struct cursor *c)
{
    if (!cursor_failed(c) && c->string_left > 0) {
        c->at++;
        c->string_left--;
        return true;
    }
    struct slice bytes;
    return cursor_raw(c, &bytes);
}

bool cursor_fail(struct cursor *c, const char *expected)
{
    error_set(&c->err, ERR_FORMAT, "%s expected at byte %zu", expected, (size_t)(c->at - c->start));
    return false;
}

int cursor_end(struct cursor *c, bool ok, const char *what, struct error *err)
{
    if (ok && (cursor_at_end(c) || cursor_fail(c, "the end")))
        return 0;
    return error_set(err, cursor_failed(c) ? c->err.code : ERR_FORMAT,
                     "the node's answer to `%s` is not understood: %s", what,
                     cursor_failed(c) ? c->err.text : "another shape");
}
