/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bounded walk over bytes from outside. Nothing else reads a term before this has passed it.
 * Iterative: a hostile depth costs no stack. */
#ifndef BEAMTOP_ETF_CHECK_H
#define BEAMTOP_ETF_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/error.h"

/*
 * Walks one term that starts with the version byte 131 and checks that every byte of it is there,
 * that tags are known, atoms at most 255 characters, nesting at most LIMIT_TERM_DEPTH, subterms at
 * most LIMIT_TERM_NODES. *used gets the term's bytes (trailing bytes are the caller's business).
 * Returns 0, ERR_FORMAT or ERR_LIMIT, with the offset and what was expected in the text. */
int etf_check(const uint8_t *bytes, size_t len, size_t *used, struct error *err);

/* As above for a term without the version byte (inside a payload that had one). */
int etf_check_bare(const uint8_t *bytes, size_t len, size_t *used, struct error *err);

#endif
