/* Rules over the node's own numbers: schedulers, memory, limits. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rules_internal.h"

#define MIB (1024.0 * 1024)

/* ---- schedulers */

void judge_contention(struct judge *j)
{
    struct span_stats queue = judge_stats(j, "run_queue"), use = judge_stats(j, "scheduler_use");
    if (isnan(j->schedulers)) {
        judge_unknown(j, "how many schedulers are online was not recorded");
        return;
    }
    if (!(queue.mean > j->schedulers))
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, judge_sure(j, queue.mean, j->schedulers));
    f->effort = EFFORT_LARGE;
    f->title = judge_text(j, "The run queue holds %.1f on average, with %.0f schedulers: processes wait "
                             "for a scheduler", queue.mean, j->schedulers);
    f->action = "Lessen the work of the leading owners, or give the VM more cores (+S); look at the "
                "owners' shares first: the largest is where a change pays";
    f->refute = "A mean that a few short bursts make: then p95 is high, and most ticks have an empty "
                "queue; or other programs of the host that take the cores";
    judge_evidence(j, f, "run_queue_mean", queue.mean, "", "run queue: mean %.1f", queue.mean);
    judge_evidence(j, f, "run_queue_p95", queue.p95, "", "run queue: p95 %.0f, most %.0f", queue.p95,
                   queue.max);
    judge_evidence(j, f, "schedulers_online", j->schedulers, "", "%.0f schedulers online",
                   j->schedulers);
    if (!isnan(use.mean))
        judge_evidence(j, f, "scheduler_use", use.mean, "share", "schedulers: %s in use",
                       judge_percent(j, use.mean));
}

void judge_headroom(struct judge *j)
{
    struct span_stats queue = judge_stats(j, "run_queue"), use = judge_stats(j, "scheduler_use");
    if (isnan(j->schedulers) || isnan(use.mean)) {
        judge_unknown(j, "the use of the schedulers was not recorded");
        return;
    }
    if (queue.mean > j->schedulers / 4 || queue.p95 > j->schedulers || use.mean > 0.5)
        return;
    struct finding *f = judge_find(j, FINDING_NOTE, judge_sure(j, 0.5, use.mean));
    f->title = judge_text(j, "The VM has headroom: %s of the schedulers in use, run queue %.1f on average",
                          judge_percent(j, use.mean), queue.mean);
    f->action = "When the service is slow, look outside of the VM: database, network, disk, the load "
                "generator, or one process that serialises";
    f->refute = "Work on dirty schedulers or in programs behind ports, which the normal schedulers do not "
                "show";
    judge_evidence(j, f, "scheduler_use", use.mean, "share", "schedulers: %s in use, most %s",
                   judge_percent(j, use.mean), judge_percent(j, use.max));
    judge_evidence(j, f, "run_queue_mean", queue.mean, "", "run queue: mean %.2f, p95 %.0f, with %.0f "
                   "schedulers", queue.mean, queue.p95, j->schedulers);
}

void judge_one_scheduler(struct judge *j)
{
    struct span_stats queue = judge_stats(j, "run_queue");
    struct span_stats one = judge_stats(j, "run_queue_highest");
    if (isnan(one.mean)) {
        judge_unknown(j, "the longest queue was not recorded");
        return;
    }
    if (j->schedulers < 2 || one.mean < 4 || one.mean < 0.7 * queue.mean)
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, judge_sure(j, one.mean / queue.mean, 0.7));
    f->effort = EFFORT_SMALL;
    f->title = judge_text(j, "One scheduler's queue holds %.1f of the %.1f that wait", one.mean,
                          queue.mean);
    f->action = "Look at the schedulers for the one that is busy: a process bound to it, one that is "
                "of priority high or max, or a long NIF keeps its queue from being taken; start "
                "without +sbt and with +S of the cores that are there";
    f->refute = "Queues that are even at the next look: the VM moves work every few thousand reductions";
    judge_evidence(j, f, "run_queue_highest_mean", one.mean, "", "longest single queue: mean %.1f, most "
                   "%.0f", one.mean, one.max);
    judge_evidence(j, f, "run_queue_mean", queue.mean, "", "all queues: mean %.1f", queue.mean);
    judge_evidence(j, f, "schedulers_online", j->schedulers, "", "%.0f schedulers online",
                   j->schedulers);
}

/* ---- growth */

struct line {
    double first, last, fit; /* by the line that fits best; fit: -1..1 */
};

static struct line line_of(const struct judge *j, const char *key)
{
    double v[512], x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    size_t n = recording_series(j->recording, key, j->from, j->to, v, 512);
    struct line out = {NAN, NAN, 0};
    for (size_t i = 0; i < n; i++) {
        double at = (double)i, value = v[i] - v[0];
        x += at, y += value, xx += at * at, yy += value * value, xy += at * value;
    }
    double count = (double)n, varx = count * xx - x * x, vary = count * yy - y * y;
    if (n < 3 || varx <= 0)
        return out;
    double slope = (count * xy - x * y) / varx;
    out.first = v[0] + (y - slope * x) / count;
    out.last = out.first + slope * (count - 1);
    out.fit = vary > 0 ? (count * xy - x * y) / sqrt(varx * vary) : 0;
    return out;
}

