/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header's first line: the node, its connection, the recording, the cost. */
#ifndef BEAMTOP_UI_SCREEN_HEADER_FIRST_H
#define BEAMTOP_UI_SCREEN_HEADER_FIRST_H

#include "beamtop/ui/header.h"

#define HEADER_GAP 2 /* columns between what stands side by side, at least */

void header_draw_first(const struct model *m, const struct header_state *state, struct canvas *c,
                       struct rect r);

#endif
