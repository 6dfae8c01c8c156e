/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Encoding. libei's ei_x_* does the work (only src/etf/build.c includes ei.h for it). Our own terms
 * are small; running out of memory aborts. A name that cannot be an atom's (invalid UTF-8, more
 * than 255 characters) is built as `undefined`, a node's as `nonode@nohost`: callers check names
 * from outside, and one that they missed may not end the program. */
#ifndef BEAMTOP_ETF_BUILD_H
#define BEAMTOP_ETF_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/etf/term.h"

struct builder;

struct builder *builder_new(void); /* holds the version byte */
void builder_free(struct builder *b);
const uint8_t *builder_bytes(const struct builder *b, size_t *len); /* borrowed */

void build_int(struct builder *b, int64_t v);
void build_double(struct builder *b, double v);
void build_atom(struct builder *b, const char *name);
void build_atom_n(struct builder *b, const char *name, size_t len); /* UTF-8 */
void build_bool(struct builder *b, bool v);
void build_string(struct builder *b, const char *s, size_t len); /* a list of bytes */
void build_binary(struct builder *b, const void *bytes, size_t len);
/* A bit string, the first bit the highest. */
void build_bits(struct builder *b, const void *bytes, size_t bits);
void build_pid(struct builder *b, const char *node, const struct etf_pid *pid);
void build_ref(struct builder *b, const char *node, const struct etf_ref *ref);
/* `fun Module:Function/Arity`. */
void build_export(struct builder *b, const char *module, const char *function, unsigned arity);
void build_tuple(struct builder *b, size_t arity); /* then arity terms */
void build_list(struct builder *b, size_t count);  /* then count terms, then build_nil */
void build_nil(struct builder *b);
void build_map(struct builder *b, size_t pairs); /* then key, value, … */
/* What is not known is `undefined`: below 0, of no length. A text is a binary. */
void build_known_int(struct builder *b, int64_t v);
void build_known_text(struct builder *b, struct slice text);
void build_known_bool(struct builder *b, bool known, bool v);
void build_unknown(struct builder *b, size_t n); /* n of them */
/* A whole term, without version byte. */
void build_raw(struct builder *b, const uint8_t *term, size_t len);
/* What another builder holds, without its version byte. */
void build_term(struct builder *b, const struct builder *term);

#endif
