/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "beamtop/base/attr.h"

#define DASH "\xE2\x80\x93" /* U+2013, where a number is unknown */
#define MICRO "\302\265s"   /* U+00B5 and s */

/* Three digits that mean something: 1.31, 48.2, 912. */
static int decimals_of(double v)
{
    if (v < 9.995)
        return 2;
    return v < 99.95 ? 1 : 0;
}

/* v, scaled down by base until it is below the next unit once rounded; *unit is its index. */
static double scale_down(double v, double base, int units, int *unit)
{
    *unit = 0;
    while (*unit < units - 1 && v >= base - 0.5) {
        v /= base;
        ++*unit;
    }
    return v;
}

char *text_bytes(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (isnan(bytes)) {
        snprintf(out, size, DASH);
        return out;
    }
    int unit;
    double v = scale_down(fabs(bytes), 1024, ARRAY_LEN(units), &unit);
    const char *sign = bytes < 0 && (unit > 0 || v >= 0.5) ? "-" : "";
    snprintf(out, size, "%s%.*f %s", sign, unit == 0 ? 0 : decimals_of(v), v, units[unit]);
    return out;
}

char *text_bytes_exact(char *out, size_t size, double bytes)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    for (; unit + 1 < ARRAY_LEN(units) && bytes != 0 && fmod(bytes, 1024) == 0; unit++)
        bytes /= 1024;
    snprintf(out, size, "%.0f%s", bytes, units[unit]);
    return out;
}

char *text_count(char *out, size_t size, double n)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};
    if (isnan(n)) {
        snprintf(out, size, DASH);
        return out;
    }
    int unit;
    double v = scale_down(fabs(n), 1000, ARRAY_LEN(units), &unit);
    int decimals = decimals_of(v);
    if (unit == 0)
        decimals = v < 9.95 && fabs(v - round(v)) >= 0.05 ? 1 : 0;
    const char *sign = n < 0 && v >= 0.05 ? "-" : "";
    snprintf(out, size, "%s%.*f%s", sign, decimals, v, units[unit]);
    return out;
}

char *text_integer(char *out, size_t size, int64_t n)
{
    char digits[24];
    uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n;
    int len = snprintf(digits, sizeof(digits), "%" PRIu64, magnitude);
    char text[32];
    size_t at = 0;
    if (n < 0)
        text[at++] = '-';
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            text[at++] = ',';
        text[at++] = digits[i];
    }
    text[at] = '\0';
    snprintf(out, size, "%s", text);
    return out;
}

char *text_percent(char *out, size_t size, double fraction)
{
    double v = fraction * 100;
    if (isnan(v))
        snprintf(out, size, DASH);
    else if (fabs(v) < 0.05)
        snprintf(out, size, "0.0%%");
    else
        snprintf(out, size, "%.*f%%", fabs(v) < 99.95 ? 1 : 0, v);
    return out;
}

char *text_percent_set(char *out, size_t size, double fraction)
{
    snprintf(out, size, "%.6g%%", fraction * 100);
    return out;
}

static void clock_form(char *out, size_t size, const char *sign, double seconds)
{
    if (seconds > 1e15)
        seconds = 1e15; /* past any meaning, and still an integer */
    uint64_t s = (uint64_t)seconds;
    uint64_t days = s / 86400;
    unsigned hours = (unsigned)(s / 3600 % 24), minutes = (unsigned)(s / 60 % 60);
    unsigned rest = (unsigned)(s % 60);
    if (days > 0)
        snprintf(out, size, "%s%" PRIu64 "d %02u:%02u:%02u", sign, days, hours, minutes, rest);
    else
        snprintf(out, size, "%s%02u:%02u:%02u", sign, hours, minutes, rest);
}

char *text_duration_as(char *out, size_t size, double seconds, bool ascii)
{
    if (isnan(seconds)) {
        snprintf(out, size, "%s", ascii ? "-" : DASH);
        return out;
    }
    const char *sign = seconds < 0 ? "-" : "";
    double v = fabs(seconds);
    if (v >= 59.5) {
        clock_form(out, size, sign, v + 0.5);
        return out;
    }
    const char *unit = "s";
    if (v > 0 && v < 0.9995e-3) {
        v *= 1e6;
        unit = ascii ? "us" : MICRO;
    } else if (v > 0 && v < 0.9995) {
        v *= 1e3;
        unit = "ms";
    }
    snprintf(out, size, "%s%.*f %s", sign, v > 0 && v < 9.95 ? 1 : 0, v, unit);
    return out;
}

