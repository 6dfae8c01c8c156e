/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules on schedulers that do not yield: what a call that each of them must answer waited, and
 * dirty I/O schedulers of which none is free. */
#include <math.h>

#include "beamtop/base/text.h"
#include "report/rules/rules_internal.h"

/* ms. A busy machine keeps a scheduler from its core for a quarter of a second; code that yields
   never needs a second. */
#define NOTED 500.0
#define LONG 1000.0
#define VERY_LONG 5000.0
/* A host with ten threads ready for each CPU kept a scheduler from one for 7 seconds. */
#define LONGER_THAN_A_HOST 20000.0
/* ms of each tick on average: it happens again and again. */
#define OFTEN 100.0
#define VERY_OFTEN 250.0

/* Of the time in which the schedulers were ready to run, the share without a CPU: from there on
   the host may be what kept one from answering. */
#define STARVED 0.25

/* excused: by what the host may have done. */
static enum finding_severity severity_of(const struct period_stats *late, bool excused)
{
    if (excused)
        return late->max >= LONGER_THAN_A_HOST ? FINDING_LOOK : FINDING_NOTE;
    if (late->max >= VERY_LONG || late->mean >= VERY_OFTEN)
        return FINDING_ACT;
    return late->max >= LONG || late->mean >= OFTEN ? FINDING_LOOK : FINDING_NOTE;
}

/* "Scheduler 2" where it was always the same. */
static const char *scheduler_text(struct judge *j, const struct period_stats *id)
{
    if (id->n > 0 && id->min >= id->max)
        return judge_text(j, "Scheduler %.0f", id->max);
    return "A scheduler";
}

void judge_late_scheduler(struct judge *j)
{
    struct period_stats late = judge_stats(j, "late_ms"), id = judge_stats(j, "late_scheduler");
    if (late.n == 0) {
        judge_unknown(j, "how long schedulers took to answer was not recorded");
        return;
    }
    if (late.max < NOTED)
        return;
    bool comes; /* soon it is known whether the host lacked CPUs */
    double without = judge_without_cpu(j, &comes);
    bool starved = without >= STARVED; /* not when it is NaN */
    struct finding *f = judge_find(j, severity_of(&late, starved || comes), late.max, NOTED);
    const char *longest = judge_duration(j, late.max / 1000);
    f->title = judge_text(j, "%s did not yield for %s", scheduler_text(j, &id), longest);
    f->action = "Find the NIF or BIF that does not yield, on the node's host: beamtop pstack NODE "
                "--all, or beamtop sample NODE. It is a comparison, hash or copy of a very large "
                "term, or native code that should run on a dirty scheduler. `+S` does not help: "
                "whatever waits for all schedulers waits for this one";
    f->ruled_out_if = "The host was overloaded or suspended at that time: then the interval "
                      "between ticks is longer too";
    judge_evidence(j, f, "late_ms_max", late.max, "ms", "longest wait for a scheduler: %s",
                   longest);
    judge_evidence(j, f, "late_ms_p95", late.p95, "ms",
                   "wait for a scheduler: %s (p95, %lld ticks)", judge_duration(j, late.p95 / 1000),
                   (long long)late.n);
    if (id.n > 0)
        judge_evidence(j, f, "late_scheduler", id.max, "",
                       "schedulers that did not answer: %.0f to %.0f", id.min, id.max);
    if (starved)
        judge_tell_without_cpu(j, f, without);
}

/* ---- dirty I/O schedulers */

/* Of the time of all of them, while all are busy: ticks read the counters one after the other. */
#define NONE_FREE 0.99
#define BLOCKED_S 5.0
#define BLOCKED_LONG_S 30.0

/* "2023-11-14 22:13:25 UTC": before the first tick of it. */
static const char *began_text(struct judge *j, const struct period_run *run)
{
    char text[40];
    int64_t before = recording_tick_before(j->recording, run->from);
    int64_t us = recording_tick_wall_us(j->recording, before > 0 ? before : run->from);
    return text_date_time(text, sizeof text, us, ' ', 0) ? judge_text(j, "%s UTC", text) : "–";
}

void judge_blocked_io(struct judge *j)
{
    double n = judge_node(j, "dirty_io_schedulers");
    struct period_stats use = judge_stats(j, "dirty_io_utilisation");
    if (isnan(use.mean)) {
        judge_unknown(j, "the utilisation of the dirty I/O schedulers was not recorded");
        return;
    }
    struct period_run run =
        recording_longest(j->recording, "dirty_io_utilisation", j->from, j->to, NONE_FREE);
    if (run.seconds < judge_limit(j, BLOCKED_S))
        return;
    bool lasts = recording_tick_after(j->recording, run.to) <= run.to || run.to >= j->to;
    struct finding *f = judge_find(j, run.seconds >= BLOCKED_LONG_S ? FINDING_ACT : FINDING_LOOK,
                                   run.seconds, BLOCKED_S);
    const char *lasted = judge_duration(j, run.seconds);
    f->title = judge_text(j, "All %sdirty I/O schedulers %s blocked%s%s",
                          isnan(n) ? "" : judge_text(j, "%.0f ", n), lasts ? "are" : "were",
                          lasts ? " since " : " for ", lasts ? began_text(j, &run) : lasted);
    f->action = "Find the file or device that they wait for, on the node's host: beamtop pstack "
                "NODE --all shows what each of them does. Until they are free, whatever reads or "
                "writes files in the VM waits, code loading too";
    f->ruled_out_if = "Many processes read and write files, and each call is quick: then the load "
                      "needs more dirty I/O schedulers (+SDio)";
    judge_evidence(j, f, "blocked_s", run.seconds, "s",
                   "no dirty I/O scheduler was free: for %s, since %s", lasted,
                   began_text(j, &run));
    struct period_stats queue = {0};
    struct error ignored = {0};
    if (recording_stats(j->recording, "run_queue_dirty_io", run.from, run.to, &queue, &ignored) ==
            0 &&
        !isnan(queue.max))
        judge_evidence(j, f, "run_queue_dirty_io_max", queue.max, "",
                       "processes that waited for one of them: %.0f (max)", queue.max);
}
