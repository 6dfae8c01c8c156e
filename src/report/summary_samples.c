/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of the sampler in reports: where the CPU time of the VM goes, with the error of each share.
 * Runs at yields are of reductions: they have separate tables, and no sum with the others. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/output/json.h"
#include "summary_internal.h"

/* ---- taking */

/* A function is one, wherever in it a sample was, and wherever its code was loaded from. */
static struct stacks *functions_of(const struct stacks *s)
{
    struct stacks *out = stacks_new();
    uint32_t *index = alloc_zero(stacks_nodes(s), sizeof *index);
    for (uint32_t i = 1; i < stacks_nodes(s); i++) {
        const struct stacks_node *node = stacks_node(s, i);
        struct sample_frame f = *stacks_frame_at(s, node->frame);
        f.file = (struct slice){0};
        f.line = 0;
        index[i] = stacks_step(out, index[node->parent], stacks_frame(out, &f));
        stacks_weigh(out, index[i], node->self);
    }
    stacks_weigh(out, 0, stacks_node(s, 0)->self);
    free(index);
    return out;
}

void samples_take(struct summary_samples *s, struct recording *r, enum sample_kind kind,
                  int64_t from, int64_t to, struct error *err)
{
    struct error own = {0};
    if (recording_samples(r, from, to, kind == AT_YIELDS, &s->all, &own) != 0 &&
        err->code == ERR_NONE)
        *err = own;
    s->functions = functions_of(s->all.stacks);
    s->sums = stacks_sums(s->functions, &s->n);
}

void samples_clear(struct summary_samples *s)
{
    if (!s->functions)
        return;
    free(s->sums);
    stacks_free(s->functions);
    recorded_samples_clear(&s->all);
}

/* ---- shares */

static bool same_function(const struct sample_frame *a, const struct sample_frame *b)
{
    return a->kind == b->kind && slice_equal(a->name, b->name) && slice_equal(a->object, b->object);
}

static const struct stacks_sum *sum_in(const struct summary_samples *s,
                                       const struct sample_frame *like)
{
    for (size_t i = 0; i < s->n; i++)
        if (same_function(s->sums[i].at, like))
            return &s->sums[i];
    return NULL;
}

/* Samples: a run may have lost some of its tree, not of its number. */
static double whole_of(const struct summary_samples *s)
{
    return fmax((double)s->all.run.samples, stacks_total(s->functions));
}

/* What errors rest on: weights at yield points are reductions, of so many looks. */
static double independent_samples(const struct summary_samples *s, enum sample_kind kind)
{
    return kind == OF_CPU ? whole_of(s) : (double)s->all.run.samples;
}

double samples_share_of(const struct summary *s, const struct sample_share *of)
{
    const struct summary_samples *x = &s->samples[of->kind];
    const double whole = whole_of(x);
    if (!(whole > 0))
        return NAN;
    if (of->by == BY_CLASS) {
        int64_t n = x->all.run.classes[of->in];
        return known_or_nan(n) / whole;
    }
    const struct stacks_sum *sum = sum_in(x, of->frame);
    return !sum ? 0 : (of->by == BY_SELF ? sum->self : sum->total) / whole;
}

struct mean samples_mean(const struct summary *s, const struct sample_share *of)
{
    struct mean m = {.value = samples_share_of(s, of),
                     .n = independent_samples(&s->samples[of->kind], of->kind),
                     .proportion = true};
    m.recorded = m.n >= 3 && !isnan(m.value);
    return m;
}

static int by_total(const void *a, const void *b)
{
    const struct stacks_sum *const *x = a, *const *y = b;
    if ((*x)->total != (*y)->total)
        return (*x)->total < (*y)->total ? 1 : -1;
    return *x < *y ? -1 : 1;
}

const struct stacks_sum **samples_leaders(const struct summary_samples *s, enum share_by by,
                                          size_t *n)
{
    const struct stacks_sum **list = alloc_zero(s->n + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!slice_is(s->sums[i].at->name, "…") && (by == BY_TOTAL || s->sums[i].self > 0))
            list[(*n)++] = &s->sums[i];
    if (by == BY_TOTAL && *n > 0)
        qsort(list, *n, sizeof *list, by_total);
    *n = *n < SHOWN ? *n : SHOWN;
    return list;
}

const char *samples_share_name(struct arena *a, const struct sample_share *of)
{
    if (of->by == BY_CLASS)
        return sample_class_name(of->in);
    const struct sample_frame *f = of->frame;
    return f->object.len > 0
               ? arena_printf(a, "%s from %s", slice_text(a, f->name), slice_text(a, f->object))
               : slice_text(a, f->name);
}

