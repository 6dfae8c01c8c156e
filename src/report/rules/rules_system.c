/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over the node's own numbers: schedulers, memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rules/rules_internal.h"

#define MIB (1024.0 * 1024)

/* ---- schedulers */

#define MOSTLY 0.6  /* of the ticks: a mean may be that of a few bursts */
#define SETTLED 10  /* ticks: fewer are a moment of the host */
#define LOADED 0.7  /* use of the schedulers: less, and others of the host take the cores */
#define LACKING 0.1 /* of the time when they are ready to run: no CPU */

/* Names the leader as one cause of several: many processes make the load. */
static void tell_leader(struct judge *j, struct finding *f, const struct leader *o)
{
    if (!o)
        return;
    f->impact = o->share;
    f->subject = *o->pid ? o->pid : o->name;
    f->application = o->application;
    f->process = o->pid;
    judge_evidence(j, f, "leader", o->share, "share", "%s: %s of reductions (mean)", o->name,
                   judge_percent(j, o->share));
}

void judge_contention(struct judge *j)
{
    struct period_stats queue = judge_stats(j, "run_queue"),
                        use = judge_stats(j, "scheduler_utilisation");
    const struct leader *leader = judge_leader(j);
    double limit = judge_limit(j, j->schedulers);
    if (isnan(j->schedulers)) {
        judge_unknown(j, "the number of schedulers online was not recorded");
        return;
    }
    if (j->ticks < SETTLED || !(queue.mean > limit) || use.mean < judge_limit(j, LOADED) ||
        judge_over(j, "run_queue", limit) < MOSTLY || judge_may_follow(j))
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, queue.mean, j->schedulers);
    f->title =
        leader
            ? judge_text(j, "%s (%s of reductions) overloads %.0f schedulers: mean run queue %.1f",
                         leader->name, judge_percent(j, leader->share), j->schedulers, queue.mean)
            : judge_text(j, "Schedulers are overloaded: mean run queue %.1f with %.0f schedulers",
                         queue.mean, j->schedulers);
    f->action = "Reduce the load of the top applications (W), or give the VM more cores (+S)";
    f->ruled_out_if = "Other OS processes on the host take the cores";
    judge_evidence(j, f, "run_queue_mean", queue.mean, "",
                   "run queue: %.1f (mean), %.0f (p95), %.0f (max)", queue.mean, queue.p95,
                   queue.max);
    judge_evidence(j, f, "schedulers_online", j->schedulers, "", "schedulers online: %.0f",
                   j->schedulers);
    if (!isnan(use.mean))
        judge_evidence(j, f, "scheduler_utilisation", use.mean, "share",
                       "scheduler utilisation: %s (mean)", judge_percent(j, use.mean));
    tell_leader(j, f, leader);
    bool comes;
    const double without = judge_without_cpu(j, &comes);
    if (without >= LACKING)
        judge_tell_without_cpu(j, f, without);
}

void judge_headroom(struct judge *j)
{
    struct period_stats queue = judge_stats(j, "run_queue"),
                        use = judge_stats(j, "scheduler_utilisation");
    if (isnan(j->schedulers) || isnan(use.mean)) {
        judge_unknown(j, "scheduler utilisation was not recorded");
        return;
    }
    if (queue.mean > j->schedulers / 4 || queue.p95 > j->schedulers || use.mean > 0.5)
        return;
    struct finding *f = judge_find(j, FINDING_NOTE, 0.5, use.mean);
    f->title = judge_text(j, "Schedulers are mostly idle: utilisation %s, mean run queue %.1f",
                          judge_percent(j, use.mean), queue.mean);
    f->action = "When the service is slow, look outside the VM (database, network, disk, load "
                "generator), or for one bottleneck process";
    f->ruled_out_if =
        "Dirty schedulers or programs behind ports do the work: normal schedulers do not show it";
    judge_evidence(j, f, "scheduler_utilisation", use.mean, "share",
                   "scheduler utilisation: %s (mean), %s (max)", judge_percent(j, use.mean),
                   judge_percent(j, use.max));
    judge_evidence(j, f, "run_queue_mean", queue.mean, "",
                   "run queue: %.2f (mean), %.0f (p95), with %.0f schedulers", queue.mean,
                   queue.p95, j->schedulers);
}

#define ONE_QUEUE 4.0 /* processes in it on average */
#define ONE_SHARE 0.7 /* of all that are queued */

#define STANDS_OUT 1.5 /* times the next one's work; among equals none is the cause */

