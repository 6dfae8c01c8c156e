/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What recordings are compared by, and whether two of them differ by more than ticks vary. */
#include <math.h>
#include <string.h>

#include "summary_internal.h"

#define ROWS_MOST 40 /* of a table */
#define SUBJECTS_MOST                                                                              \
    (METRICS + STATS + (OWNER_SORTS + 2 + SAMPLE_KINDS * SHARE_WAYS) * (ROWS_MOST + 1))

/* ---- means */

struct mean mean_of_stats(const struct period_stats *v, enum stat stat)
{
    const double values[STATS] = {v->mean, v->p95, v->max};
    return (struct mean){values[stat], v->stddev, v->independent, .recorded = v->n > 0};
}

struct mean mean_of_share(const struct period_owner *owner, bool are_others, int64_t ticks)
{
    const double n = (double)ticks;
    if (owner)
        return (struct mean){owner->share, owner->share_stddev, n, .recorded = true};
    return (struct mean){are_others ? 0 : NAN, 0, n, .recorded = are_others};
}

static struct mean mean_of_owner(const struct summary *s, const struct subject *of)
{
    const struct owner_list *list = &s->owners[of->sort];
    size_t i = 0;
    while (i < list->n && !slice_equal(list->items[i].owner, of->owner))
        i++;
    return mean_of_share(i < list->n ? &list->items[i] : NULL, list->n > 0, s->ticks);
}

/* One that no window lists may not have been counted: it is unknown. */
static struct mean mean_of_call(const struct summary *s, const struct subject *of)
{
    for (const struct recorded_call *c = s->sums.top; c < s->sums.top + s->sums.n_top; c++) {
        const double n = (double)c->windows;
        if (c->arity != of->call->arity || !slice_equal(c->module, of->call->module) ||
            !slice_equal(c->function, of->call->function))
            continue;
        return of->kind == OF_CALL_SHARE
                   ? (struct mean){c->share, c->share_stddev, n, .recorded = true}
                   : (struct mean){c->calls_per_s, c->calls_per_s_stddev, n, .recorded = true};
    }
    return (struct mean){NAN, NAN, 0, .recorded = s->sums.n_top > 0};
}

struct mean subject_mean(const struct summary *s, const struct subject *of)
{
    switch (of->kind) {
    case OF_NODE:
        return mean_of_stats(&s->stats[of->metric], of->stat);
    case OF_OWNER:
        return mean_of_owner(s, of);
    case OF_CALL:
    case OF_CALL_SHARE:
        return mean_of_call(s, of);
    case OF_SAMPLES:
        return samples_mean(s, &of->share);
    case OF_RUNS:
        return (struct mean){(double)s->samples[of->share.kind].all.run.samples, NAN, 0,
                             .recorded = true};
    }
    return (struct mean){NAN, NAN, 0, .recorded = false};
}

/* ---- changes */

struct change change_of(struct mean before, struct mean after)
{
    struct change c = {.before = before.value, .after = after.value, .noise = NAN};
    if (before.proportion) {
        const double both =
            (before.value * before.n + after.value * after.n) / (before.n + after.n);
        before.spread = after.spread = sqrt(fmax(both * (1 - both), 0));
    }
    double one = before.spread * before.spread / before.n;
    double other = after.spread * after.spread / after.n;
    c.known = before.n >= 3 && after.n >= 3 && !isnan(one + other + before.value + after.value);
    if (!c.known)
        return c;
    double difference = fabs(after.value - before.value);
    c.noise = 3 * sqrt(one + other);
    c.real = difference > c.noise && difference > 0.01 * fmax(fabs(c.before), fabs(c.after));
    return c;
}

bool subject_change(const struct subject *of, const struct summary *a, const struct summary *b,
                    struct change *out)
{
    const struct mean before = subject_mean(a, of), after = subject_mean(b, of);
    *out = change_of(before, after);
    return of->title && (of->kind == OF_NODE || (before.recorded && after.recorded));
}

/* ---- subjects */

static bool is_listed(const struct subjects *l, const struct subject *x)
{
    for (size_t i = l->begin; i < l->n; i++)
        if (l->items[i].kind == x->kind && strcmp(l->items[i].what, x->what) == 0 &&
            (!x->share.frame || l->items[i].share.frame->kind == x->share.frame->kind))
            return true;
    return false;
}

static void add_subject(struct subjects *l, struct subject x)
{
    if (l->n - l->begin < 2 * ROWS_MOST && !is_listed(l, &x))
        l->items[l->n++] = x;
}

static void add_metrics(struct subjects *l, const struct summary *s, size_t n)
{
    static const char *const queues[STATS] = {"", "run queue, p95", "run queue, max"};
    for (int m = 0; m < METRICS; m++) {
        const struct metric *metric = &summary_metrics[m];
        struct subject x = {.kind = OF_NODE,
                            .what = metric->key,
                            .name = metric->title,
                            .title = metric->title,
                            .heading = "The node (means, unless stated)",
                            .type = metric->type,
                            .metric = m};
        bool any = false;
        for (size_t i = 0; i < n; i++)
            any = any || s[i].stats[m].n > 0;
        if (any)
            add_subject(l, x);
        for (x.stat = STAT_P95; any && strcmp(metric->key, "run_queue") == 0 && x.stat < STATS;
             x.stat++) {
            x.what = x.name = queues[x.stat];
            x.title = NULL;
            add_subject(l, x);
        }
    }
}

