/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules over what was read from the node: limits, allocators, binaries, distribution;
 * and garbage. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "report/rules/rules_internal.h"

#define MIB (1024.0 * 1024)

/* ---- limits */

static const struct {
    const char *key, *limit, *name, *flag, *action;
    double act; /* share of the limit from which the finding is `fix` */
} tables[] = {
    {"atoms", "atom_limit", "Atom table", "+t",
     "Find what makes atoms of outside text (list_to_atom, binary_to_atom, String.to_atom) and use "
     "existing ones: the VM stops when the table is full. A larger table buys time",
     0.9},
    {"processes", "process_limit", "Process table", "+P",
     "Bound what starts processes; a larger table costs little memory", 0.9},
    {"ports", "port_limit", "Port table", "+Q",
     "Look for sockets and files that stay open; raise the limit of open files too", 0.9},
    {"ets_tables", "ets_limit", "ETS table count", "+e",
     "Find what makes tables and does not delete them. Since OTP 20 the limit is only a hint: "
     "memory runs out first",
     INFINITY},
};

/* The next power of two, twice what is used or the limit: what these tables are rounded to. */
static double next_limit(double used)
{
    double n = 1024;
    while (n < 2 * used && n < 134217728)
        n *= 2;
    return n;
}

/* The application with half of the processes; NULL: none has, or they were not counted. */
static const struct period_owner *most_processes(const struct judge *j, size_t table, double count)
{
    const struct owner_list *apps = &j->owners[BY_APPLICATION];
    for (size_t i = 0; strcmp(tables[table].key, "processes") == 0 && i < apps->n; i++)
        if (apps->items[i].owner.len > 0 && apps->items[i].processes >= count / 2)
            return &apps->items[i];
    return NULL;
}

static void find_near_limit(struct judge *j, size_t i, struct period_stats s, double limit,
                            double grown, double hours)
{
    double share = s.max / limit;
    const struct period_owner *owner = most_processes(j, i, s.max);
    struct finding *f =
        judge_find(j, share >= tables[i].act ? FINDING_ACT : FINDING_LOOK, share, 0.7);
    const char *used = judge_text(j, "%s full: %s of %s", judge_percent(j, share),
                                  judge_number(j, s.max), judge_number(j, limit));
    f->title =
        owner ? judge_text(j, "%s fills the process table: %s", judge_slice(j, owner->owner), used)
              : judge_text(j, "%s is %s", tables[i].name, used);
    f->action = judge_text(j, "%s (start with %s %.0f)", tables[i].action, tables[i].flag,
                           next_limit(fmax(limit, s.max)));
    f->ruled_out_if = "The number stays: what was made at start is kept";
    f->subject = tables[i].key;
    judge_cause(f, f->subject, CAUSE_LOAD);
    judge_evidence(j, f, tables[i].key, s.max, "", "%s: %s of %s (max)", tables[i].name,
                   judge_number(j, s.max), judge_number(j, limit));
    judge_evidence(j, f, "growth", grown, "", "growth: %s%s in %s", grown < 0 ? "" : "+",
                   judge_number(j, grown), judge_period(j));
    if (!isnan(hours))
        judge_evidence(j, f, "full_in", hours * 3600, "s", "full in %.1f h at this rate", hours);
    if (owner)
        judge_evidence(j, f, "owner", owner->processes, "", "%s: %s processes",
                       judge_slice(j, owner->owner), judge_number(j, owner->processes));
}

void judge_near_limit(struct judge *j)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct period_stats s = judge_stats(j, tables[i].key);
        struct trend t = judge_trend(j, tables[i].key);
        double limit = judge_node(j, tables[i].limit), share = s.max / limit;
        double grown = s.last - s.first;
        bool rises = judge_holds(j, j->duration_s, true) && grown > 0 && t.steady &&
                     t.fit >= judge_limit(j, 0.8);
        double hours = rises ? (limit - s.last) / grown * j->duration_s / 3600 : (double)NAN;
        bool soon = share >= judge_limit(j, 0.5) && hours < 24;
        if (isnan(share) || limit <= 0 || (share < judge_limit(j, 0.8) && !soon))
            continue;
        find_near_limit(j, i, s, limit, grown, hours);
    }
}

/* ---- allocators */

