/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading Erlang text: space, digits, characters with escapes. Private to etf/; parse.c has the
 * grammar. */
#ifndef BEAMTOP_ETF_SCAN_H
#define BEAMTOP_ETF_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"

struct scan {
    const char *start, *at, *end;
    const char *node; /* whose pids may stand in the text; NULL: none */
    unsigned depth;
    struct error *err;
};

/* Sets the error with the line and column of `at`; returns ERR_USAGE. */
int scan_fail(struct scan *p, const char *at, const char *what);
size_t scan_left(const struct scan *p);
char scan_peek(const struct scan *p); /* NUL at the end */
bool scan_peek_is(const struct scan *p, const char *s);
void scan_skip_space(struct scan *p); /* and comments */
/* After space: takes s when it is next. */
bool scan_accept(struct scan *p, const char *s);
int scan_expect(struct scan *p, const char *s, const char *what);
bool scan_is_digit(char c);
/* Digits of a base, '_' between two of them. False past 64 bits or without a digit. */
bool scan_digits(struct scan *p, unsigned base, uint64_t *value);
/* One character of a string, quoted atom or $c, escapes as Erlang has them. */
int scan_character(struct scan *p, int32_t *cp);
/* The characters up to the closing quote, as int32_t; the opening one has been taken. */
int scan_quoted(struct scan *p, char quote, struct buf *characters);

#endif
