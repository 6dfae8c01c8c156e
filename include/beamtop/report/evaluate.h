/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Findings: what a period of a recording says should be done. Each rule is a row of RULE_LIST: a
 * condition over the period, the evidence with its numbers, what to do, its confidence, and what
 * would rule it out. A live screen records into memory (path ":memory:") and asks the same rules.
 * One thread. */
#ifndef BEAMTOP_REPORT_EVALUATE_H
#define BEAMTOP_REPORT_EVALUATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/model/finding.h"
#include "beamtop/recording/recording.h"

/* What a rule is, for documents and help. */
struct rule_info {
    const char *key, *title, *help;
    /* What must have been recorded: "system", "owners", "calls", "facts", "samples", "spans". */
    const char *needs;
};
extern const struct rule_info *const rule_list[]; /* NULL ends */

/* Judges all rules over the ticks from..to (inclusive). Fewer than 3 ticks: everything is not
 * known. */
int findings_evaluate(struct findings *out, struct recording *r, int64_t from, int64_t to,
                      struct error *err);
/* The same for a period after another: a finding of `before` (NULL: none) stays until its number
 * is clearly below the limit. Leaves out trends shorter than trend_s seconds; without a culprit,
 * than twice that. */
int findings_evaluate_after(struct findings *out, const struct findings *before, double trend_s,
                            struct recording *r, int64_t from, int64_t to, struct error *err);
void findings_clear(struct findings *f);
/* Why that rule could not be judged; NULL: it was. */
const char *findings_not_evaluated(const struct findings *f, const char *rule);
/* True for the finding's own rule, and those of findings with its cause that it has taken in. */
bool finding_has_rule(const struct finding *f, const char *key);

#endif
