/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "print.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "internal.h"

enum {
    DECIMAL_BYTES = 512, /* longer integers print in base 16: decimal takes quadratic time */
    LIMB = 1000000000,
};

static void put_fitting(struct printer *p, const char *s, size_t len)
{
    if (p->full)
        return;
    if (len <= p->left) {
        buf_put(p->out, s, len);
        p->left -= len;
        return;
    }
    size_t fits = p->left;
    while (fits > 0 && ((unsigned char)s[fits] & 0xC0) == 0x80)
        fits--;
    buf_put(p->out, s, fits);
    buf_puts(p->out, "...");
    p->full = true;
}

void printer_puts(struct printer *p, const char *s)
{
    put_fitting(p, s, strlen(s));
}

void printer_printf(struct printer *p, const char *fmt, ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    printer_puts(p, text);
}

bool print_is_printable(int32_t cp)
{
    return (cp >= 0x20 && cp <= 0x7E) || (cp >= 0x08 && cp <= 0x0D) || cp == 0x1B ||
           (cp >= 0xA0 && cp <= 0xD7FF) || (cp >= 0xE000 && cp <= 0xFFFD) ||
           (cp >= 0x10000 && cp <= 0x10FFFF);
}

bool printer_safe(struct printer *p, int32_t cp)
{
    char bytes[4];
    int width;
    bool safe;
    size_t n = text_encode(cp, bytes);
    text_grapheme(bytes, n, &width, &safe);
    if (safe)
        put_fitting(p, bytes, n);
    return safe;
}

void printer_character(struct printer *p, int32_t cp, int32_t next, char quote)
{
    (void)next;
    static const char named[] = "\b\t\n\v\f\r\x1b\x7f";
    static const char names[] = "btnvfred";
    const char *name = cp > 0 && cp < 0x80 ? strchr(named, cp) : NULL;
    if (cp == quote || cp == '\\') {
        printer_printf(p, "\\%c", (char)cp);
    } else if (name) {
        printer_printf(p, "\\%c", names[name - named]);
    } else if (cp < 0x20 || (cp >= 0x80 && cp < 0xA0)) {
        printer_printf(p, "\\%03o", (unsigned)cp);
    } else if (!printer_safe(p, cp)) {
        printer_printf(p, "\\x{%X}", (unsigned)cp);
    }
}

size_t print_decode(struct slice text, size_t at, bool latin1, int32_t *cp)
{
    size_t n = latin1 ? 0 : text_decode(text.s + at, text.len - at, cp);
    if (n > 0)
        return n;
    *cp = (unsigned char)text.s[at];
    return 1;
}

void printer_quoted(struct printer *p, struct slice text, bool latin1, char quote)
{
    int32_t cp = -1, next;
    for (size_t at = 0; at < text.len && !p->full;) {
        at += print_decode(text, at, latin1, &cp);
        if (at < text.len)
            print_decode(text, at, latin1, &next);
        else
            next = -1;
        p->spelling->character(p, cp, next, quote);
    }
}

static bool is_reserved(struct slice name)
{
    static const char *const words[] = {
        "after", "and",   "andalso", "band",    "begin", "bnot", "bor",  "bsl", "bsr",   "bxor",
        "case",  "catch", "cond",    "div",     "end",   "fun",  "if",   "let", "maybe", "not",
        "of",    "or",    "orelse",  "receive", "rem",   "try",  "when", "xor",
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (slice_is(name, words[i]))
            return true;
    return false;
}

static bool needs_quotes(struct slice name, bool latin1)
{
    if (name.len == 0 || is_reserved(name))
        return true;
    for (size_t at = 0; at < name.len;) {
        int32_t cp;
        bool first = at == 0;
        at += print_decode(name, at, latin1, &cp);
        if (first ? !etf_is_name_start(cp) : !etf_is_name_character(cp))
            return true;
    }
    return false;
}

void printer_atom(struct printer *p, struct slice name, bool latin1)
{
    bool quotes = needs_quotes(name, latin1);
    if (quotes)
        printer_puts(p, "'");
    printer_quoted(p, name, latin1, '\'');
    if (quotes)
        printer_puts(p, "'");
}

/* The fewest digits that read back as v, and the decimal exponent of the first of them. */
static int shortest_digits(double v, char digits[20])
{
    char text[40];
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, v);
        if (strtod(text, NULL) == v)
            break;
    }
    size_t n = 0;
    const char *s = text;
    for (; *s != 'e'; s++)
        if (*s != '.')
            digits[n++] = *s;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    digits[n] = '\0';
    return (int)strtol(s + 1, NULL, 10);
}

