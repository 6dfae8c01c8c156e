/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process waits for which, as the fact `waited_for` knows it. */
#include <math.h>

#include "rules_internal.h"

#define CROWD 10   /* processes that wait for one */
#define STANDS_S 5 /* as long as a call waits by default */

/* NULL: it is said why not. */
static const json_t *waits_of(struct judge *j, const char *list)
{
    const json_t *fact = judge_fact(j, "waited_for"), *rows = json_object_get(fact, list);
    if (fact && !rows)
        judge_unknown(j, "who waits for which process has not been looked at for 15 min");
    return rows;
}

/* ---- one process */

static void find_crowd(struct judge *j, const json_t *row, double waiters)
{
    struct finding *f = judge_find(j, FINDING_LOOK, waiters, CROWD);
    const double behind = fact_number(row, "behind"), for_s = fact_number(row, "for_s");
    const double queue = fact_number(row, "message_queue_len");
    const char *kind = fact_text(row, "kind"), *does = fact_text(row, "function");
    f->title = judge_text(j, "%s is waited for by %s processes", judge_process_of(j, row),
                          judge_number(j, waiters));
    judge_about(f, judge_text(j, "%s", fact_text(row, "pid")), CAUSE_KNOWN);
    f->view = "waits";
    f->action = "See who waits, and what for (beamtop waits NODE). A pool: make it larger, or give "
                "back its workers sooner. A server: split its work, or reply later";
    f->ruled_out_if = "Waiting is their work: they ask for jobs, and there are none";
    judge_evidence(j, f, "waiters", waiters, "", "waiting for it directly: %s",
                   judge_number(j, waiters));
    if (behind > waiters)
        judge_evidence(j, f, "behind", behind, "", "waiting behind these too: %s in all",
                       judge_number(j, behind));
    judge_evidence(j, f, "for_s", for_s, "s", "at each look: for %s", judge_seconds(j, for_s));
    if (!isnan(queue))
        judge_evidence(j, f, "message_queue_len", queue, "", "its message queue: %s",
                       judge_number(j, queue));
    if (*does)
        judge_evidence(j, f, "function", NAN, "", *kind ? "it waits itself, in %s" : "it is in %s",
                       does);
}

void judge_waited_for(struct judge *j)
{
    const json_t *row;
    size_t i;
    json_array_foreach (waits_of(j, "processes"), i, row) {
        const double waiters = fact_number(row, "waiters");
        if (waiters > judge_limit(j, CROWD) && fact_number(row, "for_s") >= STANDS_S)
            find_crowd(j, row, waiters);
    }
}

/* ---- a cycle */

static void find_deadlock(struct judge *j, const json_t *row, double for_s)
{
    struct finding *f = judge_find(j, FINDING_ACT, for_s, STANDS_S);
    const double behind = fact_number(row, "behind");
    f->title = judge_text(j, "Deadlock: %s", fact_text(row, "cycle"));
    judge_about(f, judge_text(j, "%s", fact_text(row, "pid")), CAUSE_KNOWN);
    f->view = "waits";
    f->action = "See which functions call (beamtop waits NODE). Let one of them not wait: a cast, "
                "or a reply later (noreply, gen_server:reply/2)";
    f->ruled_out_if = "It goes on by itself: the view of waits does not show it any more";
    judge_evidence(j, f, "for_s", for_s, "s", "at each look: for %s", judge_seconds(j, for_s));
    judge_evidence(j, f, "processes", fact_number(row, "processes"), "", "processes in it: %s",
                   judge_number(j, fact_number(row, "processes")));
    if (behind > 0)
        judge_evidence(j, f, "behind", behind, "", "waiting behind it: %s",
                       judge_number(j, behind));
}

void judge_deadlock(struct judge *j)
{
    const json_t *row;
    size_t i;
    json_array_foreach (waits_of(j, "deadlocks"), i, row) {
        const double for_s = fact_number(row, "for_s");
        if (for_s >= STANDS_S && *fact_text(row, "cycle"))
            find_deadlock(j, row, for_s);
    }
}
