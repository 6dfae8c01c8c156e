/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What check, cursor and print share: readings of single fields. Private to etf/. */
#ifndef BEAMTOP_ETF_INTERNAL_H
#define BEAMTOP_ETF_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/etf/cursor.h"

enum { ETF_OLD_FLOAT_BYTES = 31 }; /* FLOAT_EXT: "%.20e" with NULs behind */

/* A big-endian number of 1 to 4 bytes. */
uint32_t etf_be(const uint8_t *p, size_t width);
double etf_new_float(const uint8_t *p); /* 8 bytes, IEEE 754 */
/* False: the 31 bytes are not a finite number. */
bool etf_old_float(const uint8_t *p, double *v);
bool etf_is_atom_tag(uint8_t tag);

/* The atom at p, tag included; its bytes on the wire, or 0 when it is none or incomplete. */
size_t etf_atom_at(const uint8_t *p, const uint8_t *end, struct slice *name);
/* Characters that an atom without quotes starts with, and goes on with. */
bool etf_is_name_start(int32_t codepoint);
bool etf_is_name_character(int32_t codepoint);

#endif