static void decimal_form(char *out, size_t size, const char *digits, int exponent)
{
    static const char zeros[] = "000000000000000000000000";
    int n = (int)strlen(digits);
    if (exponent < 0)
        snprintf(out, size, "0.%.*s%s", -exponent - 1, zeros, digits);
    else if (n <= exponent + 1)
        snprintf(out, size, "%s%.*s.0", digits, exponent + 1 - n, zeros);
    else
        snprintf(out, size, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}

/*
 * As float_to_list(F, [short]): the shorter of both forms, past 2^53 always with an exponent; or as
 * Elixir's Inspect.Float. */
void printer_float(struct printer *p, double v)
{
    if (!isfinite(v)) {
        printer_puts(p, "#Bad");
        return;
    }
    char digits[20], plain[64] = "", scientific[64];
    if (signbit(v))
        printer_puts(p, "-");
    v = fabs(v);
    int exponent = shortest_digits(v, digits);
    snprintf(scientific, sizeof(scientific), "%c.%se%d", digits[0], digits[1] ? digits + 1 : "0",
             exponent);
    if (exponent > -25 && exponent < 25)
        decimal_form(plain, sizeof(plain), digits, exponent);
    bool wide = p->spelling->plain_floats && v >= 1.0 && v < 1e16;
    bool fits = v < 9007199254740992.0 && strlen(plain) <= strlen(scientific);
    printer_puts(p, plain[0] && (wide || fits) ? plain : scientific);
}

/* Divides the limbs (base 2^32, most significant first) by LIMB; returns what remains. */
static uint32_t divide_limbs(uint32_t *limbs, size_t n)
{
    uint64_t rest = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = rest << 32 | limbs[i];
        limbs[i] = (uint32_t)(v / LIMB);
        rest = v % LIMB;
    }
    return (uint32_t)rest;
}

static void put_decimal(struct printer *p, const uint8_t *bytes, size_t len)
{
    uint32_t limbs[DECIMAL_BYTES / 4] = {0};
    uint32_t groups[DECIMAL_BYTES / 3]; /* nine digits each: more than three bytes */
    size_t n = (len + 3) / 4, n_groups = 0, first = 0;
    for (size_t i = 0; i < len; i++)
        limbs[n - 1 - i / 4] |= (uint32_t)bytes[i] << (8 * (i % 4));
    do {
        groups[n_groups++] = divide_limbs(limbs + first, n - first);
        while (first < n && limbs[first] == 0)
            first++;
    } while (first < n);
    printer_printf(p, "%u", groups[--n_groups]);
    while (n_groups > 0)
        printer_printf(p, "%09u", groups[--n_groups]);
}

void printer_integer(struct printer *p, bool negative, const uint8_t *bytes, size_t len)
{
    while (len > 0 && bytes[len - 1] == 0)
        len--;
    if (negative && len > 0)
        printer_puts(p, "-");
    if (len <= DECIMAL_BYTES) {
        put_decimal(p, bytes, len);
        return;
    }
    printer_printf(p, "%s%X", p->spelling->base_16, bytes[len - 1]);
    for (size_t i = len - 1; i > 0 && !p->full; i--)
        printer_printf(p, "%02X", bytes[i - 1]);
}
