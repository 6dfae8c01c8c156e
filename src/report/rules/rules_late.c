/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule on schedulers that do not yield: what a call that each of them must answer waited. */
#include <math.h>

#include "beamtop/base/text.h"
#include "report/rules/rules_internal.h"

/* ms. A busy machine keeps a scheduler from its core for a quarter of a second; code that yields
   never needs a second. */
#define NOTED 500.0
#define LONG 1000.0
#define VERY_LONG 5000.0
/* ms of each tick on average: it happens again and again. */
#define OFTEN 100.0
#define VERY_OFTEN 250.0

/* Of the time in which the schedulers were ready to run, the share without a CPU: from there on
   the host may be what kept one from answering. */
#define STARVED 0.5

/* excused: by what the host may have done. */
static enum finding_severity severity_of(const struct period_stats *late, bool excused)
{
    if (excused)
        return late->max >= VERY_LONG ? FINDING_LOOK : FINDING_NOTE;
    if (late->max >= VERY_LONG || late->mean >= VERY_OFTEN)
        return FINDING_ACT;
    return late->max >= LONG || late->mean >= OFTEN ? FINDING_LOOK : FINDING_NOTE;
}

/* "Scheduler 2" where it was always the same. */
static const char *who(struct judge *j, const struct period_stats *id)
{
    if (id->n > 0 && id->min >= id->max)
        return judge_text(j, "Scheduler %.0f", id->max);
    return "A scheduler";
}

void judge_late_scheduler(struct judge *j)
{
    char longest[32], p95[32];
    struct period_stats late = judge_stats(j, "late_ms"), id = judge_stats(j, "late_scheduler");
    if (late.n == 0) {
        judge_unknown(j, "how long schedulers took to answer was not recorded");
        return;
    }
    if (late.max < NOTED)
        return;
    bool comes; /* in a minute it is known whether the host lacked CPUs */
    double without = judge_without_cpu(j, &comes);
    bool starved = without >= STARVED; /* not when it is NaN */
    struct finding *f =
        judge_find(j, severity_of(&late, starved || comes), judge_sure(j, late.max, NOTED));
    f->effort = EFFORT_SMALL;
    text_duration(longest, sizeof longest, late.max / 1000);
    text_duration(p95, sizeof p95, late.p95 / 1000);
    f->title = judge_text(j, "%s did not yield for %s", who(j, &id), longest);
    f->action =
        "Find the NIF or BIF that does not yield, on the node's host: beamtop pstack NODE --all, "
        "or beamtop sample NODE. It is a comparison, hash or copy of a very large "
        "term, or native code that should run on a dirty scheduler. `+S` does not help: "
        "whatever waits for all schedulers waits for this one";
    f->ruled_out_if =
        "The host was overloaded or suspended at that time: then the interval between ticks "
        "is longer too";
    judge_evidence(j, f, "late_ms_max", late.max, "ms", "longest wait for a scheduler: %s",
                   longest);
    judge_evidence(j, f, "late_ms_p95", late.p95, "ms",
                   "wait for a scheduler: %s (p95, %lld ticks)", p95, (long long)late.n);
    if (id.n > 0)
        judge_evidence(j, f, "late_scheduler", id.max, "",
                       "schedulers that did not answer: %.0f to %.0f", id.min, id.max);
    if (starved)
        judge_evidence(
            j, f, "without_cpu", without, "share",
            "schedulers were without a CPU in %s of the time when they were ready to run",
            judge_percent(j, without));
}
