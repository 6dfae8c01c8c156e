/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Golden screens: text and styles of a canvas, compared with a file of tests/screen/golden. */
#ifndef TESTS_SCREEN_GOLDEN_H
#define TESTS_SCREEN_GOLDEN_H

#include "beamtop/base/buf.h"
#include "beamtop/ui/canvas.h"

/* Its lines without the blanks at their ends, then a letter for the style of each cell. */
void golden_dump(const struct canvas *c, struct buf *out);
/* Fails and shows what differs; BEAMTOP_GOLDEN=update writes the file anew instead. */
void golden_compare(const char *name, struct buf *out);

#endif
