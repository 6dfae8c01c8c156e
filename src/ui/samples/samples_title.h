/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The title of the view of samples. */
#ifndef BEAMTOP_UI_SAMPLES_SAMPLES_TITLE_H
#define BEAMTOP_UI_SAMPLES_SAMPLES_TITLE_H

#include <stdbool.h>

#include "beamtop/model/samples.h"
#include "ui/widgets/page.h"

/* The phase, counts and costs of a run, as far as there is room. */
void samples_title(struct view_page *page, const struct samples_log *log, bool recorded,
                   int columns);
/* Why there are no rows. log: NULL: nothing was sampled; from_outside: what is shown is known only
 * of samples from outside. */
void samples_empty(struct view_page *page, const struct samples_log *log, bool from_outside);

#endif