static const struct {
    const char *name;
    char letter; /* of +M<letter>… */
} allocators[] = {
    {"binary_alloc", 'B'}, {"driver_alloc", 'D'}, {"ets_alloc", 'E'},
    {"eheap_alloc", 'H'},  {"fix_alloc", 'F'},    {"ll_alloc", 'L'},
    {"sl_alloc", 'S'},     {"std_alloc", 'R'},    {"temp_alloc", 'T'},
};

static char allocator_letter(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(allocators); i++)
        if (strcmp(allocators[i].name, name) == 0)
            return allocators[i].letter;
    return '\0';
}

#define RESIDENT_FACTOR 1.5 /* of what the VM allocates, without code and stacks of threads */

/* Without the allocators' numbers: memory that the VM holds unused is resident. */
static void resident_beyond(struct judge *j)
{
    struct period_stats rss = judge_stats(j, "rss_bytes"),
                        total = judge_stats(j, "memory_total_bytes");
    if (isnan(rss.mean)) {
        judge_unknown(j, "allocators and resident memory were not recorded");
        return;
    }
    if (rss.mean - total.mean < judge_limit(j, 256 * MIB) ||
        rss.mean < judge_limit(j, RESIDENT_FACTOR) * total.mean)
        return;
    struct finding *f = judge_find(j, FINDING_LOOK, rss.mean, RESIDENT_FACTOR * total.mean);
    f->confidence *= 0.7;
    f->title = judge_text(j, "Resident memory is above what the VM allocates: %s, allocated %s",
                          judge_bytes(j, rss.mean), judge_bytes(j, total.mean));
    f->action = "Find the allocator with unused carriers (beamtop memory NODE), and the burst that "
                "needed them. For binaries try +MBas ageffcbf, for heaps +MHas ageffcbf";
    f->ruled_out_if = "NIFs and ports hold the memory: the VM does not count theirs";
    f->subject = "rss";
    judge_evidence(j, f, "rss_bytes", rss.mean, "bytes", "resident memory: %s (mean), %s (max)",
                   judge_bytes(j, rss.mean), judge_bytes(j, rss.max));
    judge_evidence(j, f, "memory_total_bytes", total.mean, "bytes",
                   "allocated by the VM: %s (mean)", judge_bytes(j, total.mean));
}

/*
 * The default is aoffcbf. One that does not first choose a carrier (bf, aobf) would switch off that
 * schedulers take over each other's carriers: erts_alloc, +M<S>acul. */
static const char *action_of(struct judge *j, char letter)
{
    return judge_text(j,
                      "Find the burst that needed the memory: a few blocks live on in its "
                      "carriers. If it comes again, try +M%cas ageffcbf (fills old carriers "
                      "first), or smaller carriers (+M%clmbcs 512)",
                      letter, letter);
}

#define UNUSED_LEAST (128 * MIB) /* a burst on a healthy node leaves tens of MiB unused */
#define UNUSED_OF_ALL 0.1        /* of the node's memory */
#define USED_MOST 0.5            /* of the carriers */

#define FRAGMENTED_LEAST (256 * MIB)
#define FRAGMENTED_OF_RSS 0.5
#define UNUSED_ROWS 5

static double unused_of(const json_t *row)
{
    return fact_number(row, "carriers_bytes") - fact_number(row, "blocks_bytes");
}

static int by_unused(const void *a, const void *b)
{
    const json_t *left = *(const json_t *const *)a, *right = *(const json_t *const *)b;
    const double x = unused_of(left), y = unused_of(right);
    if (x < y || x > y)
        return x < y ? 1 : -1;
    const int order = strcmp(fact_text(left, "name"), fact_text(right, "name"));
    const double m = fact_number(left, "instance"), n = fact_number(right, "instance");
    return order ? order : (m > n) - (m < n);
}

