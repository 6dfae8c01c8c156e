/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who holds most memory of a type where nothing grows. */
#include <math.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/model/process_name.h"
#include "rules_internal.h"

#define MIB 1048576.0
#define HELD_BYTES (32 * MIB)
#define HELD_SHARE (1 / 3.0) /* of its type */
#define HELD_OF_ALL 0.1      /* of the node's memory */
#define SHARED 1.1           /* times their type: as much as two moments may differ by */
#define STEADY 0.05          /* of the type, from the first tick to the last */

struct memory_holder {
    const char *name; /* with "has" or "have" */
    double bytes;
    const json_t *kind; /* of the fact `held`; NULL: of something else */
};

/* Tables of one name and owner, as far as they are among the largest. */
static struct memory_holder largest_tables(struct judge *j)
{
    struct memory_holder most = {"", 0, NULL};
    const json_t *rows = json_object_get(judge_fact_at(j, "ets", j->to), "tables"), *row, *like;
    size_t i, k;
    json_array_foreach (rows, i, row) {
        double bytes = 0;
        size_t n = 0;
        json_array_foreach (rows, k, like) {
            const double each = fact_number(like, "memory_bytes");
            if (strcmp(fact_text(row, "name"), fact_text(like, "name")) == 0 &&
                strcmp(fact_text(row, "owner"), fact_text(like, "owner")) == 0 && !isnan(each)) {
                bytes += each;
                n++;
            }
        }
        if (bytes > most.bytes && *fact_text(row, "name"))
            most = (struct memory_holder){
                n > 1 ? judge_text(j, "%zu of the largest ETS tables, %s (%s), have", n,
                                   fact_text(row, "name"), fact_text(row, "owner"))
                      : judge_text(j, "ETS table %s (%s) has", fact_text(row, "name"),
                                   fact_text(row, "owner")),
                bytes, NULL};
    }
    return most;
}

/* More than there is: several refer to the same, and what one of them does is all that is known. */
static double least_held(const json_t *kind, const char *bytes, double all)
{
    const double n = fact_number(kind, "processes"), held = fact_number(kind, bytes);
    return held > SHARED * all ? held / fmax(n, 1) : held;
}

/* Of all processes, or of those that have been looked at so far: of a list of `held`, of a type of
 * that many bytes. */
static struct memory_holder largest_kind(struct judge *j, const char *list, const char *bytes,
                                         double all)
{
    const json_t *kinds = json_object_get(judge_fact_at(j, "held", j->to), list), *kind = NULL, *k;
    double held = 0;
    size_t i;
    json_array_foreach (kinds, i, k)
        if (least_held(k, bytes, all) > held) {
            kind = k;
            held = least_held(k, bytes, all);
        }
    const char *call = fact_text(kind, "initial_call"), *name = fact_text(kind, "name");
    const double n = fact_number(kind, "processes");
    if (!kind || isnan(n))
        return (struct memory_holder){"", 0, NULL};
    const bool is_generic = !*call || process_call_is_generic(slice_of(call));
    const char *what = is_generic ? fact_text(kind, "function") : call;
    const bool one = n < 1.5;
    return (struct memory_holder){
        one && *name ? judge_text(j, "%s holds", name)
        : one        ? judge_text(j, "A process of %s holds", what)
              : judge_text(j, "%.0f processes %s %s hold", n, is_generic ? "in" : "of", what),
        held, kind};
}

static struct memory_holder largest_of_binaries(struct judge *j)
{
    return largest_kind(j, "binaries", "binary_bytes", judge_stats(j, "memory_binary_bytes").last);
}