/*
 * Whose work keeps that one busy is not recorded: most likely the busiest process. Without one that
 * stands out the host may just have given the other schedulers no time: nothing to change then. */
static const struct period_process *busiest_process(const struct judge *j)
{
    const struct period_process *p = j->processes;
    if (j->n_processes == 0 || judge_cores(j, p->share) < 0.3 ||
        (j->n_processes > 1 && p->share < STANDS_OUT * p[1].share))
        return NULL;
    return p;
}

void judge_one_scheduler(struct judge *j)
{
    struct period_stats queue = judge_stats(j, "run_queue");
    struct period_stats one = judge_stats(j, "run_queue_highest");
    bool comes = false; /* soon it is known whether the host lacked CPUs */
    (void)judge_without_cpu(j, &comes);
    const struct period_process *p = comes ? NULL : busiest_process(j);
    if (isnan(one.mean)) {
        judge_unknown(j, "the longest run queue was not recorded");
        return;
    }
    if (j->ticks < SETTLED || j->schedulers < 2 || one.mean < judge_limit(j, ONE_QUEUE) ||
        one.mean < judge_limit(j, ONE_SHARE) * queue.mean ||
        judge_over(j, "run_queue_highest", ONE_QUEUE / 2) < MOSTLY || judge_follows(j))
        return;
    struct finding *f =
        judge_find(j, p ? FINDING_LOOK : FINDING_NOTE, one.mean / queue.mean, ONE_SHARE);
    f->title =
        p ? judge_text(j,
                       "%s probably blocks a scheduler: %.1f of %.1f queued are in one run queue",
                       judge_process(j, p), one.mean, queue.mean)
          : judge_text(j, "One scheduler is overloaded: %.1f of %.1f queued are in its run queue",
                       one.mean, queue.mean);
    judge_about(f, p ? judge_slice(j, p->pid) : "", CAUSE_LOAD);
    f->action = "Find the busy scheduler in the view of schedulers. Look for a process bound to "
                "it, priority high or max, or a long NIF; start without +sbt and with +S of the "
                "available cores";
    f->ruled_out_if = "Run queues are even at the next ticks: the VM moves work between them";
    judge_evidence(j, f, "run_queue_highest_mean", one.mean, "",
                   "longest run queue: %.1f (mean), %.0f (max)", one.mean, one.max);
    judge_evidence(j, f, "run_queue_mean", queue.mean, "", "all run queues: %.1f (mean)",
                   queue.mean);
    judge_evidence(j, f, "schedulers_online", j->schedulers, "", "schedulers online: %.0f",
                   j->schedulers);
}

/* ---- growth */

static const struct {
    const char *key, *title, *name, *action;
    const char *fact, *list; /* the fact with the owners; NULL: there is none */
    const char *cause;       /* shared with findings of other rules; NULL: the process that leads */
} memory_types[] = {
    {"memory_processes_bytes", "Process memory is", "process memory",
     "Look at the state, stack and message queue of the process that grows; bound what it keeps",
     NULL, NULL, NULL},
    {"memory_binary_bytes", "Refc binary memory is", "refc binaries",
     "Copy what is kept of large binaries (binary:copy/1). Let idle holders hibernate or collect "
     "garbage",
     "binaries", "holders", NULL},
    {"memory_ets_bytes", "ETS memory is", "ETS memory",
     "Delete old rows, or bound the largest tables by size or age", "ets", "tables", "ets_memory"},
    {"memory_atom_bytes", "Atom memory is", "atom memory",
     "Find what makes atoms of outside text (list_to_atom, binary_to_atom, String.to_atom): atoms "
     "are never freed",
     NULL, NULL, "atoms"},
    {"memory_code_bytes", "Code memory is", "code memory",
     "Find what loads or makes modules while the node runs", NULL, NULL, "code"},
    {"memory_other_bytes", "Memory of no type is", "memory of no type",
     "See which allocator grows (beamtop memory NODE). literal_alloc: find who makes new "
     "persistent terms (beamtop trace NODE 'persistent_term:put(_, _) -> caller'). driver_alloc: "
     "look for ports and sockets that stay, and for NIFs that do not free their memory",
     NULL, NULL, NULL},
};

#define OWNERS_LISTED 3
#define OF_PROCESSES 0
#define OF_BINARIES 1
#define OF_NO_TYPE (ARRAY_LEN(memory_types) - 1) /* timers and monitors are of processes */
#define MUCH 0.3                                 /* of the growth */
#define OF_NONE 0.5                              /* of the growth */
#define LITTLE 0.1                               /* of the growth: too little to be named */
#define ONE_OF_GROUP 0.7 /* of its group's growth: then the process is the cause, not the group */