/* ---- one recording */

static const char *count_text(struct arena *a, int64_t n)
{
    char out[40];
    return n < 0 ? "–" : arena_strdup(a, text_integer(out, sizeof out, n));
}

static const char *part_text(struct arena *a, int64_t n, int64_t of)
{
    return n < 0 || of <= 0 ? "–" : number_text(a, COLUMN_SHARE, (double)n / (double)of);
}

static void put_samples_head(struct paper *p, const struct summary_samples *s,
                             enum sample_kind kind)
{
    const struct samples_summary *run = &s->all.run;
    struct arena *a = &p->arena;
    if (kind == AT_YIELDS)
        paper_put(p, "These samples were taken where processes yield: shares are of reductions, "
                     "not of CPU time. BIFs, NIFs and garbage collection are hardly among them.");
    paper_put(
        p,
        "%s samples in %lld %s of %s together%s%s. Lost %s, moved on %s, truncated %s, unresolved "
        "%s, complete %s.",
        count_text(a, run->samples), (long long)s->all.runs, s->all.runs == 1 ? "run" : "runs",
        number_text(a, COLUMN_SECONDS, run->seconds), isnan(run->hz) ? "" : " at ",
        isnan(run->hz) ? "" : arena_printf(a, "%g Hz", run->hz), count_text(a, run->lost),
        part_text(a, run->moved_on, run->samples), part_text(a, run->truncated, run->samples),
        part_text(a, run->unresolved, run->samples), part_text(a, run->complete, run->samples));
    if (!isnan(run->sampler_cpu_s))
        paper_put(p, "Sampling took %s of CPU time%s.",
                  number_text(a, COLUMN_SECONDS, run->sampler_cpu_s),
                  run->seconds > 0 ? arena_printf(a, ", %s of one CPU",
                                                  number_text(a, COLUMN_SHARE,
                                                              run->sampler_cpu_s / run->seconds))
                                   : "");
    if (whole_of(s) > 0 && s->all.left_out >= 0.01 * whole_of(s))
        paper_put(p,
                  "%s of the samples ended in functions that were not recorded, with small shares "
                  "each: their callers are known.",
                  number_text(a, COLUMN_SHARE, s->all.left_out / whole_of(s)));
}

static const char *error_text(struct arena *a, double share, double n)
{
    return arena_printf(a, "±%.1f", 100 * sample_error(share, n));
}

static void put_class_shares(struct paper *p, const struct summary *s)
{
    static const char *const titles[] = {"class", "share", "±95%", "samples"};
    const double whole = whole_of(&s->samples[OF_CPU]);
    struct arena *a = &p->arena;
    struct block *t = paper_table(p, titles, ARRAY_LEN(titles), "lrrr");
    for (enum sample_class in = 0; in < SAMPLE_CLASSES; in++) {
        const struct sample_share of = {OF_CPU, BY_CLASS, in, NULL};
        const double share = samples_share_of(s, &of);
        const char *cells[] = {sample_class_name(in), number_text(a, COLUMN_SHARE, share),
                               error_text(a, share, whole),
                               count_text(a, isnan(share) ? -1 : llround(share * whole))};
        paper_row(p, t, cells);
    }
}

static void put_top_functions(struct paper *p, const struct summary *s, enum sample_kind kind,
                              enum share_by by)
{
    static const char *const titles[2][5] = {{"function", "kind", "self", "±95%", "total"},
                                             {"function", "kind", "total", "±95%", "self"}};
    const double whole = whole_of(&s->samples[kind]);
    struct arena *a = &p->arena;
    size_t n;
    const struct stacks_sum **list = samples_leaders(&s->samples[kind], by, &n);
    paper_heading(p, 3,
                  by == BY_SELF ? "By function (self)" : "By function, with what it calls (total)");
    struct block *t = paper_table(p, titles[by == BY_TOTAL], 5, "llrrr");
    for (size_t i = 0; i < n; i++) {
        const struct sample_share share = {kind, by, SAMPLE_CLASSES, list[i]->at};
        const double first = samples_share_of(s, &share);
        const double second = (by == BY_SELF ? list[i]->total : list[i]->self) / whole;
        const char *cells[] = {samples_share_name(a, &share), frame_kind_key(list[i]->at->kind),
                               number_text(a, COLUMN_SHARE, first),
                               error_text(a, first, independent_samples(&s->samples[kind], kind)),
                               number_text(a, COLUMN_SHARE, second)};
        paper_row(p, t, cells);
    }
    free(list);
}

