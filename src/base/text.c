/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/text.h"

#include <string.h>
#include <utf8proc.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"

#define REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

size_t text_decode(const char *s, size_t len, int32_t *codepoint)
{
    if (len == 0)
        return 0;
    const uint8_t *p = (const uint8_t *)s;
    if (p[0] < 0x80) {
        *codepoint = p[0];
        return 1;
    }
    utf8proc_ssize_t n = utf8proc_iterate(p, len < 4 ? (utf8proc_ssize_t)len : 4, codepoint);
    return n > 0 ? (size_t)n : 0;
}

bool text_ends_with(const char *s, const char *end)
{
    size_t len = strlen(s), n = strlen(end);
    return len >= n && strcmp(s + len - n, end) == 0;
}

bool text_is_number(const char *s)
{
    return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

size_t text_encode(int32_t codepoint, char out[4])
{
    uint8_t bytes[4];
    utf8proc_ssize_t n = utf8proc_encode_char(codepoint, bytes);
    for (utf8proc_ssize_t i = 0; i < n; i++)
        out[i] = (char)bytes[i];
    return (size_t)n;
}

bool text_is_utf8(const char *s, size_t len)
{
    int32_t cp;
    for (size_t at = 0; at < len;) {
        size_t n = text_decode(s + at, len - at, &cp);
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

bool text_is_upper(int32_t codepoint)
{
    return utf8proc_category(codepoint) == UTF8PROC_CATEGORY_LU;
}

bool text_is_letter(int32_t codepoint)
{
    utf8proc_category_t category = utf8proc_category(codepoint);
    return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool text_is_mark(int32_t codepoint)
{
    utf8proc_category_t category = utf8proc_category(codepoint);
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC;
}

/* Characters that steer a terminal or the direction of text, and those without a known width. */
static bool is_unsafe(int32_t cp)
{
    static const struct {
        int32_t first, last;
    } ranges[] = {
        {0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C}, {0x200E, 0x200F},
        {0x2028, 0x202E}, {0x2066, 0x2069}, {0xFFF9, 0xFFFB}, {0xE0001, 0xE0001},
    };
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
        if (cp >= ranges[i].first && cp <= ranges[i].last)
            return true;
    return utf8proc_category(cp) == UTF8PROC_CATEGORY_CN;
}

static bool is_regional_indicator(int32_t cp)
{
    return cp >= 0x1F1E6 && cp <= 0x1F1FF;
}

static size_t unsafe_grapheme(size_t len, int *width, bool *safe)
{
    *width = 1;
    *safe = false;
    return len;
}

static bool is_plain_byte(char c)
{
    return c >= 0x20 && c < 0x7F;
}

/* Whether its first byte is a character by itself. */
static bool is_plain_run(const char *s, size_t len)
{
    return is_plain_byte(s[0]) && (len == 1 || is_plain_byte(s[1]));
}

/* Bytes of a character that is one column wide, if none that joins it follows: of ASCII, lines,
 * blocks and shapes up to U+25CF, and the other signs that screens are made of. 0: another. */
static size_t sign_length(const char *s, size_t len)
{
    static const char *const signs[] = {"\xC2\xB7", "\xC2\xB5", "\xE2\x80\xA6", "\xE2\x80\x93"};
    if (len == 0 || is_plain_byte(s[0]))
        return len > 0;
    const uint8_t *p = (const uint8_t *)s;
    if (len >= 3 && p[0] == 0xE2 && (p[2] & 0xC0) == 0x80 &&
        ((p[1] >= 0x94 && p[1] <= 0x96) || (p[1] == 0x97 && p[2] <= 0x8F)))
        return 3;
    for (size_t i = 0; i < ARRAY_LEN(signs); i++)
        if (len >= strlen(signs[i]) && memcmp(s, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    return 0;
}

size_t text_grapheme(const char *s, size_t len, int *width, bool *safe)
{
    *width = 0;
    *safe = true;
    if (len == 0)
        return 0;
    if (is_plain_run(s, len)) {
        *width = 1;
        return 1;
    }
    const size_t sign = sign_length(s, len);
    if (sign > 0 && (sign == len || sign_length(s + sign, len - sign) > 0)) {
        *width = 1;
        return sign;
    }
    int32_t last;
    size_t used = text_decode(s, len, &last);
    if (used == 0)
        return unsafe_grapheme(1, width, safe);
    if (is_unsafe(last))
        return unsafe_grapheme(used, width, safe);
    *width = utf8proc_charwidth(last);
    utf8proc_int32_t state = 0;
    while (used < len) {
        int32_t next;
        size_t n = text_decode(s + used, len - used, &next);
        if (n == 0 || utf8proc_grapheme_break_stateful(last, next, &state) || is_unsafe(next))
            break;
        int w = utf8proc_charwidth(next);
        if (is_regional_indicator(last) && is_regional_indicator(next))
            w = 2; /* a pair is one flag, drawn as wide as an emoji */
        if (w > *width)
            *width = w;
        used += n;
        last = next;
    }
    return used;
}

size_t text_width(const char *s, size_t len)
{
    size_t columns = 0;
    for (size_t at = 0; at < len;) {
        int width = 1;
        bool safe;
        at += is_plain_run(s + at, len - at) ? 1 : text_grapheme(s + at, len - at, &width, &safe);
        columns += (size_t)width;
    }
    return columns;
}

int text_columns(const char *s)
{
    return (int)text_width(s, strlen(s));
}

size_t text_prefix(const char *s, size_t len, size_t columns, size_t *width)
{
    size_t at = 0;
    *width = 0;
    while (at < len) {
        int w;
        bool safe;
        size_t n = text_grapheme(s + at, len - at, &w, &safe);
        if (*width + (size_t)w > columns)
            break;
        *width += (size_t)w;
        at += n;
    }
    return at;
}

size_t text_break(const char *s, size_t len, size_t columns, size_t *next)
{
    int one;
    bool safe;
    size_t width, part = text_prefix(s, len, columns, &width), blank = part;
    if (part == 0 && len > 0)
        part = text_grapheme(s, len, &one, &safe);
    else if (part < len) {
        while (blank > 0 && s[blank] != ' ')
            blank--;
        part = blank > 0 ? blank : part;
    }
    *next = part;
    while (*next < len && s[*next] == ' ')
        (*next)++;
    return part;
}

char text_ascii(const char *s, size_t len)
{
    static const struct {
        int32_t codepoint;
        char ascii;
    } stand_ins[] = {
        {0x00A0, ' '}, {0x00B5, 'u'}, {0x00B7, '.'}, {0x00D7, 'x'}, {0x03BC, 'u'},  {0x2010, '-'},
        {0x2011, '-'}, {0x2012, '-'}, {0x2013, '-'}, {0x2014, '-'}, {0x2018, '\''}, {0x2019, '\''},
        {0x201C, '"'}, {0x201D, '"'}, {0x2022, '*'}, {0x2026, '.'}, {0x2190, '<'},  {0x2191, '^'},
        {0x2192, '>'}, {0x2193, 'v'}, {0x2212, '-'}, {0x2500, '-'}, {0x2502, '|'},  {0x25B2, '^'},
        {0x25B6, '>'}, {0x25B8, '>'}, {0x25BC, 'v'}, {0x25BE, 'v'},
    };
    int32_t cp;
    if (text_decode(s, len, &cp) == 0)
        return '?';
    if (cp < 0x80)
        return is_plain_byte((char)cp) ? (char)cp : '?';
    for (size_t i = 0; i < ARRAY_LEN(stand_ins); i++)
        if (stand_ins[i].codepoint == cp)
            return stand_ins[i].ascii;
    return '?';
}

/* One full stop would end a sentence, not mark an omission. */
static bool is_ellipsis(const char *s, size_t n)
{
    static const char mark[] = "\xE2\x80\xA6";
    return n == strlen(mark) && memcmp(s, mark, n) == 0;
}

void text_put_safe(struct buf *out, const char *s, size_t len, bool ascii)
{
    size_t run = 0; /* where the bytes that go out unchanged begin */
    if (len == 0)
        return; /* s may be NULL */
    for (size_t at = 0; at < len;) {
        int width;
        bool safe;
        size_t n = text_grapheme(s + at, len - at, &width, &safe);
        if (!safe || (ascii && !is_plain_byte(s[at])) || (ascii && n > 1)) {
            buf_put(out, s + run, at - run);
            if (ascii && is_ellipsis(s + at, n))
                buf_puts(out, "...");
            else if (ascii)
                buf_put_u8(out, safe ? (uint8_t)text_ascii(s + at, n) : '?');
            else
                buf_puts(out, REPLACEMENT);
            run = at + n;
        }
        at += n;
    }
    buf_put(out, s + run, len - run);
}

uint64_t text_identity(const char *s, size_t len)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 1099511628211u;
    return h ? h : 1;
}

void text_put_html(struct buf *out, const char *s, size_t len)
{
    static const struct {
        char c;
        const char *name;
    } names[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    struct buf safe;
    buf_init(&safe, 0);
    text_put_safe(&safe, s, len, false);
    for (size_t i = 0; i < safe.len; i++) {
        const char *name = NULL;
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (names[k].c == (char)safe.data[i])
                name = names[k].name;
        if (name)
            buf_puts(out, name);
        else
            buf_put_u8(out, safe.data[i]);
    }
    buf_clear(&safe);
}

static bool is_of_file_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("-_.@", c);
}

void text_put_file_name(struct buf *out, const char *s)
{
    for (size_t i = 0; s[i] && i < 100; i++)
        buf_put_u8(out, (uint8_t)(is_of_file_name(s[i]) ? s[i] : '_'));
}
