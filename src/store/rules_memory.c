/* Rules over what was read from the node: limits, allocators, binaries, distribution; and garbage. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rules_internal.h"

#define MIB (1024.0 * 1024)

/* ---- limits */

static const struct {
    const char *key, *limit, *name, *flag, *action;
    double act; /* share of the limit from which it is to be changed */
} tables[] = {
    {"atoms", "atom_limit", "atoms", "+t",
     "Find what makes atoms of outside text (list_to_atom, binary_to_atom, String.to_atom) and use the "
     "existing ones; the VM ends when the table is full. A larger table buys time", 0.9},
    {"processes", "process_limit", "processes", "+P",
     "Bound what starts processes; a larger table costs little memory", 0.9},
    {"ports", "port_limit", "ports", "+Q",
     "Look for sockets and files that stay open; raise the limit of open files with it", 0.9},
    {"ets_tables", "ets_limit", "ETS tables", "+e",
     "Look for tables that are made again and again and not deleted. Since OTP 20 the limit is only a "
     "hint: memory is what ends", 2},
};

/* The next power of two, twice the limit: what these tables are rounded to. */
static double larger(double limit)
{
    double n = 1024;
    while (n < 2 * limit && n < 134217728)
        n *= 2;
    return n;
}

void judge_near_limit(struct judge *j)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct span_stats s = judge_stats(j, tables[i].key);
        double limit = judge_node(j, tables[i].limit), share = s.max / limit;
        double grown = s.last - s.first;
        double hours = grown > 0 ? (limit - s.last) / grown * j->duration_s / 3600 : (double)NAN;
        bool soon = share >= 0.5 && hours < 24;
        if (isnan(share) || limit <= 0 || (share < 0.8 && !soon))
            continue;
        bool act = share >= tables[i].act;
        struct finding *f = judge_find(j, act ? FINDING_ACT : FINDING_LOOK, judge_sure(j, share, 0.7));
        f->effort = EFFORT_SETTING;
        f->title = judge_text(j, "%s of the %s that the VM has room for are in use",
                              judge_percent(j, share), tables[i].name);
        f->action = judge_text(j, "%s (start with %s %.0f)", tables[i].action, tables[i].flag,
                               larger(limit));
        f->refute = "A number that stays: what was made at start and is kept";
        f->subject = tables[i].key;
        judge_evidence(j, f, tables[i].key, s.max, "", "%.0f of %.0f", s.max, limit);
        judge_evidence(j, f, "growth", grown, "", "%+.0f in the span", grown);
        if (!isnan(hours))
            judge_evidence(j, f, "full_in", hours * 3600, "s", "full in %.1f h at this rate", hours);
    }
}

/* ---- allocators */

static const struct {
    const char *name;
    char letter; /* of +M<letter>… */
} allocators[] = {
    {"binary_alloc", 'B'}, {"driver_alloc", 'D'}, {"ets_alloc", 'E'}, {"eheap_alloc", 'H'},
    {"fix_alloc", 'F'},    {"ll_alloc", 'L'},     {"sl_alloc", 'S'},  {"std_alloc", 'R'},
    {"temp_alloc", 'T'},
};

static char letter_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(allocators); i++)
        if (strcmp(allocators[i].name, name) == 0)
            return allocators[i].letter;
    return '\0';
}

#define RESIDENT_FACTOR 1.5 /* of what the VM allocates, code and stacks of threads left aside */

/* Without the allocators' numbers: memory that the VM holds and nobody uses is resident. */
static void resident_beyond(struct judge *j)
{
    struct span_stats rss = judge_stats(j, "rss_bytes"), total = judge_stats(j, "memory_total_bytes");
    if (isnan(rss.mean)) {
        judge_unknown(j, "neither allocators nor resident memory were recorded");
        return;
    }
    if (rss.mean - total.mean < 256 * MIB || rss.mean < RESIDENT_FACTOR * total.mean)
        return;
    struct finding *f = judge_find(j, FINDING_LOOK,
                                   judge_sure(j, rss.mean, RESIDENT_FACTOR * total.mean) * 0.7);
    f->effort = EFFORT_SETTING;
    f->title = judge_text(j, "%s are resident, of which the VM uses %s", judge_bytes(j, rss.mean),
                          judge_bytes(j, total.mean));
    f->action = "Look at the allocators (beamtop memory) for the one with empty carriers, and for what once "
                "needed the memory; for binaries start with +MBas ageffcbf, for heaps +MHas ageffcbf, and "
                "compare";
    f->refute = "Memory of NIFs and ports, which the VM does not count";
    f->subject = "rss";
    judge_evidence(j, f, "rss_bytes", rss.mean, "bytes", "resident: %s on average, most %s",
                   judge_bytes(j, rss.mean), judge_bytes(j, rss.max));
    judge_evidence(j, f, "memory_total_bytes", total.mean, "bytes", "allocated by the VM: %s",
                   judge_bytes(j, total.mean));
}

