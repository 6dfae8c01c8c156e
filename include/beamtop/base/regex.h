/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PCRE2 with JIT where there is one. Its steps are counted: an item of the expression that is tried
 * once is a step, one that runs over many characters is a few. One text may take LIMIT_REGEX_STEPS,
 * many together what regex_allow() gives, so that no expression stalls the program. UTF is on with
 * invalid bytes allowed; case-insensitive when the expression has no upper-case letter ("smart
 * case"). */
#ifndef BEAMTOP_BASE_REGEX_H
#define BEAMTOP_BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"

struct regex;

/* On failure ERR_USAGE and *error_offset is the byte where the expression is wrong. */
int regex_new(struct regex **out, const char *pattern, size_t *error_offset, struct error *err);
void regex_free(struct regex *re); /* NULL is fine */

/* Allows all texts from here on so many steps together. Before the first call there is no limit. */
void regex_allow(struct regex *re, uint64_t steps);
/* True when they are used up: nothing matches until the next regex_allow(). */
bool regex_is_spent(const struct regex *re);
#define REGEX_SPENT_WHY "nested repeats such as (a+)+ try every split. Use a simpler regex"
uint64_t regex_steps(const struct regex *re); /* taken since regex_new(); for tests */

/* True on a match. A match that ran into its limits counts as none; regex_gave_up() reports it. */
bool regex_match(struct regex *re, const char *s, size_t len);
/* As above, with the first match's byte range, for highlighting. */
bool regex_find(struct regex *re, const char *s, size_t len, size_t *from, size_t *to);
bool regex_gave_up(const struct regex *re);

#endif
