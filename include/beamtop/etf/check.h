/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bounded walk over bytes from outside. Nothing else reads a term before this has passed it.
 * Iterative: a hostile depth costs no stack. */
#ifndef BEAMTOP_ETF_CHECK_H
#define BEAMTOP_ETF_CHECK_H

#include <stdbool.h>
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

/*
 * The same walk for who writes the term again with other atoms: it says where they are, nodes of
 * pids among them, and where funs are, since the size of a fun counts its atoms. Offsets are of
 * `bytes`. An error of on_atom ends the walk. */
struct etf_atoms {
    void *arg;
    bool refs; /* ATOM_CACHE_REF is an atom, too; else an error */
    int (*on_atom)(void *arg, size_t at, size_t len, struct error *err); /* tag included */
    size_t (*on_fun)(void *arg, size_t at); /* of its size; the value goes to on_fun_end */
    void (*on_fun_end)(void *arg, size_t mark, size_t end);
};
int etf_check_atoms(const uint8_t *bytes, size_t len, const struct etf_atoms *atoms, size_t *used,
                    struct error *err);

#endif