/* Of the allocators, or of their instances, those that hold most of it, the largest first. */
static void put_unused(struct judge *j, struct finding *f, const json_t *list, const char *key)
{
    const json_t *row, **rows = alloc_zero(json_array_size(list) + 1, sizeof *rows);
    size_t i, n = 0;
    json_array_foreach (list, i, row)
        if (unused_of(row) >= judge_limit(j, FRAGMENTED_LEAST) / 8)
            rows[n++] = row;
    qsort(rows, n, sizeof *rows, by_unused);
    for (i = 0; i < n && i < UNUSED_ROWS; i++) {
        const double instance = fact_number(rows[i], "instance");
        const char *number =
            isnan(instance) ? "" : judge_text(j, " instance %s", judge_number(j, instance));
        judge_evidence(j, f, key, unused_of(rows[i]), "bytes",
                       "%s%s: %s of %s in carriers is unused", fact_text(rows[i], "name"), number,
                       judge_bytes(j, unused_of(rows[i])),
                       judge_bytes(j, fact_number(rows[i], "carriers_bytes")));
    }
    free(rows);
}

/* The allocator with most unused bytes; unused and carriers of all. */
static const json_t *add_up(const json_t *list, double *unused, double *carriers)
{
    const json_t *row, *most = NULL;
    double largest = 0;
    size_t i;
    *unused = *carriers = 0;
    json_array_foreach (list, i, row) {
        double taken = fact_number(row, "carriers_bytes"),
               free_bytes = taken - fact_number(row, "blocks_bytes");
        *carriers += isnan(taken) ? 0 : taken;
        *unused += free_bytes > 0 ? free_bytes : 0;
        if (free_bytes > largest) {
            largest = free_bytes;
            most = row;
        }
    }
    return most;
}

/* Unused bytes at half of the period: whether they come and go. */
static double fragmented_before(const struct judge *j)
{
    return fact_number(judge_fact_at(j, "allocators", j->from + (j->to - j->from) / 2),
                       "fragmented_bytes");
}

/* Unused bytes above half of the resident size: one finding for all allocators. */
static bool judge_fragmentation(struct judge *j, const json_t *fact)
{
    double unused, carriers, rss = fact_number(fact, "rss_bytes"); /* of the same moment */
    const json_t *list = json_object_get(fact, "allocators"),
                 *most = add_up(list, &unused, &carriers);
    double before = fragmented_before(j);
    if (isnan(rss)) /* recordings of before 0.2.0 */
        rss = judge_stats(j, "rss_bytes").mean;
    unused = unused > rss ? rss : unused;
    if (!most || isnan(rss) || unused < judge_limit(j, FRAGMENTED_LEAST) ||
        unused < judge_limit(j, FRAGMENTED_OF_RSS) * rss)
        return false;
    char letter = allocator_letter(fact_text(most, "name"));
    struct finding *f = judge_find(j, FINDING_LOOK, unused, FRAGMENTED_OF_RSS * rss);
    f->title = judge_text(j, "Memory is fragmented: %s of %s RSS is unused in carriers",
                          judge_bytes(j, unused), judge_bytes(j, rss));
    f->action = judge_text(
        j,
        "Find the burst that needed the memory: a few blocks live on in its carriers, and only a "
        "restart of the node gives them back now. If it comes again, start with +M%cas ageffcbf "
        "(fills old carriers first) or +M%clmbcs 512 (smaller carriers)",
        letter ? letter : 'H', letter ? letter : 'H');
    f->ruled_out_if = "The carriers fill again at the next peak of the load (view memory, used "
                      "over time): the memory is needed";
    f->subject = "rss";
    judge_evidence(j, f, "fragmented_bytes", unused, "bytes", "unused in carriers: %s (%s of RSS)",
                   judge_bytes(j, unused), judge_percent(j, unused / rss));
    judge_evidence(j, f, "carriers_bytes", carriers, "bytes", "in carriers: %s",
                   judge_bytes(j, carriers));
    judge_evidence(j, f, "rss_bytes", rss, "bytes", "resident memory: %s", judge_bytes(j, rss));
    if (!isnan(before))
        judge_evidence(j, f, "fragmented_before", before, "bytes", "half of the period before: %s",
                       judge_bytes(j, before));
    put_unused(j, f, list, "allocator");
    put_unused(j, f, json_object_get(fact, "instances"), "instance");
    return true;
}

