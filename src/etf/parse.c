/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/etf/parse.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "internal.h"
#include "scan.h"

enum {
    FLOAT_TEXT_BYTES = 400, /* the longest decimal form of a float has fewer */
    ATOM_CHARACTERS = 255,
    STRING_EXT_BYTES = 65535, /* longer lists of bytes take the general form */
};

static int parse_term(struct scan *p, struct builder *b);

/* A float whose integer part begins at `from`; p->at is at its '.'. */
static int parse_float(struct scan *p, struct builder *b, const char *from, bool negative)
{
    char text[FLOAT_TEXT_BYTES];
    size_t n = 0;
    const char *s = from;
    for (; s < p->end && n + 1 < sizeof(text); s++) {
        bool sign = (*s == '-' || *s == '+') && (s[-1] == 'e' || s[-1] == 'E');
        if (*s == '_')
            continue;
        if (!scan_is_digit(*s) && *s != '.' && *s != 'e' && *s != 'E' && !sign)
            break;
        if (*s == '.' && memchr(text, '.', n))
            break;
        text[n++] = *s;
    }
    text[n] = '\0';
    char *rest;
    double v = strtod(text, &rest);
    if (*rest != '\0' || !isfinite(v))
        return scan_fail(p, from, "this is not a float (as 1.0 or 2.5e-3)");
    p->at = s;
    build_double(b, negative ? -v : v);
    return 0;
}