/*
 * The default is aoffcbf. One that does not first choose a carrier (bf, aobf) would switch off that
 * schedulers take over each other's carriers: erts_alloc, +M<S>acul.
 */
static const char *action_of(struct judge *j, char letter)
{
    return judge_text(j, "Look for what once needed the memory: a burst leaves carriers behind in which a "
                         "few blocks live on. Where it comes again, start with +M%cas ageffcbf, which "
                         "fills old carriers first, or with smaller ones (+M%clmbcs 512), and compare",
                      letter, letter);
}

void judge_carriers(struct judge *j)
{
    bool known = recording_fact(j->recording, "allocators", j->to) != NULL;
    json_t *fact = known ? judge_fact(j, "allocators") : NULL, *row;
    size_t i, said = 0;
    if (!known)
        resident_beyond(j);
    json_array_foreach(json_object_get(fact, "allocators"), i, row) {
        double blocks = fact_number(row, "blocks_bytes"), carriers = fact_number(row, "carriers_bytes");
        const char *name = fact_text(row, "name");
        char letter = letter_of(name);
        if (!(carriers - blocks >= 64 * MIB) || blocks >= carriers / 2 || said++ == 5)
            continue;
        struct finding *f = judge_find(j, FINDING_LOOK, judge_sure(j, 0.5, blocks / carriers));
        f->effort = EFFORT_SETTING;
        f->title = judge_text(j, "%s uses %s of its carriers", judge_text(j, "%s", name),
                              judge_percent(j, blocks / carriers));
        f->action = letter ? action_of(j, letter) : "Look for what once needed the memory";
        f->refute = "Carriers that fill again with the next peak of the load: then the memory is needed";
        f->subject = judge_text(j, "%s", name);
        judge_evidence(j, f, "blocks_bytes", blocks, "bytes", "in use: %s", judge_bytes(j, blocks));
        judge_evidence(j, f, "carriers_bytes", carriers, "bytes", "held: %s", judge_bytes(j, carriers));
    }
    json_decref(fact);
}

/* ---- binaries */

void judge_binaries(struct judge *j)
{
    json_t *fact = judge_fact(j, "binaries"), *row;
    double total = judge_stats(j, "memory_binary_bytes").last, held = 0;
    size_t i, n = json_array_size(json_object_get(fact, "holders"));
    n = n < 3 ? n : 3;
    for (i = 0; i < n; i++) {
        double bytes = fact_number(json_array_get(json_object_get(fact, "holders"), i), "bytes");
        held += isnan(bytes) ? 0 : bytes;
    }
    if (fact && isnan(total))
        judge_unknown(j, "the memory of shared binaries was not recorded");
    if (held >= 32 * MIB && held >= total / 2) {
        struct finding *f = judge_find(j, FINDING_LOOK, judge_sure(j, held, total / 2));
        f->effort = EFFORT_SMALL;
        f->title = judge_text(j, "%zu processes refer to %s of shared binaries, of %s in all", n,
                              judge_bytes(j, held), judge_bytes(j, total));
        f->action = "Copy what is kept of large binaries (binary:copy/1); let processes that only pass "
                    "binaries on hibernate or collect after a burst (fullsweep_after)";
        f->refute = "Holders that are meant to keep them: a cache of whole binaries";
        json_array_foreach(json_object_get(fact, "holders"), i, row) {
            if (i >= n)
                break;
            f->subject = i == 0 ? judge_text(j, "%s", fact_text(row, "pid")) : f->subject;
            judge_evidence(j, f, "holder", fact_number(row, "bytes"), "bytes", "%s %s %s: %s in %.0f",
                           fact_text(row, "pid"), fact_text(row, "name"),
                           fact_text(row, "initial_call"), judge_bytes(j, fact_number(row, "bytes")),
                           fact_number(row, "binaries"));
        }
    }
    json_decref(fact);
}

/* ---- distribution */