/* The owners of growing memory, most first. */
struct grower {
    const char *name, *subject;
    double grown, has; /* bytes; grown NaN: known at one moment only */
    bool process;      /* the subject is a pid */
};

static double grown_of(const struct period_process *p)
{
    return p->memory_last - p->memory_first;
}

/* The row of the process in the fact at the period's begin; NULL: it had none, or the fact is
 * the same. */
static const json_t *row_before(const json_t *fact, const char *list, const json_t *like)
{
    json_t *row;
    size_t i;
    json_array_foreach (json_object_get(fact, list), i, row) {
        if (strcmp(fact_text(row, "pid"), fact_text(like, "pid")) == 0 &&
            strcmp(fact_text(row, "name"), fact_text(like, "name")) == 0 &&
            strcmp(fact_text(row, "owner"), fact_text(like, "owner")) == 0)
            return row;
    }
    return NULL;
}

static int most_grown_first(const void *a, const void *b)
{
    const struct grower *x = a, *y = b;
    double p = isnan(x->grown) ? 0 : x->grown, q = isnan(y->grown) ? 0 : y->grown;
    const int order = p != q ? (p < q ? 1 : -1) : (x->has < y->has) - (x->has > y->has);
    return order ? order : strcmp(x->subject, y->subject);
}

static size_t most_grown(struct grower *all, size_t n, struct grower out[OWNERS_LISTED])
{
    if (n > 1)
        qsort(all, n, sizeof *all, most_grown_first);
    n = n < OWNERS_LISTED ? n : OWNERS_LISTED;
    for (size_t i = 0; i < n; i++)
        out[i] = all[i];
    return n;
}

static size_t growing_processes(struct judge *j, struct grower out[OWNERS_LISTED])
{
    struct grower *all = arena_alloc(&j->out->arena, (j->n_processes + 1) * sizeof *all);
    size_t n = 0;
    for (const struct period_process *p = j->processes; p < j->processes + j->n_processes; p++)
        if (grown_of(p) > MIB)
            all[n++] = (struct grower){judge_process(j, p), judge_slice(j, p->pid), grown_of(p),
                                       p->memory_last, true};
    return most_grown(all, n, out);
}

#define ROWS 10

static size_t growing_rows(struct judge *j, const char *key, const char *list,
                           struct grower out[OWNERS_LISTED])
{
    const json_t *now = judge_fact_at(j, key, j->to), *row;
    const json_t *before = judge_fact_at(j, key, j->from);
    bool ets = strcmp(key, "ets") == 0, twice = before && now && !json_equal(before, now);
    struct grower all[ROWS];
    size_t i, n = 0;
    json_array_foreach (json_object_get(now, list), i, row) {
        const char *bytes = ets ? "memory_bytes" : "bytes";
        const json_t *old = twice ? row_before(before, list, row) : NULL;
        if (n == ROWS)
            break;
        all[n++] =
            (struct grower){ets ? judge_text(j, "ETS table %s (%s)", fact_text(row, "name"),
                                             fact_text(row, "owner"))
                                : judge_process_of(j, row),
                            judge_text(j, "%s", fact_text(row, ets ? "name" : "pid")),
                            old ? fact_number(row, bytes) - fact_number(old, bytes) : (double)NAN,
                            fact_number(row, bytes), !ets};
    }
    return most_grown(all, n, out);
}

/* The first of them, when it is known to make much of the growth or there is nothing better to
 * name. One known at one moment only is not said to grow. */
static const char *growth_title(struct judge *j, size_t type, const struct grower *g, double grown)
{
    const char *bytes = judge_bytes(j, grown), *period = judge_period(j);
    const char *rate = j->duration_s >= 60
                           ? judge_text(j, " (%s/h)", judge_bytes(j, grown / j->duration_s * 3600))
                           : "";
    if (g && g->grown >= MUCH * grown)
        return judge_text(j, "%s is growing: +%s in %s; %s +%s%s", g->name,
                          judge_bytes(j, g->grown), period, memory_types[type].name, bytes, rate);
    if (g && isnan(g->grown))
        return judge_text(j, "%s growing: +%s in %s%s; largest: %s", memory_types[type].title,
                          bytes, period, rate, g->name);
    if (g)
        return judge_text(j, "%s leads growing %s: +%s in %s%s", g->name, memory_types[type].name,
                          bytes, period, rate);
    return judge_text(j, "%s growing: +%s in %s%s", memory_types[type].title, bytes, period, rate);
}