/* The name with the kind that any recording recognised it as. */
static const char *owner_title(struct arena *a, const struct summary *s, size_t n,
                               enum owner_sort sort, struct slice name)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s[i].owners[sort].n; k++) {
            const struct period_owner *o = &s[i].owners[sort].items[k];
            if (o->kind.len > 0 && slice_equal(o->owner, name))
                return arena_printf(a, "%s (%s)", slice_text(a, name), slice_text(a, o->kind));
        }
    return slice_text(a, name);
}

static void add_owners(struct subjects *l, const struct summary *s, size_t n, enum owner_sort sort)
{
    static const char *const headings[OWNER_SORTS] = {
        "Share of reductions by application", "Share of reductions by supervisor",
        "Share of reductions by module",      "Share of reductions by registered name",
        "Share of reductions by label",       "Share of reductions by kin"};
    struct subject x = {.kind = OF_OWNER,
                        .by = owner_sort_keys[sort],
                        .heading = headings[sort],
                        .type = COLUMN_SHARE,
                        .sort = sort};
    l->begin = l->n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s[i].owners[sort].n && k < l->owners; k++) {
            const struct period_owner *o = &s[i].owners[sort].items[k];
            if (o->owner.len == 0 || !(o->share >= l->least || isnan(l->least)) ||
                l->n - l->begin >= ROWS_MOST)
                continue;
            x.owner = o->owner;
            x.what = slice_text(l->arena, o->owner);
            x.name = owner_title(l->arena, s, n, sort, o->owner);
            x.title = arena_printf(l->arena, "share of %s %s", x.by, x.what);
            add_subject(l, x);
        }
    x.what = x.name = "(the rest)";
    x.title = NULL;
    x.owner = (struct slice){"", 0};
    if (l->n > l->begin)
        add_subject(l, x);
}

static void add_calls(struct subjects *l, const struct summary *s, size_t n)
{
    l->begin = l->n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < s[i].sums.n_top && k < SHOWN; k++) {
            const struct recorded_call *c = &s[i].sums.top[k];
            const char *name = call_text(l->arena, c);
            add_subject(l, (struct subject){.kind = OF_CALL,
                                            .what = name,
                                            .by = "calls_per_s",
                                            .name = name,
                                            .title = arena_printf(l->arena, "calls/s of %s", name),
                                            .heading = "Calls per second",
                                            .type = COLUMN_RATE,
                                            .call = c});
            add_subject(
                l, (struct subject){.kind = OF_CALL_SHARE,
                                    .what = name,
                                    .by = "call_share",
                                    .title = arena_printf(l->arena, "share of calls of %s", name),
                                    .type = COLUMN_SHARE,
                                    .call = c});
        }
}

/* Below a row with the number of samples. */
static void add_share(struct subjects *l, struct sample_share share, const char *name)
{
    static const struct {
        const char *key, *heading;
    } tables[SAMPLE_KINDS][SHARE_WAYS] = {
        {{"cpu_class", "Where the CPU goes: share of the samples by class"},
         {"cpu_self", "… by function (self)"},
         {"cpu_total", "… by function, with what it calls (total)"}},
        {{"", ""},
         {"yields_self", "Where reductions go: share of the samples at yields by function (self)"},
         {"yields_total", "… at yields, with what it calls (total)"}}};
    static const char *const of[SAMPLE_KINDS] = {"CPU time", "samples at yields"};
    static const char *const ways[SHARE_WAYS] = {"", " (self)", " (total)"};
    struct subject x = {
        .kind = OF_SAMPLES,
        .what = share.by == BY_CLASS ? sample_class_key(share.in) : name,
        .name = name,
        .by = tables[share.kind][share.by].key,
        .heading = tables[share.kind][share.by].heading,
        .title = arena_printf(l->arena, "%s in %s%s", of[share.kind], name, ways[share.by]),
        .type = COLUMN_SHARE,
        .share = share};
    struct subject runs = {.kind = OF_RUNS,
                           .what = "samples",
                           .name = "samples",
                           .by = x.by,
                           .heading = x.heading,
                           .type = COLUMN_COUNT,
                           .share.kind = share.kind};
    add_subject(l, runs);
    if (l->n - l->begin <= ROWS_MOST)
        add_subject(l, x);
}

static void add_samples(struct subjects *l, const struct summary *s, size_t n,
                        enum sample_kind kind, enum share_by by)
{
    l->begin = l->n;
    for (size_t i = 0; i < n; i++) {
        const struct summary_samples *from = &s[i].samples[kind];
        struct function_share rows[SHOWN];
        const size_t leading = by == BY_CLASS ? 0 : samples_leaders(from, by, rows);
        const bool classes = by == BY_CLASS && kind == OF_CPU && from->all.run.samples > 0;
        for (size_t k = 0; k < leading; k++)
            add_share(l, (struct sample_share){kind, by, SAMPLE_CLASSES, rows[k].at},
                      slice_text(l->arena, rows[k].name));
        for (enum sample_class in = 0; classes && in < SAMPLE_CLASSES; in++)
            add_share(l, (struct sample_share){kind, by, in, NULL}, sample_class_name(in));
    }
}

void subjects_find(struct subjects *l, const struct summary *s, size_t n)
{
    l->items = arena_alloc(l->arena, SUBJECTS_MOST * sizeof *l->items);
    add_metrics(l, s, n);
    for (enum owner_sort sort = 0; sort < OWNER_SORTS; sort++)
        add_owners(l, s, n, sort);
    add_calls(l, s, n);
    for (enum sample_kind kind = 0; kind < SAMPLE_KINDS; kind++)
        for (enum share_by by = 0; by < SHARE_WAYS; by++)
            add_samples(l, s, n, kind, by);
}
