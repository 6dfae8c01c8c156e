/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text from outside, made fit for a terminal: UTF-8, widths, safe bytes, units. Width and grapheme
 * rules are utf8proc's. Nothing here allocates except where it says so. */
#ifndef BEAMTOP_BASE_TEXT_H
#define BEAMTOP_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/*
 * Takes one character off s: returns its bytes, or 0 when s starts with none (invalid UTF-8, or len
 * is 0), and puts its code point in *codepoint. */
size_t text_decode(const char *s, size_t len, int32_t *codepoint);
/* Writes a valid code point's UTF-8 to out (4 bytes at most) and returns the bytes. */
size_t text_encode(int32_t codepoint, char out[4]);
bool text_is_utf8(const char *s, size_t len);
bool text_ends_with(const char *s, const char *end);
bool text_is_number(const char *s);                   /* digits, one at least */
bool text_is_upper(int32_t codepoint);                /* an upper-case letter */
static inline bool text_is_capital(int32_t codepoint) /* A to Z */
{
    return codepoint >= 'A' && codepoint <= 'Z';
}
static inline bool text_is_blank(char c)
{
    return c == ' ' || c == '\t';
}
bool text_is_letter(int32_t codepoint); /* of any script */
bool text_is_mark(int32_t codepoint);   /* what combines with the letter before it */

/*
 * Takes one grapheme cluster off s. Returns the bytes used (>= 1 while len > 0) and puts its
 * display width (0, 1 or 2 columns) in *width. A byte that is not UTF-8, or a control character
 * (C0, DEL, C1, bidi overrides, line separators), uses its own bytes and sets *safe to false: the
 * caller shows U+FFFD or '?' of width 1 in its place. *width is 1 then. */
size_t text_grapheme(const char *s, size_t len, int *width, bool *safe);

size_t text_width(const char *s, size_t len); /* columns once made safe */
int text_columns(const char *s);              /* the same of all of it */

/* The ASCII stand-in of a grapheme cluster: itself, '-' for a dash, 'u' for the micro sign,
 * or '?'. */
char text_ascii(const char *s, size_t len);

/* Appends s made safe: what text_grapheme calls unsafe becomes U+FFFD (or '?' when ascii),
   and anything beyond ASCII becomes its text_ascii when ascii. */
void text_put_safe(struct buf *out, const char *s, size_t len, bool ascii);
/* Safe, and as text of HTML or XML: in elements, and in attributes in either kind of quotes. */
void text_put_html(struct buf *out, const char *s, size_t len);

/* At most 100 bytes of s as a part of a file's name: "_" for all but letters, digits and "-_.@". */
void text_put_file_name(struct buf *out, const char *s);

/* The longest prefix of s whose width is at most columns; returns its bytes, *width its columns. */
size_t text_prefix(const char *s, size_t len, size_t columns, size_t *width);
/* The first line of s broken at blanks: returns its bytes, in the midst of a word that is wider
   than columns; one character at least, also where none fits. *next: where the next line begins,
   behind the blanks. */
size_t text_break(const char *s, size_t len, size_t columns, size_t *next);

uint64_t text_identity(const char *s, size_t len); /* a hash, never 0 */

/*
 * Numbers for people. Each writes at most `size` bytes with NUL and returns out. NaN prints "–"
 * ("-" in the ASCII form). They take the decimal point of LC_NUMERIC "C". */
char *text_bytes(char *out, size_t size, double bytes); /* "912 KiB", "1.31 GiB", "0 B" */
/* As text_parse_bytes() takes it, whole numbers: "1GiB", "1536MiB", "4097". */
char *text_bytes_exact(char *out, size_t size, double bytes);
char *text_count(char *out, size_t size, double n);          /* "612", "48.2k", "41.2M" */
char *text_integer(char *out, size_t size, int64_t n);       /* "48,211" */
char *text_percent(char *out, size_t size, double fraction); /* 0.223 -> "22.3%" */
/* Of what the user has set, with the digits that it needs: 0.02 -> "2%", 0.0001 -> "0.01%". */
char *text_percent_set(char *out, size_t size, double fraction);
/* "12d 04:11:32", "04:11:32", "1.5 s", "3.1 ms", "41 µs" */
char *text_duration(char *out, size_t size, double seconds);
/* The same; when ascii with "us", and "-" for NaN. */
char *text_duration_as(char *out, size_t size, double seconds, bool ascii);

/*
 * The time of day, with `digits` of the second, six at most: "10:42:07", "10:42:07.123". In UTC, or
 * as far from it as utc_offset_s says. Returns false, with "" in out: wall_us is negative. */
bool text_time(char *out, size_t size, int64_t wall_us, long utc_offset_s, int digits);
/* In UTC behind its date, `between` them: "2026-01-31T10:42:07.123". */
bool text_date_time(char *out, size_t size, int64_t wall_us, char between, int digits);

/* Parses "100", "5k", "1M", each with tail behind it or not ("/s"). Returns 0 and *n, or -1. */
int text_parse_count(const char *s, const char *tail, double *n);
/* Parses "5s", "250ms", "2m", "1h", "0.5" (seconds). Returns 0 and *seconds, or -1. */
int text_parse_duration(const char *s, double *seconds);
/* Parses "512KiB", "1MB", "100". Returns 0 and *bytes, or -1. */
int text_parse_bytes(const char *s, double *bytes);

#endif
