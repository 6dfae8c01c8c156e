/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What facts of a recording say: JSON as the node's answers have it (docs/recording.md). */
#ifndef BEAMTOP_REPORT_RULES_FACT_H
#define BEAMTOP_REPORT_RULES_FACT_H

#include <jansson.h>

#include "beamtop/base/slice.h"
#include "beamtop/recording/recording.h"

/* The last one at or before a tick, the caller's to decref; NULL: not recorded. */
json_t *fact_at(struct recording *r, const char *key, int64_t tick);
/* Numbers of a JSON object; NaN where there is none. Texts: "" where there is none. */
double fact_number(const json_t *object, const char *key);
const char *fact_text(const json_t *object, const char *key);
/* The row of that process among its `processes`; NULL: there is none. */
const json_t *fact_process(const json_t *fact, struct slice pid);

#endif
