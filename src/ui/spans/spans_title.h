/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The title of the view of causal spans. */
#ifndef BEAMTOP_UI_SPANS_SPANS_TITLE_H
#define BEAMTOP_UI_SPANS_SPANS_TITLE_H

#include "beamtop/ui/keymap.h"
#include "beamtop/trace/spans_rows.h"
#include "ui/widgets/page.h"

/* The phase, counts and flaws of a run, as far as there is room, and in the note what its mode
 * cannot know. sum: where its parts are shown, else NULL. */
void spans_title(struct view_page *page, const struct spans_run *run, const struct spans_sum *sum,
                 bool recorded, int columns);
/* Why there are no rows. run NULL: nothing was captured. */
void spans_empty(struct view_page *page, const struct spans_run *run);

#endif
