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

static struct function_share row_of(struct summary_samples *s, const struct stacks_sum *sum,
                                    double n)
{
    const struct sample_frame *f = sum->at;
    struct arena *a = &s->all.arena;
    struct function_share row = {.function = f->name,
                                 .kind = slice_of(frame_kind_key(f->kind)),
                                 .object = f->object,
                                 .name = f->name,
                                 .self = sum->self / whole_of(s),
                                 .total = sum->total / whole_of(s),
                                 .at = f};
    if (f->object.len > 0)
        row.name = slice_of(
            arena_printf(a, "%s from %s", slice_text(a, f->name), slice_text(a, f->object)));
    row.self_error = sample_error(row.self, n);
    row.total_error = sample_error(row.total, n);
    return row;
}

void samples_take(struct summary_samples *s, struct recording *r, enum sample_kind kind,
                  int64_t from, int64_t to, struct error *err)
{
    struct error own = {0};
    if (recording_samples(r, from, to, kind == AT_YIELDS, &s->all, &own) != 0 &&
        err->code == ERR_NONE)
        *err = own;
    s->functions = functions_of(s->all.stacks);
    struct stacks_sum *sums = stacks_sums(s->functions, &s->n);
    s->rows = arena_alloc(&s->all.arena, (s->n + 1) * sizeof *s->rows);
    for (size_t i = 0; i < s->n; i++)
        s->rows[i] = row_of(s, &sums[i], independent_samples(s, kind));
    free(sums);
}

void samples_clear(struct summary_samples *s)
{
    if (!s->functions)
        return;
    stacks_free(s->functions);
    recorded_samples_clear(&s->all);
}

/* ---- shares */

static bool same_function(const struct sample_frame *a, const struct sample_frame *b)
{
    return a->kind == b->kind && slice_equal(a->name, b->name) && slice_equal(a->object, b->object);
}

/* NaN: no run. */
static double share_of(const struct summary *s, const struct sample_share *of)
{
    const struct summary_samples *x = &s->samples[of->kind];
    const double whole = whole_of(x);
    if (!(whole > 0))
        return NAN;
    if (of->by == BY_CLASS) {
        int64_t n = x->all.run.classes[of->in];
        return known_or_nan(n) / whole;
    }
    for (size_t i = 0; i < x->n; i++)
        if (same_function(x->rows[i].at, of->frame))
            return of->by == BY_SELF ? x->rows[i].self : x->rows[i].total;
    return 0;
}

struct mean samples_mean(const struct summary *s, const struct sample_share *of)
{
    struct mean m = {.value = share_of(s, of),
                     .n = independent_samples(&s->samples[of->kind], of->kind),
                     .proportion = true};
    m.recorded = m.n >= 3 && !isnan(m.value);
    return m;
}

static int by_total(const void *a, const void *b)
{
    const struct function_share *const *x = a, *const *y = b;
    if ((*x)->total != (*y)->total)
        return (*x)->total < (*y)->total ? 1 : -1;
    return *x < *y ? -1 : 1;
}

size_t samples_leaders(const struct summary_samples *s, enum share_by by,
                       struct function_share out[SHOWN])
{
    const struct function_share **list = alloc_zero(s->n + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (!slice_is(s->rows[i].function, "…") && (by == BY_TOTAL || s->rows[i].self > 0))
            list[n++] = &s->rows[i];
    if (by == BY_TOTAL && n > 0)
        qsort(list, n, sizeof *list, by_total);
    n = n < SHOWN ? n : SHOWN;
    for (size_t i = 0; i < n; i++)
        out[i] = *list[i];
    free(list);
    return n;
}

/* ---- one recording */

static const char *integer_text(struct arena *a, int64_t n)
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
        integer_text(a, run->samples), (long long)s->all.runs, s->all.runs == 1 ? "run" : "runs",
        number_text(a, COLUMN_SECONDS, run->seconds), isnan(run->hz) ? "" : " at ",
        isnan(run->hz) ? "" : arena_printf(a, "%g Hz", run->hz), integer_text(a, run->lost),
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

/* SAMPLE_CLASSES rows. */
static struct samples_row *class_rows(const struct summary *s, bool words, struct arena *a)
{
    struct samples_row *rows = arena_alloc(a, SAMPLE_CLASSES * sizeof *rows);
    for (enum sample_class in = 0; in < SAMPLE_CLASSES; in++) {
        const struct sample_share of = {OF_CPU, BY_CLASS, in, NULL};
        const double share = share_of(s, &of);
        rows[in] = (struct samples_row){
            .name = slice_of(words ? sample_class_name(in) : sample_class_key(in)),
            .samples = s->samples[OF_CPU].all.run.classes[in],
            .share = share,
            .error = sample_error(share, whole_of(&s->samples[OF_CPU]))};
    }
    return rows;
}

static void put_sample_tables(struct paper *p, const struct summary *s, enum sample_kind kind)
{
    static const char *const headings[SHARE_WAYS] = {"", "By function (self)",
                                                     "By function, with what it calls (total)"};
    const struct samples_summary *run = &s->samples[kind].all.run;
    struct function_share rows[SHOWN];
    if (kind == OF_CPU)
        paper_rows(p, &summary_class_fields, class_rows(s, true, &p->arena), SAMPLE_CLASSES,
                   sizeof(struct samples_row));
    for (enum share_by by = BY_SELF; by < SHARE_WAYS; by++) {
        paper_heading(p, 3, "%s", headings[by]);
        size_t n = samples_leaders(&s->samples[kind], by, rows);
        paper_rows(p, by == BY_SELF ? &summary_self_fields : &summary_total_fields, rows, n,
                   sizeof *rows);
    }
    size_t n;
    const struct samples_row *processes =
        samples_rows(run, SAMPLES_BY_PROCESS, false, &p->arena, &n);
    if (n > 0) {
        paper_heading(p, 3, "By process");
        paper_rows(p, &summary_process_fields, processes, n < SHOWN ? n : SHOWN, sizeof *processes);
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
        if (s->samples[kind].all.run.samples > 0)
            put_sample_tables(p, s, kind);
    }
}

/* ---- JSON */

static json_t *json_functions(const struct summary_samples *x)
{
    struct function_share leading[2 * SHOWN];
    json_t *list = json_array();
    size_t n = samples_leaders(x, BY_SELF, leading);
    n += samples_leaders(x, BY_TOTAL, leading + n);
    for (size_t i = 0; i < x->n; i++) {
        bool leads = false;
        for (size_t k = 0; k < n; k++)
            leads = leads || leading[k].at == x->rows[i].at;
        if (leads)
            json_array_append_new(list, json_row(&summary_self_fields, &x->rows[i]));
    }
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
    struct arena arena;
    arena_init(&arena);
    const size_t classes = kind == OF_CPU && run->samples > 0 ? SAMPLE_CLASSES : 0;
    const struct samples_row *rows = class_rows(s, false, &arena);
    json_set(o, "classes", json_rows(&summary_class_fields, rows, classes, sizeof *rows));
    json_set(o, "functions", json_functions(&s->samples[kind]));
    arena_clear(&arena);
    return o;
}
