/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mistake in a text that a person wrote, shown under the byte where it is. */
#ifndef BEAMTOP_APP_CLI_MISTAKE_H
#define BEAMTOP_APP_CLI_MISTAKE_H

#include <stddef.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"

/* Three lines: the mistake, the text, a caret. Without the last two when the text has
 * many lines. */
void mistake_put(struct buf *out, const char *text, size_t offset, const struct error *err);
void mistake_print(const char *text, size_t offset, const struct error *err); /* to stderr */

#endif