static int parse_number(struct scan *p, struct builder *b)
{
    const char *from = p->at;
    bool negative = scan_peek(p) == '-';
    if (negative || scan_peek(p) == '+')
        p->at++;
    const char *digits = p->at;
    if (!scan_is_digit(scan_peek(p)))
        return scan_fail(p, from, "expected a number after the sign");
    uint64_t v;
    bool fits = scan_digits(p, 10, &v);
    if (scan_left(p) > 1 && *p->at == '.' && scan_is_digit(p->at[1]))
        return parse_float(p, b, digits, negative);
    if (fits && scan_peek(p) == '#') {
        if (v < 2 || v > 36)
            return scan_fail(p, digits, "the base of a number is 2 to 36");
        p->at++;
        const char *first = p->at;
        fits = scan_digits(p, (unsigned)v, &v);
        if (p->at == first)
            return scan_fail(p, first, "expected digits of that base");
    }
    if (!fits || v > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return scan_fail(p, from, "a number beyond 64 bits");
    build_int(b, negative ? (int64_t)-v : (int64_t)v);
    return 0;
}

static size_t characters_len(const struct buf *characters)
{
    return characters->len / sizeof(int32_t);
}

static int32_t character_at(const struct buf *characters, size_t i)
{
    int32_t cp;
    memcpy(&cp, characters->data + i * sizeof(cp), sizeof(cp));
    return cp;
}

/* As UTF-8, or, without utf8, as a byte each: false when one is beyond 255. */
static bool put_characters(struct buf *out, const struct buf *characters, bool utf8)
{
    for (size_t i = 0; i < characters_len(characters); i++) {
        int32_t cp = character_at(characters, i);
        char bytes[4];
        if (utf8)
            buf_put(out, bytes, text_encode(cp, bytes));
        else if (cp > 255)
            return false;
        else
            buf_put_u8(out, (uint8_t)cp);
    }
    return true;
}

static int parse_quoted_atom(struct scan *p, struct builder *b)
{
    const char *from = p->at++;
    struct buf characters, name;
    buf_init_wiped(&characters);
    buf_init_wiped(&name);
    int rc = scan_quoted(p, '\'', &characters);
    if (rc == 0 && characters_len(&characters) > ATOM_CHARACTERS)
        rc = scan_fail(p, from, "an atom has at most 255 characters");
    if (rc == 0) {
        put_characters(&name, &characters, true);
        build_atom_n(b, buf_cstr(&name), name.len);
    }
    buf_clear(&characters);
    buf_clear(&name);
    return rc;
}

static int parse_bare_atom(struct scan *p, struct builder *b)
{
    const char *from = p->at;
    size_t count = 0;
    for (;; count++) {
        int32_t cp;
        size_t n = text_decode(p->at, scan_left(p), &cp);
        if (n == 0 || !etf_is_name_character(cp))
            break;
        p->at += n;
    }
    if (count > ATOM_CHARACTERS)
        return scan_fail(p, from, "an atom has at most 255 characters");
    build_atom_n(b, from, (size_t)(p->at - from));
    return 0;
}

static int parse_string(struct scan *p, struct builder *b)
{
    p->at++;
    struct buf characters, bytes;
    buf_init_wiped(&characters);
    buf_init_wiped(&bytes);
    int rc = scan_quoted(p, '"', &characters);
    size_t n = characters_len(&characters);
    if (rc == 0 && put_characters(&bytes, &characters, false)) {
        build_string(b, buf_cstr(&bytes), n);
    } else if (rc == 0) {
        build_list(b, n);
        for (size_t i = 0; i < n; i++)
            build_int(b, character_at(&characters, i));
        build_nil(b);
    }
    buf_clear(&characters);
    buf_clear(&bytes);
    return rc;
}

static int parse_character(struct scan *p, struct builder *b)
{
    p->at++;
    int32_t cp;
    int rc = scan_character(p, &cp);
    if (rc == 0)
        build_int(b, cp);
    return rc;
}

/* "text", "text"/utf8 within << >>. */
static int take_binary_text(struct scan *p, struct buf *bytes)
{
    const char *from = p->at++;
    struct buf characters;
    buf_init_wiped(&characters);
    int rc = scan_quoted(p, '"', &characters);
    if (rc == 0 && !put_characters(bytes, &characters, scan_accept(p, "/utf8")))
        rc = scan_fail(p, from, "characters beyond 255 in a binary take /utf8 behind the text");
    buf_clear(&characters);
    return rc;
}

/* A byte, or the last bits as Value:Bits. Leaves the number of bits of the last byte in *bits. */
static int take_binary_byte(struct scan *p, struct buf *bytes, unsigned *bits)
{
    const char *from = p->at;
    uint64_t v, width = 8;
    if (!scan_digits(p, 10, &v))
        return scan_fail(p, from, "expected a byte or a text");
    if (scan_accept(p, ":") && (!scan_digits(p, 10, &width) || width < 1 || width > 8))
        return scan_fail(p, p->at, "expected a number of bits from 1 to 8");
    if (v >= (uint64_t)1 << width)
        return scan_fail(p, from, "this value does not fit its bits");
    buf_put_u8(bytes, (uint8_t)(v << (8 - width)));
    *bits = (unsigned)width;
    return 0;
}

static int take_binary(struct scan *p, struct buf *bytes, unsigned *bits)
{
    int rc = 0;
    if (scan_accept(p, ">>"))
        return 0;
    do {
        scan_skip_space(p);
        if (*bits != 8)
            return scan_fail(p, p->at, "only the last byte may have fewer than 8 bits");
        rc = scan_peek(p) == '"' ? take_binary_text(p, bytes) : take_binary_byte(p, bytes, bits);
    } while (rc == 0 && scan_accept(p, ","));
    return rc < 0 ? rc : scan_expect(p, ">>", "expected , or >>");
}

static int parse_binary(struct scan *p, struct builder *b)
{
    p->at += 2;
    struct buf bytes;
    buf_init_wiped(&bytes);
    unsigned bits = 8;
    int rc = take_binary(p, &bytes, &bits);
    if (rc == 0 && bits == 8)
        build_binary(b, buf_cstr(&bytes), bytes.len);
    else if (rc == 0)
        build_bits(b, bytes.data, (bytes.len - 1) * 8 + bits);
    buf_clear(&bytes);
    return rc;
}

/* N.N.N at s; returns the bytes used, 0 when it is none. */
static size_t pid_numbers(const char *s, size_t len, uint64_t numbers[3])
{
    struct scan p = {.start = s, .at = s, .end = s + len};
    for (int i = 0; i < 3; i++) {
        if (i > 0 && (scan_left(&p) == 0 || *p.at++ != '.'))
            return 0;
        const char *from = p.at;
        if (!scan_digits(&p, 10, &numbers[i]) || numbers[i] > UINT32_MAX)
            return 0;
        if (memchr(from, '_', (size_t)(p.at - from)))
            return 0;
    }
    return (size_t)(p.at - s);
}

static int parse_pid(struct scan *p, struct builder *b)
{
    uint64_t numbers[3];
    size_t used = pid_numbers(p->at + 1, scan_left(p) - 1, numbers);
    if (used == 0 || scan_left(p) < used + 2 || p->at[used + 1] != '>')
        return scan_fail(p, p->at, "expected a pid as <0.41.0>");
    if (!p->node)
        return scan_fail(p, p->at, "a pid has no meaning here");
    if (numbers[0] != 0)
        return scan_fail(p, p->at, "only pids of the node itself (<0.…>) can be given");
    p->at += used + 2;
    struct etf_pid pid = {.id = (uint32_t)numbers[1], .serial = (uint32_t)numbers[2]};
    build_pid(b, p->node, &pid);
    return 0;
}

/* Terms between commas, into items. */
static int take_terms(struct scan *p, struct builder *items, size_t *count)
{
    int rc;
    do {
        rc = parse_term(p, items);
        ++*count;
    } while (rc == 0 && scan_accept(p, ","));
    return rc;
}

static int parse_tuple(struct scan *p, struct builder *b)
{
    p->at++;
    struct builder *items = builder_new();
    size_t arity = 0;
    int rc = 0;
    if (!scan_accept(p, "}")) {
        rc = take_terms(p, items, &arity);
        if (rc == 0)
            rc = scan_expect(p, "}", "expected , or }");
    }
    if (rc == 0) {
        build_tuple(b, arity);
        build_term(b, items);
    }
    builder_free(items);
    return rc;
}

/* The list of bytes takes the same form here that a node gives it: equal terms, equal bytes. */
static bool build_as_string(struct builder *b, const struct builder *items, size_t count)
{
    size_t len;
    const uint8_t *bytes = builder_bytes(items, &len);
    if (count > STRING_EXT_BYTES || len != 1 + 2 * count)
        return false;
    for (size_t i = 1; i < len; i += 2)
        if (bytes[i] != ETF_SMALL_INTEGER)
            return false;
    struct buf text;
    buf_init_wiped(&text);
    for (size_t i = 1; i < len; i += 2)
        buf_put_u8(&text, bytes[i + 1]);
    build_string(b, buf_cstr(&text), count);
    buf_clear(&text);
    return true;
}

static bool is_nil(const struct builder *b)
{
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(b, &len);
    return len == 2 && bytes[1] == ETF_NIL;
}

static int parse_list(struct scan *p, struct builder *b)
{
    p->at++;
    if (scan_accept(p, "]")) {
        build_nil(b);
        return 0;
    }
    struct builder *items = builder_new(), *tail = builder_new();
    size_t count = 0;
    int rc = take_terms(p, items, &count);
    bool has_tail = rc == 0 && scan_accept(p, "|");
    if (has_tail)
        rc = parse_term(p, tail);
    if (rc == 0)
        rc = scan_expect(p, "]", has_tail ? "expected ]" : "expected , | or ]");
    has_tail = has_tail && !is_nil(tail); /* [a|[]] is [a] */
    if (rc == 0 && (has_tail || !build_as_string(b, items, count))) {
        build_list(b, count);
        build_term(b, items);
        if (has_tail)
            build_term(b, tail);
        else
            build_nil(b);
    }
    builder_free(items);
    builder_free(tail);
    return rc;
}

/* The index of a map's key among the items. */
struct map_key {
    const uint8_t *bytes;
    size_t len;
};

static int compare_keys(const void *left_key, const void *right_key)
{
    const struct map_key *l = left_key, *r = right_key;
    if (l->len != r->len)
        return l->len < r->len ? -1 : 1;
    return memcmp(l->bytes, r->bytes, l->len);
}

/* A node closes the connection on a map that has a key twice. */
static bool has_twice(const struct builder *items, size_t pairs)
{
    size_t len;
    struct cursor c;
    struct arena arena;
    arena_init(&arena);
    struct map_key *keys = arena_alloc(&arena, pairs * sizeof(*keys));
    const uint8_t *bytes = builder_bytes(items, &len);
    cursor_init(&c, bytes, len);
    for (size_t i = 0; i < pairs; i++) {
        keys[i].bytes = c.at;
        cursor_skip(&c);
        keys[i].len = (size_t)(c.at - keys[i].bytes);
        cursor_skip(&c);
    }
    qsort(keys, pairs, sizeof(*keys), compare_keys);
    bool twice = false;
    for (size_t i = 1; i < pairs; i++)
        twice = twice || compare_keys(&keys[i - 1], &keys[i]) == 0;
    arena_clear(&arena);
    return twice;
}

static int take_pairs(struct scan *p, struct builder *items, size_t *pairs)
{
    int rc;
    do {
        rc = parse_term(p, items);
        if (rc == 0)
            rc = scan_expect(p, "=>", "expected =>");
        if (rc == 0)
            rc = parse_term(p, items);
        ++*pairs;
    } while (rc == 0 && scan_accept(p, ","));
    return rc < 0 ? rc : scan_expect(p, "}", "expected , or }");
}

static int parse_map(struct scan *p, struct builder *b)
{
    const char *from = p->at;
    p->at += 2;
    struct builder *items = builder_new();
    size_t pairs = 0;
    int rc = scan_accept(p, "}") ? 0 : take_pairs(p, items, &pairs);
    if (rc == 0 && has_twice(items, pairs))
        rc = scan_fail(p, from, "this map has a key twice");
    if (rc == 0) {
        build_map(b, pairs);
        build_term(b, items);
    }
    builder_free(items);
    return rc;
}

static int parse_at(struct scan *p, struct builder *b)
{
    static const struct {
        const char *start;
        int (*parse)(struct scan *p, struct builder *b);
    } forms[] = {
        {"{", parse_tuple},       {"[", parse_list},      {"#{", parse_map},
        {"\"", parse_string},     {"$", parse_character}, {"<<", parse_binary},
        {"'", parse_quoted_atom}, {"<", parse_pid},       {"-", parse_number},
        {"+", parse_number},
    };
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (scan_peek_is(p, forms[i].start))
            return forms[i].parse(p, b);
    int32_t cp;
    if (text_decode(p->at, scan_left(p), &cp) > 0 && etf_is_name_start(cp))
        return parse_bare_atom(p, b);
    if (scan_is_digit(scan_peek(p)))
        return parse_number(p, b);
    return scan_fail(p, p->at,
                     scan_left(p) > 0 ? "expected a term" : "expected a term, found the end");
}

static int parse_term(struct scan *p, struct builder *b)
{
    scan_skip_space(p);
    if (p->depth == LIMIT_TERM_DEPTH)
        return scan_fail(p, p->at, "a term nested too deep");
    p->depth++;
    int rc = parse_at(p, b);
    p->depth--;
    return rc;
}

int etf_parse(struct builder *b, const char *text, size_t len, const char *node, struct error *err)
{
    struct scan p = {.start = text, .at = text, .end = text + len, .node = node, .err = err};
    struct builder *term = builder_new(); /* so that a failure leaves b as it was */
    int rc = parse_term(&p, term);
    if (rc == 0) {
        scan_accept(&p, ".");
        scan_skip_space(&p);
        if (scan_left(&p) > 0)
            rc = scan_fail(&p, p.at, "expected the end of the term");
    }
    if (rc == 0)
        build_term(b, term);
    builder_free(term);
    return rc;
}

int etf_parse_pid(const char *text, struct etf_pid *pid)
{
    size_t len = strlen(text);
    uint64_t numbers[3] = {0};
    if (len > 2 && text[0] == '<' && text[len - 1] == '>') {
        text++;
        len -= 2;
    } else if (!memchr(text, '.', len)) {
        struct scan p = {.start = text, .at = text, .end = text + len};
        if (!scan_digits(&p, 10, &numbers[1]) || scan_left(&p) > 0 || numbers[1] > UINT32_MAX)
            return -1;
        *pid = (struct etf_pid){.id = (uint32_t)numbers[1]};
        return 0;
    }
    if (pid_numbers(text, len, numbers) != len || len == 0 || numbers[0] != 0)
        return -1;
    *pid = (struct etf_pid){.id = (uint32_t)numbers[1], .serial = (uint32_t)numbers[2]};
    return 0;
}
