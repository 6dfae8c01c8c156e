/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a term looks like without what is in it: types and sizes. */
#ifndef BEAMTOP_OUTPUT_SHAPE_H
#define BEAMTOP_OUTPUT_SHAPE_H

#include <stdbool.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/term.h"

/*
 * Appends the shape of a checked term: "{atom, binary:16, list:3, map:2, {integer, pid}}". Atoms
 * are left out too. Tuples are entered, a few levels and elements of them; nothing else is. cuts:
 * the term has been cut on the target (docs/tracing.md), and says where by itself. */
void shape_put(struct buf *out, struct slice term, bool cuts);

#endif