char *text_duration(char *out, size_t size, double seconds)
{
    return text_duration_as(out, size, seconds, false);
}

bool text_time(char *out, size_t size, int64_t wall_us, long utc_offset_s, int digits)
{
    int s = (int)(((wall_us / 1000000 + utc_offset_s) % 86400 + 86400) % 86400);
    char fraction[16];
    out[0] = '\0';
    if (wall_us < 0)
        return false;
    snprintf(fraction, sizeof fraction, ".%06d", (int)(wall_us % 1000000));
    snprintf(out, size, "%02d:%02d:%02d%.*s", s / 3600, s / 60 % 60, s % 60,
             digits > 0 ? digits + 1 : 0, fraction);
    return true;
}

bool text_date_time(char *out, size_t size, int64_t wall_us, char between, int digits)
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm tm;
    size_t len = 0;
    if (wall_us >= 0 && gmtime_r(&seconds, &tm))
        len = strftime(out, size - 1, "%Y-%m-%d", &tm);
    if (len > 0 && out[0] == '+') /* musl's, before a year of five digits */
        memmove(out, out + 1, --len);
    out[len] = '\0';
    if (len == 0)
        return false;
    out[len] = between;
    return text_time(out + len + 1, size - len - 1, wall_us, 0, digits);
}

/* Digits with an optional fraction, whatever the locale says. Returns what follows, or NULL. */
static const char *parse_decimal(const char *s, double *value)
{
    double v = 0;
    double divisor = 1;
    int digits = 0;
    for (; *s >= '0' && *s <= '9'; s++, digits++)
        v = v * 10 + (*s - '0');
    if (*s == '.')
        for (s++; *s >= '0' && *s <= '9'; s++, digits++) {
            v = v * 10 + (*s - '0');
            divisor *= 10;
        }
    if (digits == 0 || digits > 30)
        return NULL;
    *value = v / divisor;
    while (*s == ' ')
        s++;
    return s;
}

struct unit {
    const char *name;
    double factor;
};

/* tail: may stand behind the unit; "" nothing may. */
static int parse_with_unit(const char *s, const struct unit *units, size_t n, const char *tail,
                           double *value)
{
    double v;
    const char *rest = parse_decimal(s, &v);
    if (!rest)
        return -1;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(units[i].name);
        if (strncmp(rest, units[i].name, len) != 0 || (rest[len] && strcmp(rest + len, tail) != 0))
            continue;
        *value = v * units[i].factor;
        return 0;
    }
    return -1;
}

int text_parse_count(const char *s, const char *tail, double *n)
{
    static const struct unit units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}};
    return parse_with_unit(s, units, ARRAY_LEN(units), tail, n);
}

int text_parse_duration(const char *s, double *seconds)
{
    static const struct unit units[] = {
        {"", 1},   {"s", 1},    {"ms", 1e-3}, {"us", 1e-6}, {MICRO, 1e-6},
        {"m", 60}, {"min", 60}, {"h", 3600},  {"d", 86400},
    };
    return parse_with_unit(s, units, ARRAY_LEN(units), "", seconds);
}

int text_parse_bytes(const char *s, double *bytes)
{
    static const double k = 1024;
    const struct unit units[] = {
        {"", 1},
        {"B", 1},
        {"K", k},
        {"k", k},
        {"KiB", k},
        {"kB", 1e3},
        {"KB", 1e3},
        {"M", k * k},
        {"MiB", k * k},
        {"MB", 1e6},
        {"G", k * k * k},
        {"GiB", k * k * k},
        {"GB", 1e9},
        {"T", k * k * k * k},
        {"TiB", k * k * k * k},
        {"TB", 1e12},
    };
    return parse_with_unit(s, units, ARRAY_LEN(units), "", bytes);
}
