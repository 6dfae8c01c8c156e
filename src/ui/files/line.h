/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A line of configuration as words with their places. */
#ifndef BEAMTOP_UI_FILES_LINE_H
#define BEAMTOP_UI_FILES_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/slice.h"

struct line {
    char *words[LIMIT_CONFIG_WORDS + 1]; /* NUL-terminated; NULL beyond the last */
    size_t offset[LIMIT_CONFIG_WORDS];   /* of each word's first byte in the source */
    size_t len;
    char *text; /* owned: what the words point into */
};

/*
 * Parts s at blanks. Quotes keep blanks together; a # at the start of the line or as a word begins
 * a comment. Returns NULL, or what is wrong at byte *bad; line_clear is fine in both cases. */
const char *line_split(struct line *out, const char *s, size_t len, size_t *bad);
void line_clear(struct line *l);
/* The line of a text that begins at *at, without its end; *at moves behind it. False: none does. */
bool line_next(struct slice text, size_t *at, struct slice *line);

#endif
