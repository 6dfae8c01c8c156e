/* SPDX-License-Identifier: GPL-3.0-or-later */
/* <<…>>: bytes and bits that are written out, and at the end a name for the rest. */

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "parse.h"

enum { MOST_BITS = LIMIT_PATTERN_BYTES * 8, INTEGER_BITS = 8 };

struct bits {
    uint8_t *bytes; /* MOST_BITS of room */
    size_t n;
};

/* What stands behind a segment's value. */
struct segment {
    size_t size;
    bool has_size, is_text, is_rest, is_bits, little;
};

static void put_bit(struct bits *b, bool one)
{
    if (one)
        b->bytes[b->n / 8] |= (uint8_t)(0x80 >> b->n % 8);
    b->n++;
}

static bool has_bits_left(struct parser *p, const struct bits *b, size_t more, size_t at)
{
    if (more <= MOST_BITS - b->n)
        return true;
    parser_fail(p, at, "a binary of more than %u bytes", LIMIT_PATTERN_BYTES);
    return false;
}

static bool put_integer(struct parser *p, struct bits *b, int64_t v, const struct segment *s,
                        size_t at)
{
    size_t size = s->has_size ? s->size : INTEGER_BITS;
    if (!has_bits_left(p, b, size, at))
        return false;
    if (s->little && size % 8 != 0)
        return parser_fail(p, at, "a little-endian number has whole bytes here") != NULL;
    for (size_t i = 0; i < size; i++) {
        size_t bit = s->little ? i / 8 * 8 + 7 - i % 8 : size - 1 - i;
        put_bit(b, (uint64_t)(v >> (bit < 63 ? bit : 63)) & 1);
    }
    return true;
}

/* The characters of a string: a byte each in Erlang unless /utf8; in Elixir its bytes. */
static bool put_text_bits(struct parser *p, struct bits *b, const struct token *t,
                          const struct segment *s)
{
    const struct segment whole = {
        .size = s->has_size ? s->size : INTEGER_BITS, .has_size = true, .little = s->little};
    bool bytes = p->lex.elixir || s->is_text;
    for (size_t i = 0; i < t->text.len;) {
        int32_t codepoint = 0;
        size_t used = lex_codepoint(t->text, i, &codepoint);
        if (bytes) {
            codepoint = (unsigned char)t->text.s[i];
            used = 1;
        } else if (codepoint > 255 && !s->has_size) {
            return parser_fail(p, t->from, "a character beyond a byte: write \"…\"/utf8") != NULL;
        }
        if (!put_integer(p, b, codepoint, &whole, t->from))
            return false;
        i += used;
    }
    return true;
}

/* One word of /utf8, /binary-little, ::size(4). */
static bool parse_type(struct parser *p, struct segment *s)
{
    static const char *const rest[] = {"binary", "bytes", "bitstring", "bits"};
    static const char *const plain[] = {"integer", "big", "unsigned", "signed"};
    const struct slice word = p->token.text;
    if (p->token.kind == TOKEN_WORD) {
        for (size_t i = 0; i < 4; i++) {
            s->is_rest |= slice_is(word, rest[i]);
            s->is_bits |= i >= 2 && slice_is(word, rest[i]);
            if (slice_is(word, rest[i]) || slice_is(word, plain[i])) {
                parser_next(p);
                return true;
            }
        }
        s->is_text |= slice_is(word, "utf8");
        s->little |= slice_is(word, "little");
        bool size = p->lex.elixir && slice_is(word, "size");
        if (s->is_text || s->little || size)
            parser_next(p);
        if (!size && (s->is_text || s->little))
            return true;
        if (size && !parser_need(p, "(", "`(` and the size"))
            return false;
    }
    if (p->lex.elixir && p->token.kind == TOKEN_INTEGER && p->token.text.len == 0) {
        s->has_size = true;
        s->size = (size_t)p->token.number;
        bool size = slice_is(word, "size");
        parser_next(p);
        return !size || parser_need(p, ")", "`)`");
    }
    parser_expected(p, "a type: binary, utf8, integer, little, bitstring");
    return false;
}

