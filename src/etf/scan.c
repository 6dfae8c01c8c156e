/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan.h"

#include <string.h>

#include "beamtop/base/text.h"

int scan_fail(struct scan *p, const char *at, const char *what)
{
    unsigned line = 1, column = 1;
    for (const char *s = p->start; s < at; s++) {
        bool continuation = ((unsigned char)*s & 0xC0) == 0x80;
        column += continuation ? 0 : 1;
        if (*s == '\n') {
            line++;
            column = 1;
        }
    }
    return error_set(p->err, ERR_USAGE, "line %u, column %u: %s", line, column, what);
}

size_t scan_left(const struct scan *p)
{
    return (size_t)(p->end - p->at);
}

char scan_peek(const struct scan *p)
{
    return p->at < p->end ? *p->at : '\0';
}

bool scan_peek_is(const struct scan *p, const char *s)
{
    size_t n = strlen(s);
    return scan_left(p) >= n && memcmp(p->at, s, n) == 0;
}

void scan_skip_space(struct scan *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == '%')
            while (p->at + 1 < p->end && *p->at != '\n')
                p->at++;
        else if (!strchr(" \t\r\n\f\v", *p->at) || *p->at == '\0')
            return;
    }
}

/* After space: takes s when it is next. */
bool scan_accept(struct scan *p, const char *s)
{
    scan_skip_space(p);
    if (!scan_peek_is(p, s))
        return false;
    p->at += strlen(s);
    return true;
}

int scan_expect(struct scan *p, const char *s, const char *what)
{
    return scan_accept(p, s) ? 0 : scan_fail(p, p->at, what);
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 36;
}

bool scan_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Digits of a base, '_' between two of them. False past 64 bits or without a digit. */
bool scan_digits(struct scan *p, unsigned base, uint64_t *value)
{
    const char *first = p->at;
    bool fits = true;
    *value = 0;
    while (p->at < p->end) {
        char c = *p->at;
        if (c == '_' && p->at > first && scan_left(p) > 1 && digit_value(p->at[1]) < (int)base) {
            p->at++;
            continue;
        }
        unsigned digit = (unsigned)digit_value(c);
        if (digit >= base)
            break;
        if (*value > (UINT64_MAX - digit) / base)
            fits = false;
        *value = *value * base + digit;
        p->at++;
    }
    return fits && p->at > first;
}

/* \x41, \x{20AC}; the x has been taken. */
static int take_hex(struct scan *p, int32_t *cp)
{
    const char *from = p->at;
    bool braces = scan_peek(p) == '{';
    if (braces)
        p->at++;
    uint32_t v = 0;
    int n = 0;
    for (; p->at < p->end && digit_value(*p->at) < 16 && (braces || n < 2); n++, p->at++)
        v = v > 0x110000 ? v : v * 16 + (uint32_t)digit_value(*p->at);
    if (n == 0 || (!braces && n != 2) || (braces && scan_peek(p) != '}'))
        return scan_fail(p, from, "expected \\xHH or \\x{HHHH}");
    if (braces)
        p->at++;
    if (v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF))
        return scan_fail(p, from, "no such character");
    *cp = (int32_t)v;
    return 0;
}

static int take_octal(struct scan *p, int32_t *cp)
{
    int32_t v = 0;
    for (int n = 0; n < 3 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; n++)
        v = v * 8 + (*p->at++ - '0');
    *cp = v;
    return 0;
}

/* One character of a string, quoted atom or $c, escapes as Erlang has them. */
int scan_character(struct scan *p, int32_t *cp)
{
    size_t n = text_decode(p->at, scan_left(p), cp);
    if (n == 0)
        return scan_fail(p, p->at,
                         scan_left(p) > 0 ? "bytes that are not UTF-8" : "expected a character");
    p->at += n;
    if (*cp != '\\')
        return 0;
    if (scan_peek(p) >= '0' && scan_peek(p) <= '7')
        return take_octal(p, cp);
    n = text_decode(p->at, scan_left(p), cp);
    if (n == 0)
        return scan_fail(p, p->at, "expected a character after \\");
    p->at += n;
    if (*cp == 'x')
        return take_hex(p, cp);
    if (*cp == '^') {
        if (scan_left(p) == 0 || (unsigned char)*p->at < '@' || (unsigned char)*p->at > '~')
            return scan_fail(p, p->at, "expected a letter after \\^");
        *cp = *p->at++ & 31;
        return 0;
    }
    static const char names[] = "bdefnrstv";
    static const char values[] = "\b\x7f\x1b\f\n\r \t\v";
    const char *name = *cp < 0x80 && *cp != 0 ? strchr(names, *cp) : NULL;
    if (name)
        *cp = values[name - names];
    return 0;
}

/* The characters between two quotes, as int32_t; the first quote has been taken. */
int scan_quoted(struct scan *p, char quote, struct buf *characters)
{
    const char *from = p->at - 1;
    while (scan_peek(p) != quote || scan_left(p) == 0) {
        int32_t cp;
        if (scan_left(p) == 0)
            return scan_fail(p, from, "this quote is not closed");
        int rc = scan_character(p, &cp);
        if (rc < 0)
            return rc;
        buf_put(characters, &cp, sizeof(cp));
    }
    p->at++;
    return 0;
}