void judge_busy_distribution(struct judge *j)
{
    json_t *fact = judge_fact(j, "distribution"), *row;
    double limit = fact_number(fact, "busy_limit_bytes");
    size_t i, said = 0;
    json_array_foreach(json_object_get(fact, "nodes"), i, row) {
        double queue = fact_number(row, "queue_bytes");
        if (!(queue >= limit / 2) || limit <= 0 || said++ == 5)
            continue;
        struct finding *f = judge_find(j, queue >= limit ? FINDING_ACT : FINDING_LOOK,
                                       judge_sure(j, queue, limit / 2));
        f->effort = EFFORT_SETTING;
        f->title = judge_text(j, "%s wait for the node %s", judge_bytes(j, queue),
                              fact_text(row, "node"));
        f->action = judge_text(j, "Send less there, or in smaller pieces; start with +zdbbl %.0f (KiB) so "
                                  "that senders are suspended later", limit * 4 / 1024);
        f->refute = "A queue that is empty at the next look: a single large message";
        f->subject = judge_text(j, "%s", fact_text(row, "node"));
        judge_evidence(j, f, "queue_bytes", queue, "bytes", "waiting: %s", judge_bytes(j, queue));
        judge_evidence(j, f, "busy_limit_bytes", limit, "bytes", "busy from %s", judge_bytes(j, limit));
    }
    json_decref(fact);
}

/* ---- garbage */

#define REDUCTIONS_A_GC 1500.0          /* fewer: collecting is much of the work */
#define BYTES_A_REDUCTION 64.0          /* reclaimed; more: most of the work makes garbage */

static void gc_subjects(struct judge *j, struct finding *f)
{
    const char *text = recording_fact(j->recording, "gc", j->to);
    json_t *fact = text ? json_loads(text, 0, NULL) : NULL, *row;
    size_t i;
    json_array_foreach(json_object_get(fact, "processes"), i, row) {
        if (i >= 3)
            break;
        f->subject = i == 0 ? judge_text(j, "%s", fact_text(row, "pid")) : f->subject;
        judge_evidence(j, f, "process", fact_number(row, "minor_gcs_per_s"), "per_s",
                       "%s %s %s: %.0f collections in a second", fact_text(row, "pid"),
                       fact_text(row, "name"), fact_text(row, "initial_call"),
                       fact_number(row, "minor_gcs_per_s"));
    }
    json_decref(fact);
    const struct recorded_call *most = NULL;
    for (size_t k = 0; k < j->n_calls; k++)
        if (j->calls[k].words > (most ? most->words : 0))
            most = &j->calls[k];
    if (most)
        judge_evidence(j, f, "words", (double)most->words, "words", "%s:%s/%lld made the most garbage of "
                       "the counted functions", judge_slice(j, most->module),
                       judge_slice(j, most->function), (long long)most->arity);
}

void judge_gc(struct judge *j)
{
    double gcs = judge_stats(j, "gcs_per_s").mean, words = judge_stats(j, "gc_words_per_s").mean;
    double reductions = judge_stats(j, "reductions_per_s").mean;
    double word = judge_node(j, "word_bytes"), bytes = words * (isnan(word) ? 8 : word);
    if (isnan(gcs) || isnan(reductions)) {
        judge_unknown(j, "collections and reductions were not recorded");
        return;
    }
    double use = judge_stats(j, "scheduler_use").mean;
    if (use < 0.1)
        return; /* nothing to win */
    bool often = gcs >= 1000 && reductions / gcs < REDUCTIONS_A_GC;
    bool much = reductions >= 1e6 && bytes / reductions > BYTES_A_REDUCTION;
    if (!often && !much)
        return;
    double sure = often ? judge_sure(j, REDUCTIONS_A_GC, reductions / gcs)
                        : judge_sure(j, bytes / reductions, BYTES_A_REDUCTION);
    struct finding *f = judge_find(j, FINDING_LOOK, sure);
    f->effort = EFFORT_SMALL;
    f->title = judge_text(j, "A collection comes every %.0f reductions, and %s of garbage in a second",
                          reductions / gcs, judge_bytes(j, bytes));
    f->action = "Start the processes that collect most with a larger heap (min_heap_size, of what they "
                "grow to), and make less garbage in the functions with the most words";
    f->refute = "Short-lived processes, whose heap is thrown away whole: they seldom collect";
    judge_evidence(j, f, "gcs_per_s", gcs, "per_s", "%s collections in a second", judge_count(j, gcs));
    judge_evidence(j, f, "reclaimed", bytes, "bytes", "%s reclaimed in a second, %.1f bytes a reduction",
                   judge_bytes(j, bytes), bytes / reductions);
    gc_subjects(j, f);
}