void judge_carriers(struct judge *j)
{
    double total = judge_stats(j, "memory_total_bytes").mean;
    double least = judge_limit(j, fmax(UNUSED_LEAST, isnan(total) ? 0 : UNUSED_OF_ALL * total));
    const json_t *fact = judge_fact_at(j, "allocators", j->to), *row;
    size_t i, said = 0;
    if (!fact)
        resident_beyond(j);
    if (judge_fragmentation(j, fact))
        return;
    json_array_foreach (json_object_get(fact, "allocators"), i, row) {
        double blocks = fact_number(row, "blocks_bytes"),
               carriers = fact_number(row, "carriers_bytes");
        const char *name = fact_text(row, "name");
        char letter = allocator_letter(name);
        if (!(carriers - blocks >= least) || blocks >= USED_MOST * carriers || said++ == 5)
            continue;
        struct finding *f = judge_find(j, FINDING_LOOK, 0.5, blocks / carriers);
        f->title = judge_text(j, "%s is fragmented: %s of %s in carriers is used", name,
                              judge_percent(j, blocks / carriers), judge_bytes(j, carriers));
        f->action = letter ? action_of(j, letter) : "Find the burst that needed the memory";
        f->ruled_out_if =
            "The carriers fill again at the next peak of the load: the memory is needed";
        f->subject = judge_text(j, "%s", name);
        judge_evidence(j, f, "blocks_bytes", blocks, "bytes", "used: %s", judge_bytes(j, blocks));
        judge_evidence(j, f, "carriers_bytes", carriers, "bytes", "in carriers: %s",
                       judge_bytes(j, carriers));
    }
}

/* ---- binaries */

#define HOLDERS 3u
#define HELD_LEAST (32 * MIB)

static void find_holders(struct judge *j, const json_t *holders, size_t n, double held,
                         double total)
{
    const json_t *first = json_array_get(holders, 0), *row;
    const char *name = judge_process_of(j, first);
    double bytes = fact_number(first, "bytes");
    struct finding *f = judge_find(j, FINDING_LOOK, held, total / 2);
    f->title = n == 1 || bytes >= held / 2
                   ? judge_text(j, "%s holds %s of refc binaries", name, judge_bytes(j, bytes))
                   : judge_text(j, "%s and %zu more hold %s of refc binaries", name, n - 1,
                                judge_bytes(j, held));
    f->action = "Copy what is kept of large binaries (binary:copy/1). Let processes that pass "
                "binaries on hibernate after a burst, or collect more often (fullsweep_after)";
    f->ruled_out_if = "The holders are meant to keep them: a cache of whole binaries";
    judge_about(f, judge_text(j, "%s", fact_text(first, "pid")), CAUSE_HELD);
    for (size_t i = 0; i < n; i++) {
        row = json_array_get(holders, i);
        const double binaries = fact_number(row, "binaries");
        judge_evidence(
            j, f, "holder", fact_number(row, "bytes"), "bytes", "%s (%s): %s%s",
            judge_process_of(j, row), fact_text(row, "initial_call"),
            judge_bytes(j, fact_number(row, "bytes")),
            isnan(binaries) ? "" : judge_text(j, " in %s binaries", judge_number(j, binaries)));
    }
    /* The holders are from an earlier tick. */
    judge_evidence(j, f, "memory_binary_bytes", total, "bytes",
                   "refc binaries of the node, at the last tick: %s", judge_bytes(j, total));
}

void judge_binaries(struct judge *j)
{
    const json_t *fact = judge_fact(j, "binaries"), *holders = json_object_get(fact, "holders");
    double total = judge_stats(j, "memory_binary_bytes").last, held = 0;
    size_t n = json_array_size(holders);
    n = n < HOLDERS ? n : HOLDERS;
    for (size_t i = 0; i < n; i++) {
        double bytes = fact_number(json_array_get(holders, i), "bytes");
        held += isnan(bytes) ? 0 : bytes;
    }
    if (fact && isnan(total))
        judge_unknown(j, "the memory of refc binaries was not recorded");
    if (held >= judge_limit(j, HELD_LEAST) && held >= judge_limit(j, 0.5) * total)
        find_holders(j, holders, n, held, total);
}

/* ---- distribution */

/* A single large message fills the queue for a moment: it counts when it was long at two ticks. */
static double queue_before(const struct judge *j, const char *node)
{
    const json_t *fact = judge_fact_at(j, "distribution", j->from + (j->to - j->from) / 2), *row;
    double queue = NAN;
    size_t i;
    json_array_foreach (json_object_get(fact, "nodes"), i, row) {
        if (strcmp(fact_text(row, "node"), node) == 0)
            queue = fact_number(row, "queue_bytes");
    }
    return queue;
}

