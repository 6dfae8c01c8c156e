/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who did the work in a period of a recording, and what its facts say, for reports and rules. */
#ifndef BEAMTOP_REPORT_RULES_WORK_H
#define BEAMTOP_REPORT_RULES_WORK_H

#include <jansson.h>

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

/* Copies, which live as long as the arena. */
void work_take_owners(struct arena *a, struct recording *r, int64_t from, int64_t to,
                      struct owner_list out[OWNER_SORTS]);
void work_take_calls(struct arena *a, struct recording *r, int64_t from, int64_t to,
                     struct recorded_window *out);

/* ---- facts: JSON as the node's answers have it (docs/recording.md) */

/* The last one at or before a tick, the caller's to decref; NULL: not recorded. */
json_t *fact_at(struct recording *r, const char *key, int64_t tick);
/* Numbers of a JSON object; NaN where there is none. Texts: "" where there is none. */
double fact_number(const json_t *object, const char *key);
const char *fact_text(const json_t *object, const char *key);
/* The row of that process among its `processes`; NULL: there is none. */
const json_t *fact_process(const json_t *fact, struct slice pid);

#endif