static void put_processes(struct paper *p, const struct samples_summary *run)
{
    static const char *const titles[] = {"process", "name", "samples", "share"};
    struct arena *a = &p->arena;
    if (run->n_processes == 0)
        return;
    paper_heading(p, 3, "By process");
    struct block *t = paper_table(p, titles, ARRAY_LEN(titles), "llrr");
    for (size_t i = 0; i < run->n_processes && i < SHOWN; i++) {
        const struct samples_source *x = &run->processes[i];
        const char *cells[] = {slice_text(a, x->name), slice_text(a, x->about),
                               count_text(a, x->samples), part_text(a, x->samples, run->samples)};
        paper_row(p, t, cells);
    }
}

void samples_one(struct paper *p, const struct summary *s)
{
    static const char *const headings[SAMPLE_KINDS] = {"Where the CPU goes",
                                                       "Where reductions go (samples at yields)"};
    for (enum sample_kind kind = 0; kind < SAMPLE_KINDS; kind++) {
        if (s->samples[kind].all.runs == 0)
            continue;
        paper_heading(p, 2, "%s", headings[kind]);
        put_samples_head(p, &s->samples[kind], kind);
        if (s->samples[kind].all.run.samples == 0)
            continue;
        if (kind == OF_CPU)
            put_class_shares(p, s);
        put_top_functions(p, s, kind, BY_SELF);
        put_top_functions(p, s, kind, BY_TOTAL);
        put_processes(p, &s->samples[kind].all.run);
    }
}

/* ---- JSON */

static json_t *json_classes(const struct summary *s, enum sample_kind kind)
{
    json_t *list = json_array();
    const bool any = kind == OF_CPU && s->samples[kind].all.run.samples > 0;
    for (enum sample_class in = 0; any && in < SAMPLE_CLASSES; in++) {
        const struct sample_share of = {kind, BY_CLASS, in, NULL};
        const double share = samples_share_of(s, &of);
        json_t *o = json_object();
        json_set(o, "class", json_string(sample_class_key(in)));
        json_set(o, "share", json_number(share));
        json_set(o, "share_error",
                 json_number(sample_error(share, independent_samples(&s->samples[kind], kind))));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *json_functions(const struct summary *s, enum sample_kind kind)
{
    const struct summary_samples *x = &s->samples[kind];
    const double whole = whole_of(x);
    json_t *list = json_array();
    bool *leads = alloc_zero(x->n + 1, sizeof *leads);
    for (enum share_by by = BY_SELF; by <= BY_TOTAL; by++) {
        size_t n;
        const struct stacks_sum **leaders = samples_leaders(x, by, &n);
        for (size_t i = 0; i < n; i++)
            leads[leaders[i] - x->sums] = true;
        free(leaders);
    }
    for (size_t i = 0; i < x->n; i++) {
        const struct sample_frame *f = x->sums[i].at;
        const double self = x->sums[i].self / whole, total = x->sums[i].total / whole;
        if (!leads[i])
            continue;
        json_t *o = json_object();
        json_set(o, "function", json_slice(f->name));
        json_set(o, "kind", json_string(frame_kind_key(f->kind)));
        json_set(o, "object", json_slice(f->object));
        json_set(o, "self_share", json_number(self));
        json_set(o, "self_error", json_number(sample_error(self, independent_samples(x, kind))));
        json_set(o, "total_share", json_number(total));
        json_set(o, "total_error", json_number(sample_error(total, independent_samples(x, kind))));
        json_array_append_new(list, o);
    }
    free(leads);
    return list;
}

json_t *samples_json(const struct summary *s, enum sample_kind kind)
{
    const struct recorded_samples *all = &s->samples[kind].all;
    const struct samples_summary *run = &all->run;
    if (all->runs == 0)
        return json_null();
    json_t *o = json_object();
    json_set(o, "runs", json_integer(all->runs));
    json_set(o, "samples", json_integer(run->samples));
    json_set(o, "seconds", json_number(run->seconds));
    json_set(o, "hz", json_number(run->hz));
    json_set(o, "lost", json_known(run->lost));
    json_set(o, "moved_on", json_known(run->moved_on));
    json_set(o, "truncated", json_known(run->truncated));
    json_set(o, "unresolved", json_known(run->unresolved));
    json_set(o, "complete", json_known(run->complete));
    json_set(o, "left_out", json_number(all->left_out));
    json_set(o, "sampler_cpu_s", json_number(run->sampler_cpu_s));
    json_set(o, "target_cpu_s", json_number(run->target_cpu_s));
    json_set(o, "classes", json_classes(s, kind));
    json_set(o, "functions", json_functions(s, kind));
    return o;
}