/*
 * Senders that were seen suspended. The VM's own queue of a connection is what suspends them, and
 * nobody can read it: that of the port stays small. */
#define SUSPENDED_LOOKS 2.0 /* fewer can be chance */
#define SUSPENDED_SHARE 0.2 /* of the looks */
#define SUSPENDED_MOSTLY 0.5

static const char *list_of(struct judge *j, const json_t *nodes)
{
    const char *out = "";
    const json_t *node;
    size_t i;
    json_array_foreach (nodes, i, node)
        if (i < 3 && json_is_string(node))
            out = judge_text(j, "%s%s%s", out, *out ? ", " : "", json_string_value(node));
    return *out ? out : "another node";
}

static void find_senders(struct judge *j, const json_t *fact, double held, double looks)
{
    const json_t *list = json_object_get(fact, "processes"), *row, *first = json_array_get(list, 0);
    double now = fact_number(fact, "suspended");
    const char *nodes = list_of(j, json_object_get(fact, "nodes"));
    size_t i;
    struct finding *f = judge_find(j, held >= SUSPENDED_MOSTLY * looks ? FINDING_ACT : FINDING_LOOK,
                                   held / looks, SUSPENDED_SHARE);
    f->title = now >= 1 ? judge_text(j, "Senders to %s are suspended: %s processes, at %s of looks",
                                     nodes, judge_number(j, now), judge_percent(j, held / looks))
                        : judge_text(j, "Senders to %s are suspended at %s of looks", nodes,
                                     judge_percent(j, held / looks));
    f->action = "Find why that node takes no more (its schedulers, the network), and send it less, "
                "or in smaller pieces. +zdbbl (KiB) suspends senders later; erlang:send/3 with "
                "nosuspend does not wait";
    f->ruled_out_if = "A single large message was being sent";
    f->subject = nodes;
    f->process = judge_text(j, "%s", fact_text(first, "pid"));
    judge_evidence(j, f, "suspended_looks", held, "",
                   "processes suspended in a send to another node: at %.0f of %.0f looks", held,
                   looks);
    json_array_foreach (list, i, row)
        judge_evidence(j, f, "process", NAN, "", "suspended%s: %s", now >= 1 ? "" : " before",
                       judge_process_of(j, row));
}

/* The counts only rise, until the helper on the node restarts. */
static bool senders_are_suspended(struct judge *j)
{
    const json_t *now = judge_fact_at(j, "senders", j->to);
    const json_t *before = judge_fact_at(j, "senders", j->from);
    double looks = fact_number(now, "looks"), held = fact_number(now, "suspended_looks");
    if (fact_number(before, "looks") < looks) {
        looks -= fact_number(before, "looks");
        held -= fact_number(before, "suspended_looks");
    }
    bool found = held >= SUSPENDED_LOOKS && held >= judge_limit(j, SUSPENDED_SHARE) * looks;
    if (found)
        find_senders(j, now, held, looks);
    return found;
}

void judge_busy_distribution(struct judge *j)
{
    if (senders_are_suspended(j))
        return;
    const json_t *fact = judge_fact(j, "distribution"), *row;
    double limit = fact_number(fact, "busy_limit_bytes"), half = judge_limit(j, limit / 2);
    size_t i, said = 0;
    json_array_foreach (json_object_get(fact, "nodes"), i, row) {
        double queue = fact_number(row, "queue_bytes"),
               before = queue_before(j, fact_text(row, "node"));
        if (!(queue >= half) || before < half || limit <= 0 || said++ == 5)
            continue;
        struct finding *f =
            judge_find(j, queue >= limit ? FINDING_ACT : FINDING_LOOK, queue, limit / 2);
        f->title = judge_text(j, "Connection to %s is busy: %s queued, limit %s",
                              fact_text(row, "node"), judge_bytes(j, queue), judge_bytes(j, limit));
        f->action = judge_text(j,
                               "Send less to it, or in smaller pieces. Start with +zdbbl %.0f "
                               "(KiB) so that senders are suspended later",
                               limit * 4 / 1024);
        f->ruled_out_if = "The queue is empty a minute later: a single large message";
        f->subject = judge_text(j, "%s", fact_text(row, "node"));
        judge_evidence(j, f, "queue_bytes", queue, "bytes", "queued: %s", judge_bytes(j, queue));
        judge_evidence(j, f, "busy_limit_bytes", limit, "bytes", "busy limit: %s",
                       judge_bytes(j, limit));
    }
}

