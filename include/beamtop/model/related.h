/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long lists of links and monitors, grouped: how many of each name or initial call. Pure. */
#ifndef BEAMTOP_MODEL_RELATED_H
#define BEAMTOP_MODEL_RELATED_H

#include "beamtop/model/detail.h"

#define RELATED_NAMED 20 /* what the others were started with is not asked */
#define RELATED_LISTED 5 /* of a list that is grouped */

/* Empty name: it is unknown. */
struct related_group {
    struct slice name;
    int64_t n;
};

/* The groups of the first RELATED_NAMED, in order of their first; 0: the list is short, and is
 * shown as it is. Names are borrowed. */
size_t related_groups(const struct related_list *list, struct related_group out[RELATED_NAMED]);

#endif
