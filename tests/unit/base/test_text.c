/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/text.h"

#define FFFD "\xEF\xBF\xBD"

TEST(test_graphemes)
{
    static const struct {
        const char *name, *s;
        size_t len, used;
        int width;
        bool safe;
    } rows[] = {
        {"nothing", "", 0, 0, 0, true},
        {"ascii", "ab", 2, 1, 1, true},
        {"NUL", "\0a", 2, 1, 1, false},
        {"escape", "\x1B[", 2, 1, 1, false},
        {"newline", "\r\n", 2, 1, 1, false},
        {"DEL", "\x7F", 1, 1, 1, false},
        {"C1",
         "\xC2\x9B"
         "m",
         3, 2, 1, false},
        {"accent", "\xC3\xA9x", 3, 2, 1, true},
        {"combining", "e\xCC\x81x", 4, 3, 1, true},
        {"wide", "\xE6\xBC\xA2x", 4, 3, 2, true},
        {"emoji with joiner", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB!", 12, 11, 2, true},
        {"flag", "\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xA9", 12, 8, 2, true},
        {"hangul", "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", 9, 9, 2, true},
        {"stray byte", "\xFFx", 2, 1, 1, false},
        {"overlong", "\xC0\xAF", 2, 1, 1, false},
        {"surrogate", "\xED\xA0\x80", 3, 1, 1, false},
        {"cut short", "\xE6\xBC", 2, 1, 1, false},
        {"base before a stray byte", "a\xFF", 2, 1, 1, true},
        {"bidi override",
         "\xE2\x80\xAE"
         "x",
         4, 3, 1, false},
        {"line separator", "\xE2\x80\xA8", 3, 3, 1, false},
        {"unassigned", "\xCD\xB8", 2, 2, 1, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int width;
        bool safe;
        size_t used = text_grapheme(rows[i].s, rows[i].len, &width, &safe);
        if (used != rows[i].used || width != rows[i].width || safe != rows[i].safe)
            fail_msg("%s: %zu bytes, width %d, %s", rows[i].name, used, width,
                     safe ? "safe" : "unsafe");
    }
}

/* What screens are made of is told without tables: by itself as with another character behind it.
 */
TEST(test_signs)
{
    for (int32_t cp = 0x2010; cp < 0x2700; cp++) {
        char text[8];
        int alone, before;
        bool safe_alone, safe_before;
        size_t len = text_encode(cp, text);
        size_t used = text_grapheme(text, len, &alone, &safe_alone);
        memcpy(text + len, "\xC3\xA9", 2);
        if (text_grapheme(text, len + 2, &before, &safe_before) != used || before != alone ||
            safe_before != safe_alone)
            fail_msg("U+%04X: %d, %d", (unsigned)cp, alone, before);
    }
}

TEST(test_widths_and_prefixes)
{
    static const struct {
        const char *s;
        size_t width, columns, prefix, prefix_width;
    } rows[] = {
        {"", 0, 5, 0, 0},
        {"abc", 3, 2, 2, 2},
        {"a\xE6\xBC\xA2", 3, 2, 1, 1},      /* a wide one does not go in halves */
        {"e\xCC\x81\xCC\x82x", 2, 1, 5, 1}, /* marks stay with their letter */
        {"\x1B\xFF", 2, 1, 1, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t width;
        size_t len = strlen(rows[i].s);
        size_t prefix = text_prefix(rows[i].s, len, rows[i].columns, &width);
        if (text_width(rows[i].s, len) != rows[i].width || prefix != rows[i].prefix ||
            width != rows[i].prefix_width)
            fail_msg("row %zu: width %zu, prefix %zu of width %zu", i, text_width(rows[i].s, len),
                     prefix, width);
    }
}

TEST(test_breaks_at_blanks)
{
    static const struct {
        const char *s;
        size_t columns, part, next;
    } rows[] = {
        {"", 5, 0, 0},          {"all of it", 9, 9, 9},
        {"one two", 5, 3, 4},   {"one two", 3, 3, 4},      /* the blank itself does not fit */
        {"one   two", 4, 4, 6},                            /* as many blanks as fit, none goes on */
        {"longword", 4, 4, 4},  {" lead", 3, 3, 3},        /* a blank at its begin ends no line */
        {"wide", 0, 1, 1},      {"\xE6\xBC\xA2", 1, 3, 3}, /* none fits: one goes */
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t next, part = text_break(rows[i].s, strlen(rows[i].s), rows[i].columns, &next);
        if (part != rows[i].part || next != rows[i].next)
            fail_msg("row %zu: %zu, %zu", i, part, next);
    }
}

TEST(test_made_safe)
{
    static const struct {
        const char *s, *safe, *ascii;
    } rows[] = {
        {"", "", ""},
        {"plain", "plain", "plain"},
        {"\x1B[2J\xC3\xA9\n", FFFD "[2J\xC3\xA9" FFFD, "?[2J??"},
        {"\xE2\x80\x93 \xC2\xB5s\xE2\x80\xA6", "\xE2\x80\x93 \xC2\xB5s\xE2\x80\xA6", "- us..."},
        {"e\xCC\x81\xFF", "e\xCC\x81" FFFD, "e?"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out;
        buf_init(&out, 0);
        text_put_safe(&out, rows[i].s, strlen(rows[i].s), false);
        if (strcmp(buf_cstr(&out), rows[i].safe) != 0)
            fail_msg("row %zu: \"%s\"", i, buf_cstr(&out));
        buf_reset(&out);
        text_put_safe(&out, rows[i].s, strlen(rows[i].s), true);
        if (strcmp(buf_cstr(&out), rows[i].ascii) != 0)
            fail_msg("row %zu in ASCII: \"%s\"", i, buf_cstr(&out));
        buf_clear(&out);
    }
}

static char *ascii_duration(char *out, size_t size, double seconds)
{
    return text_duration_as(out, size, seconds, true);
}

TEST(test_numbers)
{
    static const struct {
        char *(*format)(char *out, size_t size, double v);
        double v;
        const char *text;
    } rows[] = {
        {text_bytes, 0, "0 B"},
        {text_bytes, 912 * 1024.0, "912 KiB"},
        {text_bytes, 1.31 * 1024 * 1024 * 1024, "1.31 GiB"},
        {text_bytes, 1023, "1023 B"},
        {text_bytes, 1023.7, "1.00 KiB"},
        {text_bytes, 1024, "1.00 KiB"},
        {text_bytes, 10.24 * 1024, "10.2 KiB"},
        {text_bytes, 9.999 * 1024, "10.0 KiB"},
        {text_bytes, 1023.9 * 1024, "1.00 MiB"},
        {text_bytes, -2048, "-2.00 KiB"},
        {text_bytes, -0.2, "0 B"},
        {text_bytes, NAN, "\xE2\x80\x93"},
        {text_bytes, 1e30, "867361737988 EiB"},
        {text_count, 0, "0"},
        {text_count, 612, "612"},
        {text_count, 0.53, "0.5"},
        {text_count, 48211, "48.2k"},
        {text_count, 41234567, "41.2M"},
        {text_count, 999.6, "1.00k"},
        {text_count, 1234, "1.23k"},
        {text_count, -48211, "-48.2k"},
        {text_count, NAN, "\xE2\x80\x93"},
        {text_percent, 0.223, "22.3%"},
        {text_percent, 0, "0.0%"},
        {text_percent, -0.0001, "0.0%"},
        {text_percent, 1, "100%"},
        {text_percent, 0.9996, "100%"},
        {text_percent, 0.9994, "99.9%"},
        {text_percent_set, 0.02, "2%"},
        {text_percent_set, 0.01 / 100, "0.01%"},
        {text_percent_set, 0.07 / 100, "0.07%"},
        {text_percent_set, 0.125, "12.5%"},
        {text_percent, NAN, "\xE2\x80\x93"},
        {text_duration, 12 * 86400 + 4 * 3600 + 11 * 60 + 32, "12d 04:11:32"},
        {text_duration, 4 * 3600 + 11 * 60 + 32, "04:11:32"},
        {text_duration, 60, "00:01:00"},
        {text_duration, 59.7, "00:01:00"},
        {text_duration, 59.4, "59 s"},
        {text_duration, 1.5, "1.5 s"},
        {text_duration, 1, "1.0 s"},
        {text_duration, 0, "0 s"},
        {text_duration, 0.0031, "3.1 ms"},
        {text_duration, 0.9996, "1.0 s"},
        {text_duration, 41e-6, "41 \xC2\xB5s"},
        {text_duration, -1.5, "-1.5 s"},
        {text_duration, NAN, "\xE2\x80\x93"},
        {text_duration, INFINITY, "11574074074d 01:46:40"},
        {ascii_duration, 41e-6, "41 us"},
        {ascii_duration, NAN, "-"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[64];
        rows[i].format(out, sizeof(out), rows[i].v);
        if (strcmp(out, rows[i].text) != 0)
            fail_msg("%g: expected %s, found %s", rows[i].v, rows[i].text, out);
        char small[4];
        rows[i].format(small, sizeof(small), rows[i].v);
        assert_true(strlen(small) < sizeof(small));
    }
}

TEST(test_integers)
{
    static const struct {
        int64_t n;
        const char *text;
    } rows[] = {
        {0, "0"},
        {999, "999"},
        {1000, "1,000"},
        {48211, "48,211"},
        {-1234567, "-1,234,567"},
        {INT64_MIN, "-9,223,372,036,854,775,808"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[40];
        assert_string_equal(text_integer(out, sizeof(out), rows[i].n), rows[i].text);
    }
}

#define MORNING INT64_C(1769856127123456) /* 2026-01-31 10:42:07.123456 UTC */

TEST(test_times)
{
    static const struct {
        int64_t wall_us;
        long utc_offset_s;
        int digits;
        const char *time, *date_time; /* the second one is always in UTC */
    } rows[] = {
        {MORNING, 0, 0, "10:42:07", "2026-01-31T10:42:07"},
        {MORNING, 0, 3, "10:42:07.123", "2026-01-31T10:42:07.123"},
        {MORNING, 0, 6, "10:42:07.123456", "2026-01-31T10:42:07.123456"},
        {MORNING, 3600, 3, "11:42:07.123", "2026-01-31T10:42:07.123"},
        {MORNING, -11 * 3600, 0, "23:42:07", "2026-01-31T10:42:07"},
        {MORNING, 14 * 3600, 0, "00:42:07", "2026-01-31T10:42:07"},
        {0, 0, 6, "00:00:00.000000", "1970-01-01T00:00:00.000000"},
        {0, -3600, 0, "23:00:00", "1970-01-01T00:00:00"},
        {-1, 3600, 3, "", ""},
        {INT64_MIN, 0, 0, "", ""},
        {INT64_MAX, 3600, 6, "05:00:54.775807", "294247-01-10T04:00:54.775807"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[40], small[8];
        bool known = rows[i].time[0] != '\0';
        assert_true(text_time(out, sizeof out, rows[i].wall_us, rows[i].utc_offset_s,
                              rows[i].digits) == known);
        assert_string_equal(out, rows[i].time);
        assert_true(text_date_time(out, sizeof out, rows[i].wall_us, 'T', rows[i].digits) == known);
        assert_string_equal(out, rows[i].date_time);
        text_time(small, sizeof small, rows[i].wall_us, 0, rows[i].digits);
        assert_true(strlen(small) < sizeof small);
        text_date_time(small, sizeof small, rows[i].wall_us, ' ', rows[i].digits);
        assert_true(strlen(small) < sizeof small);
    }
}

TEST(test_parsing)
{
    static const struct {
        int (*parse)(const char *s, double *v);
        const char *s;
        double v; /* NaN: refused */
    } rows[] = {
        {text_parse_duration, "5s", 5},
        {text_parse_duration, "250ms", 0.25},
        {text_parse_duration, "2m", 120},
        {text_parse_duration, "1h", 3600},
        {text_parse_duration, "0.5", 0.5},
        {text_parse_duration, ".5 s", 0.5},
        {text_parse_duration, "1d", 86400},
        {text_parse_duration, "", NAN},
        {text_parse_duration, "s", NAN},
        {text_parse_duration, "-1s", NAN},
        {text_parse_duration, "1e3", NAN},
        {text_parse_duration, "1 s s", NAN},
        {text_parse_duration, "0x10", NAN},
        {text_parse_duration, "inf", NAN},
        {text_parse_duration, ".", NAN},
        {text_parse_bytes, "512KiB", 524288},
        {text_parse_bytes, "1MB", 1e6},
        {text_parse_bytes, "100", 100},
        {text_parse_bytes, "1.5 GiB", 1610612736.0},
        {text_parse_bytes, "64k", 65536},
        {text_parse_bytes, "1XB", NAN},
        {text_parse_bytes, "1,5", NAN},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double v = -1;
        int rc = rows[i].parse(rows[i].s, &v);
        bool wanted = !isnan(rows[i].v);
        if ((rc == 0) != wanted || (wanted && fabs(v - rows[i].v) > 1e-9))
            fail_msg("%s: %d %g", rows[i].s, rc, v);
    }
}

/* What is printed exactly is read again as the same. */
TEST(test_exact_sizes)
{
    static const struct {
        double bytes;
        const char *text;
    } rows[] = {{0, "0"},
                {1023, "1023"},
                {1024, "1KiB"},
                {4097, "4097"},
                {1536 * 1024, "1536KiB"},
                {1073741824, "1GiB"},
                {64 * 1073741824.0, "64GiB"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[32];
        double again = -1;
        assert_string_equal(text_bytes_exact(text, sizeof text, rows[i].bytes), rows[i].text);
        assert_int_equal(text_parse_bytes(text, &again), 0);
        assert_true(again == rows[i].bytes);
    }
}