/* The owner with the largest growth; its name is "" where it is generic. */
static struct grower growing_owner(struct judge *j, enum owner_sort sort, const char *title)
{
    struct grower out = {"", "", MIB, NAN, false};
    for (size_t i = 0; i < j->owners[sort].n; i++)
        for (size_t k = 0; k < j->late_owners[sort].n; k++) {
            const struct period_owner *all = &j->owners[sort].items[i];
            const struct period_owner *late = &j->late_owners[sort].items[k];
            double grown =
                4 * (late->memory_bytes - all->memory_bytes); /* means, a quarter apart */
            if (all->owner.len == 0 || !(grown > out.grown) ||
                !slice_equal(all->owner, late->owner))
                continue;
            const char *name = judge_slice(j, all->owner);
            bool says = !judge_owner_is_generic(sort, all->owner);
            out = (struct grower){says ? judge_text(j, "%s %s", title, name) : "", name, grown,
                                  late->memory_bytes, false};
        }
    return out;
}

/* Processes that grow together, none of them much: by their kin, else by their module, if that has
 * several kins that grow. */
static struct grower growing_group(struct judge *j)
{
    struct grower kin = growing_owner(j, BY_KIN, "Kin");
    struct grower module = growing_owner(j, BY_MODULE, "Module");
    return *kin.name && kin.grown >= ONE_OF_GROUP * module.grown ? kin : module;
}

/* Most first; in place of processes that grow little each their kin or module. */
static size_t growers_of(struct judge *j, size_t type, double grown,
                         struct grower out[OWNERS_LISTED])
{
    if (type == OF_PROCESSES) {
        size_t n = growing_processes(j, out);
        const struct grower group = growing_group(j);
        bool grouped = group.grown > MIB;
        if (n > 0 && (out[0].grown >= MUCH * grown || (grouped && out[0].grown >= LITTLE * grown &&
                                                       out[0].grown >= ONE_OF_GROUP * group.grown)))
            return n;
        out[0] = group;
        return grouped && group.grown >= LITTLE * grown && *group.name ? 1 : 0;
    }
    return memory_types[type].fact
               ? growing_rows(j, memory_types[type].fact, memory_types[type].list, out)
               : 0;
}

#define LEADS 0.2    /* of the growth: less is not named where the rest has no owner */
#define AS_MANY 0.01 /* of the processes: with more new ones, those have the growth */

/*
 * Timers and monitors count as process memory, and timers are in that of no process. Only some
 * processes are recorded, so it may be spread over many small ones as well. */
static void tell_unowned(struct judge *j, struct finding *f, double grown)
{
    struct trend count = judge_trend(j, "processes");
    double owned = 0;
    for (size_t i = 0; i < j->n_processes; i++)
        owned += fmax(0, grown_of(&j->processes[i]));
    if (j->n_processes == 0 || owned > (1 - OF_NONE) * grown ||
        !(count.last - count.first <= AS_MANY * count.first))
        return;
    const struct timers timers = judge_timers(j);
    bool are_timers = timers.rise && timers.bytes.grown / timers.bytes.over_s * j->duration_s >=
                                         MUCH * (grown - owned);
    f->title = judge_text(j, "Process memory is growing: +%s in %s, %s of it in no process%s",
                          judge_bytes(j, grown), judge_period(j), judge_bytes(j, grown - owned),
                          are_timers ? ": timers" : " seen");
    f->subject = memory_types[OF_PROCESSES].key;
    if (are_timers) {
        judge_cause(f, "timers", CAUSE_GROWTH);
        judge_evidence(j, f, "timers", timers.n.last, "", "timers: +%s (%s) in %s, now %s",
                       judge_number(j, timers.n.grown), judge_bytes(j, timers.bytes.grown),
                       judge_seconds(j, timers.n.over_s), judge_number(j, timers.n.last));
    }
    f->action = "Look for timers that are started and never cancelled (erlang:start_timer/3, "
                "erlang:send_after/3), then for monitors and links that stay, and for many "
                "processes that grow a little each (beamtop apps NODE)";
    f->trace = "erlang:start_timer -> caller & erlang:send_after -> caller";
    judge_evidence(j, f, "no_process_bytes", grown - owned, "bytes",
                   "growth of the processes that were recorded: %s; their number: from %s to %s",
                   judge_bytes(j, owned), judge_number(j, count.first),
                   judge_number(j, count.last));
}

#define TOUCHED 0.25 /* of the growth */

/* The VM counts what it allocates; what a driver has not written yet is not resident. Nor does more
 * become resident where carriers had room: unless less is than is counted, either may be. */
