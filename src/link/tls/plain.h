/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Erlang text in which functions stand, as a term without them. Private to the room. */
#ifndef BEAMTOP_LINK_TLS_PLAIN_H
#define BEAMTOP_LINK_TLS_PLAIN_H

#include <stddef.h>

#define PLAIN_FUN "fun" /* an atom, which no text can have: the word is reserved */

/* A copy of the same length, owned, with a NUL behind: each `fun m:f/1` and `fun(…) -> … end` is
 * that atom. */
char *plain_text(const char *text, size_t len);

#endif
