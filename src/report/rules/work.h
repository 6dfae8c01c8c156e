/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who did the work in a period of a recording, for reports and rules: copies, which live as long as
 * the arena. */
#ifndef BEAMTOP_REPORT_RULES_WORK_H
#define BEAMTOP_REPORT_RULES_WORK_H

#include "beamtop/base/arena.h"
#include "beamtop/recording/recording.h"

enum owner_sort {
    BY_APPLICATION,
    BY_SUPERVISOR,
    BY_MODULE,
    BY_NAME,
    BY_LABEL,
    BY_KIN,
    OWNER_SORTS
};
extern const char *const owner_sort_keys[OWNER_SORTS]; /* "application" */

struct owner_list {
    const struct period_owner *items;
    size_t n;
};

void work_take_owners(struct arena *a, struct recording *r, int64_t from, int64_t to,
                      struct owner_list out[OWNER_SORTS]);
void work_take_calls(struct arena *a, struct recording *r, int64_t from, int64_t to,
                     struct recorded_window *out);

#endif