/* ---- garbage */

/*
 * A minor collection of a small heap takes about a microsecond, as long as some 30 reductions: only
 * when they follow each other that closely is collecting much of the work. A small server that
 * collects every thousand reductions is how the VM works. */
#define REDUCTIONS_A_GC 200.0
#define GCS_LEAST 10000.0        /* per second */
#define BYTES_A_REDUCTION 128.0  /* reclaimed */
#define BYTES_LEAST (1024 * MIB) /* per second */
#define BUSY 0.5                 /* use of the schedulers: less, and there is nothing to win */

/* Who collects most, first. */
static const char *gc_subjects(struct judge *j, struct finding *f)
{
    const json_t *fact = judge_fact_at(j, "gc", j->to), *row;
    const char *first = NULL;
    size_t i;
    json_array_foreach (json_object_get(fact, "processes"), i, row) {
        const char *name = judge_process_of(j, row);
        if (i >= 3)
            break;
        f->subject = i == 0 ? judge_text(j, "%s", fact_text(row, "pid")) : f->subject;
        first = i == 0 ? name : first;
        judge_evidence(j, f, "process", fact_number(row, "minor_gcs_per_s"), "per_s",
                       "%s (%s): %s GCs per second", name, fact_text(row, "initial_call"),
                       judge_number(j, fact_number(row, "minor_gcs_per_s")));
    }
    f->process = f->subject; /* one of many that collect, so not a cause */
    const struct recorded_call *most = NULL;
    for (size_t k = 0; k < j->n_calls; k++)
        if (j->calls[k].words > (most ? most->words : 0))
            most = &j->calls[k];
    if (most)
        judge_evidence(j, f, "words", (double)most->words, "words",
                       "most heap words allocated: %s:%s/%lld", judge_slice(j, most->module),
                       judge_slice(j, most->function), (long long)most->arity);
    return first;
}

static void find_gc(struct judge *j, bool often, double gcs, double reductions, double bytes)
{
    const struct leader *leader = judge_leader(j);
    struct finding *f = judge_find(j, FINDING_LOOK, often ? REDUCTIONS_A_GC : bytes / reductions,
                                   often ? reductions / gcs : BYTES_A_REDUCTION);
    f->action = "Start the processes that collect most with a larger heap (min_heap_size), and "
                "make less garbage in the functions that allocate most heap words";
    f->ruled_out_if = "The processes are short-lived: their heap is freed as a whole";
    judge_evidence(j, f, "gcs_per_s", gcs, "per_s", "GCs: %s per second", judge_number(j, gcs));
    judge_evidence(j, f, "reclaimed", bytes, "bytes",
                   "reclaimed: %s per second, %.1f bytes per reduction", judge_bytes(j, bytes),
                   bytes / reductions);
    const char *who = gc_subjects(j, f);
    if (!who && leader)
        who = leader->name;
    f->title =
        judge_text(j, "%s%s per %.0f reductions, %s/s reclaimed", who ? who : "GC is frequent: one",
                   who ? " leads frequent GC: one" : "", reductions / gcs, judge_bytes(j, bytes));
}

void judge_gc(struct judge *j)
{
    double gcs = judge_stats(j, "gcs_per_s").mean, words = judge_stats(j, "gc_words_per_s").mean;
    double reductions = judge_stats(j, "reductions_per_s").mean;
    double word = judge_node(j, "word_bytes"), bytes = words * (isnan(word) ? 8 : word);
    if (isnan(gcs) || isnan(reductions)) {
        judge_unknown(j, "GCs and reductions were not recorded");
        return;
    }
    if (judge_stats(j, "scheduler_utilisation").mean < judge_limit(j, BUSY))
        return;
    bool often =
        gcs >= judge_limit(j, GCS_LEAST) && judge_limit(j, reductions / gcs) < REDUCTIONS_A_GC;
    bool much = bytes >= judge_limit(j, BYTES_LEAST) &&
                bytes / reductions > judge_limit(j, BYTES_A_REDUCTION);
    if (often || much)
        find_gc(j, often, gcs, reductions, bytes);
}
