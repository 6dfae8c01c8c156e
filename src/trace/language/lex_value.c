/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tokens that are values: numbers, quoted text, pids, ports and references. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"
#include "lex.h"

enum { FLOAT_TEXT_BYTES = 400 };

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static int digit_value(int c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : 99;
}

bool lex_fail(struct lex *l, size_t at, const char *why)
{
    l->wrong = why;
    l->wrong_at = at;
    return false;
}

size_t lex_characters(struct slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++)
        n += (s.s[i] & 0xc0) != 0x80;
    return n;
}

size_t lex_codepoint(struct slice s, size_t at, int32_t *codepoint)
{
    const size_t used = text_decode(s.s + at, s.len - at, codepoint);
    if (used == 0)
        *codepoint = (unsigned char)s.s[at];
    return used > 0 ? used : 1;
}

/* Decimal digits, lowest first, times the base plus a digit. */
static void decimal_add(struct buf *decimal, int base, int digit)
{
    int carry = digit;
    for (size_t i = 0; i < decimal->len; i++) {
        int v = decimal->data[i] * base + carry;
        decimal->data[i] = (uint8_t)(v % 10);
        carry = v / 10;
    }
    for (; carry > 0; carry /= 10)
        buf_put_u8(decimal, (uint8_t)(carry % 10));
}

static struct slice decimal_text(struct lex *l, const struct buf *decimal)
{
    char *s = arena_alloc(l->arena, decimal->len + 1);
    for (size_t i = 0; i < decimal->len; i++)
        s[i] = (char)('0' + decimal->data[decimal->len - 1 - i]);
    return (struct slice){s, decimal->len};
}

/* Digits of a base with '_' between them. False when there is none. */
static bool take_digits(struct lex *l, int base, struct token *out)
{
    struct buf decimal;
    buf_init(&decimal, 0);
    bool fits = true, any = false;
    int64_t v = 0;
    for (;;) {
        if (any && lex_peek(l, 0) == '_' && digit_value(lex_peek(l, 1)) < base)
            l->at++;
        int d = digit_value(lex_peek(l, 0));
        if (d >= base)
            break;
        decimal_add(&decimal, base, d);
        if (v > (INT64_MAX - d) / base)
            fits = false;
        v = fits ? v * base + d : 0;
        any = true;
        l->at++;
    }
    out->kind = TOKEN_INTEGER;
    out->number = v;
    out->text = fits ? (struct slice){"", 0} : decimal_text(l, &decimal);
    buf_clear(&decimal);
    return any;
}

static void take_float(struct lex *l, struct token *out)
{
    char text[FLOAT_TEXT_BYTES];
    size_t n = 0;
    bool point = false, exponent = false;
    for (l->at = out->from; n + 1 < sizeof(text); l->at++) {
        int c = lex_peek(l, 0);
        if (c == '_')
            continue;
        bool sign = (c == '-' || c == '+') && n > 0 && text[n - 1] == 'e';
        if (c == '.' && (point || !is_digit(lex_peek(l, 1))))
            break;
        if ((c == 'e' || c == 'E') &&
            (exponent ||
             !(is_digit(lex_peek(l, 1)) ||
               ((lex_peek(l, 1) == '-' || lex_peek(l, 1) == '+') && is_digit(lex_peek(l, 2))))))
            break;
        if (!is_digit(c) && !sign && c != '.' && c != 'e' && c != 'E')
            break;
        point |= c == '.';
        exponent |= c == 'e' || c == 'E';
        text[n++] = c == 'E' ? 'e' : (char)c;
    }
    text[n] = '\0';
    out->kind = TOKEN_FLOAT;
    out->real = strtod(text, NULL);
    if (!isfinite(out->real)) {
        lex_fail(l, out->from, "a float beyond what 64 bits hold");
        out->kind = TOKEN_WRONG;
    }
}

void lex_number(struct lex *l, struct token *out)
{
    static const struct {
        char letter;
        int base;
    } prefixes[] = {{'x', 16}, {'o', 8}, {'b', 2}};
    for (size_t i = 0; l->elixir && lex_peek(l, 0) == '0' && i < 3; i++) {
        if (lex_peek(l, 1) != prefixes[i].letter)
            continue;
        l->at += 2;
        if (!take_digits(l, prefixes[i].base, out)) {
            lex_fail(l, l->at, "expected digits of that base");
            out->kind = TOKEN_WRONG;
        }
        return;
    }
    take_digits(l, 10, out);
    if (lex_peek(l, 0) == '.' && is_digit(lex_peek(l, 1))) {
        take_float(l, out);
        return;
    }
    if (l->elixir || lex_peek(l, 0) != '#' || digit_value(lex_peek(l, 1)) == 99)
        return;
    int64_t base = out->text.len > 0 ? 0 : out->number;
    l->at++;
    if (base < 2 || base > 36)
        lex_fail(l, out->from, "the base of a number is 2 to 36");
    else if (take_digits(l, (int)base, out))
        return;
    else
        lex_fail(l, l->at, "expected digits of that base");
    out->kind = TOKEN_WRONG;
}

/* \x41, \x{41}, \u0041, \u{41}: l->at is behind the letter. */
static bool take_hex(struct lex *l, int most, int32_t *codepoint)
{
    size_t from = l->at;
    bool braces = lex_peek(l, 0) == '{';
    if (braces)
        l->at++;
    int32_t v = 0;
    int n = 0;
    for (; digit_value(lex_peek(l, 0)) < 16 && n < (braces ? 6 : most); n++, l->at++)
        v = v * 16 + digit_value(lex_peek(l, 0));
    if (n == 0 || (!braces && n < most) || (braces && lex_peek(l, 0) != '}'))
        return lex_fail(l, from, "expected hexadecimal digits, as in \\x41 or \\x{20AC}");
    if (braces)
        l->at++;
    if (v > 0x10ffff || (v >= 0xd800 && v <= 0xdfff))
        return lex_fail(l, from, "this character does not exist");
    *codepoint = v;
    return true;
}