static void tell_untouched(struct judge *j, struct finding *f, double grown, double counted)
{
    const struct trend rss = judge_trend(j, "rss_bytes");
    const bool lacks = counted - rss.last >= OF_NONE * grown;
    if (!(rss.last - rss.first < TOUCHED * grown))
        return;
    f->action = "See what is untouched, and what swapped (beamtop memory NODE). Sockets that stay "
                "have a buffer each, which is untouched while they are idle: close them, or bound "
                "it (buffer, recbuf of inet:setopts/2)";
    judge_evidence(j, f, "rss_bytes", rss.last, "bytes",
                   "resident memory: from %s to %s: most of the growth is untouched or swapped%s",
                   judge_bytes(j, rss.first), judge_bytes(j, rss.last),
                   lacks ? "" : ", or where carriers had room");
}

/* Of rows that are not compared with earlier ones, one that has less than that is not the cause. */
static bool is_worth_a_name(const struct grower *g, double grown)
{
    return (isnan(g->grown) ? g->has : g->grown) >= LITTLE * grown;
}

static void find_growth(struct judge *j, size_t type, struct trend t, struct trend all,
                        double limit)
{
    struct grower growers[OWNERS_LISTED];
    double grown = t.last - t.first;
    size_t n = growers_of(j, type, grown, growers);
    bool named = n > 0 && is_worth_a_name(&growers[0], grown);
    struct finding *f = judge_find(j, FINDING_LOOK, grown, limit);
    f->title = growth_title(j, type, named ? &growers[0] : NULL, grown);
    /* A smaller grower is not the cause. One known at one moment is compared with the whole. */
    bool holds = n > 0 && (isnan(growers[0].grown) ? growers[0].has >= MUCH * t.last
                                                   : growers[0].grown >= MUCH * grown);
    judge_about(f, holds && growers[0].process ? growers[0].subject : "", CAUSE_GROWTH);
    f->subject = named ? growers[0].subject : memory_types[type].key;
    if (memory_types[type].cause)
        judge_cause(f, memory_types[type].cause, CAUSE_GROWTH);
    f->action = memory_types[type].action;
    f->ruled_out_if = "It falls again in a longer recording: a cache that fills, or a rising load";
    judge_evidence(j, f, memory_types[type].key, t.last, "bytes",
                   "%s: from %s to %s (linear trend, r = %.2f)", memory_types[type].name,
                   judge_bytes(j, t.first), judge_bytes(j, t.last), t.fit);
    judge_evidence(j, f, "memory_total_bytes", all.last, "bytes", "all memory: from %s to %s",
                   judge_bytes(j, all.first), judge_bytes(j, all.last));
    if (type == OF_BINARIES && !named)
        tell_untouched(j, f, grown, all.last);
    for (size_t i = 0; i < n; i++)
        judge_evidence(j, f, "holder", growers[i].has, "bytes", "%s: %s%s%s", growers[i].name,
                       judge_bytes(j, growers[i].has), isnan(growers[i].grown) ? "" : ", grew by ",
                       isnan(growers[i].grown) ? "" : judge_bytes(j, growers[i].grown));
    if (type == OF_PROCESSES && (n == 0 || growers[0].grown < LEADS * grown))
        tell_unowned(j, f, grown);
    if (type == OF_NO_TYPE)
        f->trace = "persistent_term:put(_, _) -> caller";
    judge_wait(j, holds);
}

static struct trend trend_of_type(const struct judge *j, size_t type)
{
    const char *types[OF_NO_TYPE];
    if (type < OF_NO_TYPE)
        return judge_trend(j, memory_types[type].key);
    for (size_t i = 0; i < OF_NO_TYPE; i++)
        types[i] = memory_types[i].key;
    return judge_trend_of_rest(j, "memory_total_bytes", types, OF_NO_TYPE);
}

void judge_memory_growth(struct judge *j)
{
    struct period_stats total = judge_stats(j, "memory_total_bytes");
    struct trend all = judge_trend(j, "memory_total_bytes");
    if (isnan(all.first) || isnan(j->duration_s)) {
        judge_unknown(j, "memory was not recorded at 3 ticks or more");
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(memory_types); i++) {
        struct trend t = trend_of_type(j, i);
        double grown = t.last - t.first, limit = judge_limit(j, fmax(0.05 * total.mean, 8 * MIB));
        if (isnan(grown) || !t.steady || t.fit < judge_limit(j, 0.8) || grown < limit ||
            grown < 0.5 * (all.last - all.first))
            continue;
        find_growth(j, i, t, all, limit);
    }
}