static const struct {
    const char *key, *name, *action;
    const char *fact, *list; /* that tells who has it; NULL: none does */
} memory_types[] = {
    {"memory_processes_bytes", "processes",
     "Look at the processes that grow: their mailbox, state and stack; bound what they keep",
     NULL, NULL},
    {"memory_binary_bytes", "shared binaries",
     "Look at the processes with the most binary bytes: copy (binary:copy/1) what is kept of large "
     "binaries; let idle holders hibernate or collect", "binaries", "holders"},
    {"memory_ets_bytes", "ETS tables",
     "Look at the largest tables: delete what is old, or bound them by size or age", "ets", "tables"},
    {"memory_atom_bytes", "atoms",
     "Find what makes atoms of outside text (list_to_atom, binary_to_atom, String.to_atom): atoms are "
     "never freed", NULL, NULL},
    {"memory_code_bytes", "code",
     "Find what loads or makes modules while the node runs", NULL, NULL},
};

#define OWNERS_TOLD 3

static double grown_of(const struct span_process *p)
{
    return p->memory_last - p->memory_first;
}

/* The processes that have grown most, whatever they work. */
static void growing_processes(struct judge *j, struct finding *f)
{
    const struct span_process *told[OWNERS_TOLD];
    for (size_t said = 0; said < OWNERS_TOLD; said++) {
        const struct span_process *most = NULL;
        for (size_t i = 0; i < j->n_processes; i++) {
            const struct span_process *p = &j->processes[i];
            bool is_told = false;
            for (size_t k = 0; k < said; k++)
                is_told = is_told || told[k] == p;
            if (!is_told && grown_of(p) > MIB && (!most || grown_of(p) > grown_of(most)))
                most = p;
        }
        if (!most)
            return;
        told[said] = most;
        if (said == 0)
            f->subject = judge_slice(j, most->pid);
        judge_evidence(j, f, "process", grown_of(most), "bytes", "%s (%s) grew by %s",
                       judge_slice(j, most->pid), judge_slice(j, judge_process_name(most)),
                       judge_bytes(j, grown_of(most)));
    }
}

/* Who holds what grows, as far as the recording knows. */
static void growth_owners(struct judge *j, struct finding *f, size_t type)
{
    const char *key = memory_types[type].fact, *list = memory_types[type].list;
    const char *text = key ? recording_fact(j->recording, key, j->to) : NULL;
    json_t *fact = text ? json_loads(text, 0, NULL) : NULL, *row;
    size_t i;
    if (type == 0)
        growing_processes(j, f);
    json_array_foreach(fact ? json_object_get(fact, list) : NULL, i, row) {
        if (i == OWNERS_TOLD)
            break;
        if (strcmp(key, "ets") == 0)
            judge_evidence(j, f, "table", fact_number(row, "memory_bytes"), "bytes",
                           "table %s of %s has %s", fact_text(row, "name"), fact_text(row, "owner"),
                           judge_bytes(j, fact_number(row, "memory_bytes")));
        else
            judge_evidence(j, f, "holder", fact_number(row, "bytes"), "bytes", "%s %s refers to %s",
                           fact_text(row, "pid"), fact_text(row, "name"),
                           judge_bytes(j, fact_number(row, "bytes")));
    }
    json_decref(fact);
}

void judge_memory_growth(struct judge *j)
{
    struct span_stats total = judge_stats(j, "memory_total_bytes");
    struct line all = line_of(j, "memory_total_bytes");
    if (isnan(all.first) || isnan(j->duration_s)) {
        judge_unknown(j, "the memory was not recorded at three ticks or more");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(memory_types); i++) {
        struct line l = line_of(j, memory_types[i].key);
        double grown = l.last - l.first, limit = fmax(0.05 * total.mean, 8 * MIB);
        if (isnan(grown) || l.fit < 0.8 || grown < limit || grown < 0.5 * (all.last - all.first))
            continue;
        double per_hour = grown / j->duration_s * 3600;
        struct finding *f = judge_find(j, FINDING_LOOK, judge_sure(j, grown, limit));
        f->effort = EFFORT_SMALL;
        f->title = judge_text(j, "Memory grows in %s: by %s in the span, %s an hour",
                              memory_types[i].name, judge_bytes(j, grown), judge_bytes(j, per_hour));
        f->action = memory_types[i].action;
        f->refute = "A longer recording in which it falls again: a cache that fills, a load that rises";
        judge_evidence(j, f, memory_types[i].key, l.last, "bytes", "%s: %s at first, %s at last",
                       memory_types[i].name, judge_bytes(j, l.first), judge_bytes(j, l.last));
        judge_evidence(j, f, "fit", l.fit, "", "a line fits it with %.2f of 1", l.fit);
        judge_evidence(j, f, "memory_total_bytes", all.last, "bytes", "all memory: %s at first, %s at "
                       "last", judge_bytes(j, all.first), judge_bytes(j, all.last));
        growth_owners(j, f, i);
    }
}