static bool parse_types(struct parser *p, struct segment *s)
{
    if (!p->lex.elixir && parser_take(p, ":")) {
        if (p->token.kind != TOKEN_INTEGER || p->token.text.len > 0)
            return parser_expected(p, "a size in bits") != NULL;
        s->has_size = true;
        s->size = (size_t)p->token.number;
        parser_next(p);
    }
    if (!parser_take(p, p->lex.elixir ? "::" : "/"))
        return true;
    do {
        if (!parse_type(p, s))
            return false;
    } while (parser_take(p, "-"));
    return true;
}

/* `_` or `_:3`: bits of any value. Behind them there is nothing to compare with. */
static bool add_gap(struct parser *p, struct node *binary, const struct bits *b,
                    const struct segment *s, size_t at)
{
    size_t size = s->has_size ? s->size : INTEGER_BITS;
    if (!has_bits_left(p, b, binary->gap + size, at))
        return false;
    binary->gap += size;
    return true;
}

/* A variable: only as the last segment, for all that follows; `_` may also be some of it. */
static bool parse_rest(struct parser *p, struct node *binary, const struct bits *b)
{
    struct token t = p->token;
    parser_next(p);
    bool any = slice_is(t.text, "_");
    if (any && p->values)
        return parser_fail(p, t.from, "_ has no value; give it a name to use it here") != NULL;
    struct node *n = parser_node(p, any ? NODE_ANY : NODE_VAR, t.from);
    struct segment s = {0};
    if (!n || !parse_types(p, &s))
        return false;
    if (!any)
        n->text = t.text;
    if (any && !s.is_rest && !s.is_text)
        return add_gap(p, binary, b, &s, t.from);
    if (!s.is_rest || s.has_size)
        return parser_fail(p, t.from, "a variable here stands for the rest: write %s",
                           p->lex.elixir ? "name::binary" : "Name/binary") != NULL;
    if (!token_is(&p->token, ">>"))
        return parser_expected(p, "`>>`: nothing follows the rest") != NULL;
    binary->tail = n;
    binary->unit = s.is_bits ? 1 : 8;
    return true;
}

static bool parse_segment(struct parser *p, struct node *binary, struct bits *b)
{
    struct token t = p->token;
    if (t.kind == (p->lex.elixir ? TOKEN_WORD : TOKEN_UPPER))
        return parse_rest(p, binary, b);
    if (binary->gap > 0)
        return parser_expected(
                   p, "`>>`, more of `_`, or the rest: what follows `_` has no place") != NULL;
    bool negative = parser_take(p, "-");
    if (negative)
        t = p->token;
    if (t.kind != TOKEN_STRING && t.kind != TOKEN_INTEGER)
        return parser_expected(p, "a number, a string or `Rest/binary`") != NULL;
    parser_next(p);
    struct segment s = {0};
    if (!parse_types(p, &s))
        return false;
    if (t.kind == TOKEN_STRING && !negative)
        return put_text_bits(p, b, &t, &s);
    if (t.kind == TOKEN_STRING || t.text.len > 0)
        return parser_fail(p, t.from, "expected a number of at most 64 bits") != NULL;
    if (s.is_rest || s.is_text)
        return parser_fail(p, t.from, "a number is an integer in a binary") != NULL;
    return put_integer(p, b, negative ? -t.number : t.number, &s, t.from);
}

struct node *parse_binary(struct parser *p, size_t from)
{
    struct bits b = {.bytes = arena_alloc(p->arena, MOST_BITS / 8 + 1)};
    struct node *n = parser_node(p, NODE_BINARY, from);
    if (!n)
        return NULL;
    if (!parser_take(p, ">>")) {
        do {
            if (!parse_segment(p, n, &b))
                return NULL;
        } while (parser_take(p, ","));
        if (!parser_need(p, ">>", "`,` or `>>` of the binary"))
            return NULL;
    }
    n->text = (struct slice){(const char *)b.bytes, (b.n + 7) / 8};
    n->bits = b.n;
    n->to = p->last;
    return n;
}