static bool take_escape(struct lex *l, int32_t *codepoint)
{
    static const char letters[] = "abdefnrstv0", values[] = "\a\b\177\033\f\n\r \t\v";
    int c = lex_peek(l, 0);
    if (c == 'x' || (c == 'u' && l->elixir)) {
        l->at++;
        return take_hex(l, c == 'x' ? 2 : 4, codepoint);
    }
    if (c == '^' && !l->elixir && l->at + 1 < l->len) {
        *codepoint = lex_peek(l, 1) & 31;
        l->at += 2;
        return true;
    }
    if (c >= '0' && c <= '7' && !l->elixir) {
        *codepoint = 0;
        for (int n = 0; n < 3 && lex_peek(l, 0) >= '0' && lex_peek(l, 0) <= '7'; n++, l->at++)
            *codepoint = *codepoint * 8 + (lex_peek(l, 0) - '0');
        return true;
    }
    const char *found = c != 0 && (c != 'a' || l->elixir) ? strchr(letters, c) : NULL;
    if (found) {
        *codepoint = (unsigned char)values[found - letters];
        l->at++;
        return true;
    }
    size_t n = text_decode(l->text + l->at, l->len - l->at, codepoint);
    l->at += n;
    return n > 0 || lex_fail(l, l->at, "expected a character after the backslash");
}

bool lex_character(struct lex *l, int32_t *codepoint)
{
    if (lex_peek(l, 0) == '\\' && l->at < l->len) {
        l->at++;
        return take_escape(l, codepoint);
    }
    size_t n = text_decode(l->text + l->at, l->len - l->at, codepoint);
    l->at += n;
    return n > 0 || lex_fail(l, l->at, "expected a character");
}

/* Up to the closing quote. */
static bool take_to_quote(struct lex *l, char quote, bool bytes, struct buf *out)
{
    size_t open = l->at - 1;
    while (lex_peek(l, 0) != quote) {
        if (l->at >= l->len)
            return lex_fail(
                l, open, quote == '"' ? "no closing \" of this text" : "no closing ' of this name");
        bool byte =
            bytes && lex_peek(l, 0) == '\\' && lex_peek(l, 1) == 'x' && lex_peek(l, 2) != '{';
        int32_t codepoint;
        char utf8[4];
        if (!lex_character(l, &codepoint))
            return false;
        if (byte)
            buf_put_u8(out, (uint8_t)codepoint);
        else
            buf_put(out, utf8, text_encode(codepoint, utf8));
    }
    l->at++;
    return true;
}

bool lex_quoted(struct lex *l, char quote, bool bytes, struct slice *out)
{
    struct buf text;
    buf_init(&text, 0);
    bool ok = take_to_quote(l, quote, bytes, &text);
    if (ok)
        *out = (struct slice){arena_strndup(l->arena, buf_cstr(&text), text.len), text.len};
    buf_clear(&text);
    return ok;
}

/* "0.1.2>" after an opening mark of `skip` bytes: how many numbers, or 0. */
static size_t dotted_numbers(const struct lex *l, size_t skip, uint64_t *numbers, size_t most,
                             size_t *end)
{
    size_t at = l->at + skip, n = 0;
    while (n < most) {
        uint64_t v = 0;
        size_t first = at;
        for (; at < l->len && is_digit(l->text[at]); at++) {
            v = v * 10 + (uint64_t)(l->text[at] - '0');
            if (v > UINT32_MAX && n == 0)
                return 0;
            if (at - first > 17)
                return 0;
        }
        if (at == first || at >= l->len)
            return 0;
        numbers[n++] = v;
        if (l->text[at] == '>') {
            *end = at + 1;
            return n;
        }
        if (l->text[at++] != '.')
            return 0;
    }
    return 0;
}

bool lex_identifier(struct lex *l, struct token *out)
{
    static const struct {
        const char *mark;
        enum token_kind kind;
        size_t least, most;
    } forms[] = {
        {"<", TOKEN_PID, 3, 3},     {"#PID<", TOKEN_PID, 3, 3},       {"#Port<", TOKEN_PORT, 2, 2},
        {"#Ref<", TOKEN_REF, 3, 6}, {"#Reference<", TOKEN_REF, 3, 6},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        size_t skip = strlen(forms[i].mark), end = 0;
        uint64_t numbers[6];
        if (l->len - l->at < skip || memcmp(l->text + l->at, forms[i].mark, skip) != 0)
            continue;
        size_t n = dotted_numbers(l, skip, numbers, forms[i].most, &end);
        if (n < forms[i].least || (forms[i].kind == TOKEN_PID && (numbers[1] | numbers[2]) >> 32))
            continue;
        out->kind = forms[i].kind;
        out->number = (int64_t)numbers[1];
        out->serial = n > 2 ? (uint32_t)numbers[2] : 0;
        if (out->kind == TOKEN_REF) {
            char *s = arena_printf(l->arena, "#Ref<%.*s", (int)(end - l->at - skip),
                                   l->text + l->at + skip);
            out->text = slice_of(s);
        }
        l->at = end;
        return true;
    }
    return false;
}
