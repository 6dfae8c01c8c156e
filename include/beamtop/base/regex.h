/*
 * PCRE2 with JIT where there is one, and always with match, depth and heap limits, so that an
 * expression typed by a person cannot stall the program. UTF is on with invalid bytes allowed;
 * case-insensitive when the expression has no upper-case letter ("smart case").
 */
#ifndef BEAMTOP_BASE_REGEX_H
#define BEAMTOP_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"

struct regex;

/* On failure ERR_USAGE and *error_offset is the byte where the expression is wrong. */
int regex_new(struct regex **out, const char *pattern, size_t *error_offset, struct error *err);
void regex_free(struct regex *re); /* NULL is fine */
const char *regex_pattern(const struct regex *re);

/* True on a match. A match that ran into its limits counts as none and is told by regex_gave_up. */
bool regex_match(struct regex *re, const char *s, size_t len);
/* As above, with the first match's byte range, for highlighting. */
bool regex_find(struct regex *re, const char *s, size_t len, size_t *from, size_t *to);
bool regex_gave_up(const struct regex *re);

#endif
