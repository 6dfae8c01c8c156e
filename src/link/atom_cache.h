/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The atom cache of a connection, one for each direction: a message says in its header which atoms
 * its terms use, and new ones with their text; the terms have a number of two bytes for each.
 * Nobody else sees that: what came is expanded to plain terms, what leaves is packed from them.
 * Bytes in, bytes out. Source: OTP, erts/doc "External Term Format", "Distribution Header".
 *
 * Both ends hold 2,048 atoms of at most 255 characters: 2 MiB at most here, allocated as they come.
 * A message whose header was not taken, or which was packed and not sent, leaves the two ends
 * different for good: the connection must end then. */
#ifndef BEAMTOP_LINK_ATOM_CACHE_H
#define BEAMTOP_LINK_ATOM_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"

struct atom_cache;

struct atom_cache *atom_cache_new(void);
void atom_cache_free(struct atom_cache *c); /* NULL is fine */

/* ---- inbound */

/*
 * Takes the header that a message starts with. *used gets its bytes, 0 when it goes on behind
 * `len`: call again with more. ERR_FORMAT: not such a header, an atom that is none, or a place of
 * the cache where none is. */
int atom_cache_take(struct atom_cache *c, const uint8_t *bytes, size_t len, size_t *used,
                    struct error *err);
/*
 * Checks a term of that message as etf_check does, and appends it to `out` as a plain one, with
 * version byte. *used gets its bytes. ERR_LIMIT with out->overflow set: it does not fit there. */
int atom_cache_expand(struct atom_cache *c, const uint8_t *bytes, size_t len, size_t *used,
                      struct buf *out, struct error *err);

/* ---- outbound */

/* A whole frame, as control.h makes them, with header and packed terms. Borrowed until the next. */
const struct buf *atom_cache_pack(struct atom_cache *c, const struct buf *frame);

#endif