static struct memory_holder largest_of_rows(struct judge *j)
{
    struct memory_holder most = {"", 0, NULL};
    for (size_t i = 0; i < j->owners[BY_KIN].n; i++) {
        const struct period_owner *o = &j->owners[BY_KIN].items[i];
        const bool one = o->processes < 1.5;
        if (o->owner.len > 0 && o->memory_bytes > most.bytes &&
            !judge_owner_is_generic(BY_KIN, o->owner))
            most = (struct memory_holder){judge_text(j, "%.0f process%s of %s ha%s", o->processes,
                                                     one ? "" : "es", judge_slice(j, o->owner),
                                                     one ? "s" : "ve"),
                                          o->memory_bytes, NULL};
    }
    return most;
}

static struct memory_holder largest_kin(struct judge *j)
{
    const struct memory_holder rows = largest_of_rows(j),
                               all = largest_kind(j, "memory", "memory_bytes", HUGE_VAL);
    return all.bytes > rows.bytes ? all : rows;
}

static const struct {
    const char *key, *name;
    struct memory_holder (*largest)(struct judge *j);
    const char *action;
} held_types[] = {
    {"memory_ets_bytes", "ETS memory", largest_tables,
     "See all tables with their owners (beamtop tables NODE). Bound what is kept by size or age"},
    {"memory_processes_bytes", "process memory", largest_kin,
     "See where their memory is (beamtop heapsample NODE --by kin). Bound their state, or let them "
     "hibernate while they wait"},
    {"memory_binary_bytes", "binary memory", largest_of_binaries,
     "See who holds them (beamtop holders NODE). Copy the part that is kept "
     "(binary:copy/1), since a small part keeps the whole binary, or let them hibernate"},
};

static void tell_kind(struct judge *j, struct finding *f, const json_t *kind)
{
    const double binaries = fact_number(kind, "binaries"),
                 memory = fact_number(kind, "memory_bytes");
    judge_evidence(j, f, "memory_bytes", memory, "bytes", "memory of these processes: %s",
                   judge_bytes(j, memory));
    judge_evidence(j, f, "binaries", binaries, "", "refc binaries that they refer to: %.0f",
                   binaries);
    judge_evidence(j, f, "largest", NAN, "", "the largest: %s%s%s", fact_text(kind, "pid"),
                   *fact_text(kind, "name") ? " " : "", fact_text(kind, "name"));
}

static void find_held(struct judge *j, size_t type, const struct memory_holder *h, double of,
                      double all)
{
    struct finding *f = judge_find(j, FINDING_NOTE, h->bytes / of, h->bytes / all);
    f->title = judge_text(j, "%s %s, %s of %s", h->name, judge_bytes(j, h->bytes),
                          judge_percent(j, h->bytes / of), held_types[type].name);
    f->action = held_types[type].action;
    f->ruled_out_if = "It is meant to be that large: it does not grow";
    judge_evidence(j, f, held_types[type].key, of, "bytes", "%s: %s of %s in all",
                   held_types[type].name, judge_bytes(j, of), judge_bytes(j, all));
    judge_evidence(j, f, "held_bytes", h->bytes, "bytes", "held: %s", judge_bytes(j, h->bytes));
    if (h->kind)
        tell_kind(j, f, h->kind);
}

void judge_held(struct judge *j)
{
    const double all = judge_stats(j, "memory_total_bytes").last;
    for (size_t i = 0; i < ARRAY_LEN(held_types); i++) {
        const struct period_stats of = judge_stats(j, held_types[i].key);
        if (isnan(of.last) || isnan(all)) {
            judge_unknown(j, "%s was not recorded", held_types[i].name);
            continue;
        }
        struct memory_holder h = held_types[i].largest(j);
        h.bytes = fmin(h.bytes, of.last); /* one that several refer to counts for each */
        const bool is_steady = fabs(of.last - of.first) <= STEADY * of.last;
        if (is_steady && h.bytes >= judge_limit(j, HELD_BYTES) &&
            h.bytes >= judge_limit(j, HELD_SHARE) * of.last &&
            h.bytes >= judge_limit(j, HELD_OF_ALL) * all)
            find_held(j, i, &h, of.last, all);
    }
}
