/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/etf/term.h"

uint32_t etf_be(const uint8_t *p, size_t width)
{
    uint32_t v = 0;
    for (size_t i = 0; i < width; i++)
        v = v << 8 | p[i];
    return v;
}

double etf_new_float(const uint8_t *p)
{
    uint64_t bits = (uint64_t)etf_be(p, 4) << 32 | etf_be(p + 4, 4);
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static size_t digits_at(const char *s)
{
    return strspn(s, "0123456789");
}

/* [-]D.DDDe[+-]DD, nothing else: strtod by itself would take hexadecimal, spaces and "inf". */
static bool has_float_form(const char *s)
{
    s += *s == '-' || *s == '+';
    size_t n = digits_at(s);
    if (n == 0 || s[n] != '.')
        return false;
    s += n + 1;
    n = digits_at(s);
    if (n == 0 || (s[n] != 'e' && s[n] != 'E'))
        return false;
    s += n + 1;
    s += *s == '-' || *s == '+';
    n = digits_at(s);
    return n > 0 && s[n] == '\0';
}

bool etf_old_float(const uint8_t *p, double *v)
{
    char text[ETF_OLD_FLOAT_BYTES + 1];
    memcpy(text, p, ETF_OLD_FLOAT_BYTES);
    text[ETF_OLD_FLOAT_BYTES] = '\0';
    if (!has_float_form(text))
        return false;
    *v = strtod(text, NULL);
    return isfinite(*v);
}

bool etf_is_atom_tag(uint8_t tag)
{
    return tag == ETF_SMALL_ATOM_UTF8 || tag == ETF_ATOM_UTF8 || tag == ETF_SMALL_ATOM_LATIN1 ||
           tag == ETF_ATOM_LATIN1;
}

size_t etf_atom_at(const uint8_t *p, const uint8_t *end, struct slice *name)
{
    size_t there = (size_t)(end - p);
    if (there < 2 || !etf_is_atom_tag(*p))
        return 0;
    size_t width = *p == ETF_SMALL_ATOM_UTF8 || *p == ETF_SMALL_ATOM_LATIN1 ? 1 : 2;
    if (there < 1 + width || there - 1 - width < etf_be(p + 1, width))
        return 0;
    *name = (struct slice){(const char *)p + 1 + width, etf_be(p + 1, width)};
    return 1 + width + name->len;
}

bool etf_is_name_start(int32_t cp)
{
    return (cp >= 'a' && cp <= 'z') || (cp >= 0xDF && cp <= 0xFF && cp != 0xF7);
}

bool etf_is_name_character(int32_t cp)
{
    return etf_is_name_start(cp) || (cp >= 'A' && cp <= 'Z') || (cp >= '0' && cp <= '9') ||
           cp == '_' || cp == '@' || (cp >= 0xC0 && cp <= 0xDE && cp != 0xD7);
}
