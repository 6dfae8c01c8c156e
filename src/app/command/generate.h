/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of the whole program for its manual and for shell completion: `beamtop
 * generate WHAT`. */
#ifndef BEAMTOP_APP_COMMAND_GENERATE_H
#define BEAMTOP_APP_COMMAND_GENERATE_H

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"

/* "mdoc-keys", "words-views", …: ERR_USAGE for a name that there is not. */
int generate_put(struct buf *out, const char *what, struct error *err);

#endif
