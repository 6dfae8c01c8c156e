/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rules/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/hash.h"
#include "report/rules/work.h"

/* While they are summed: root functions, by their names. */
struct group {
    struct slice operation;
    uint32_t index; /* in the list */
    UT_hash_handle hh;
};

struct sums {
    struct requests *out;
    struct group *groups;
    struct span_sum *paths;
};

/* NULL: there are too many. */
static struct requests_of *group_named(struct sums *s, struct slice operation)
{
    struct requests *out = s->out;
    struct group *group;
    if (operation.len == 0)
        operation = slice_of("");
    HASH_FIND(hh, s->groups, operation.s, operation.len, group);
    if (!group && out->n >= REQUEST_KINDS_MOST)
        return NULL;
    if (!group) {
        group = arena_alloc(&out->arena, sizeof *group);
        *group = (struct group){slice_keep(&out->arena, operation), (uint32_t)out->n, .hh = {0}};
        HASH_ADD_KEYPTR(hh, s->groups, group->operation.s, group->operation.len, group);
        out->list[out->n++].operation = group->operation;
    }
    return &out->list[group->index];
}

static void merge_part(struct span_part *part, enum span_step_kind kind)
{
    (void)kind;
    if (part->own)
        part->process = (struct span_process){0};
}

static struct slice process_text(struct arena *a, const struct span_process *p)
{
    const char *name = p->name.len > 0 ? arena_strndup(a, p->name.s, p->name.len) : "unnamed";
    if (p->node.len == 0)
        return slice_of(name);
    return slice_of(arena_printf(a, "%s@%.*s", name, (int)p->node.len, p->node.s));
}

static void add_duration(struct requests_of *of, double ns)
{
    of->durations = alloc_grow(of->durations, of->n_durations, sizeof *of->durations);
    of->durations[of->n_durations++] = ns;
    of->ns += ns;
}

static void add_root(struct sums *s, const struct spans *spans, uint32_t root)
{
    const struct span *span = spans_at(spans, root);
    struct requests_of *of = group_named(s, span->operation);
    s->out->roots++;
    if (!of) {
        s->out->left_out++;
        return;
    }
    of->roots++;
    of->outcomes[span->outcome]++;
    if (span->outcome == SPAN_OPEN)
        return; /* how long it takes is unknown */
    of->left_out_ns +=
        (double)span_sum_add(s->paths, spans, root, (uint32_t)(of - s->out->list), false);
    add_duration(of, (double)span_duration(span));
}

static void add_run(struct sums *s, const struct spans_run *run)
{
    s->out->captures++;
    s->out->light += !run->full;
    s->out->ends[run->end]++;
    s->out->events += (double)spans_events(run->spans);
    s->out->skipped += (double)run->skipped;
    for (uint32_t i = 0; i < spans_count(run->spans); i++)
        if (spans_at(run->spans, i)->parent == SPAN_NONE)
            add_root(s, run->spans, i);
}

/* ---- the result, sorted */

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int by_time(const void *a, const void *b)
{
    const struct requests_of *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return slice_order(x->operation, y->operation);
}

static void take_parts(struct sums *s)
{
    struct arena *a = &s->out->arena;
    size_t n;
    struct span_share *rows = span_sum_shares(s->paths, &n);
    struct request_part *parts = arena_alloc(a, (n + 1) * sizeof *parts);
    for (size_t i = 0; i < n; i++) {
        const struct span_part *part = rows[i].part;
        struct requests_of *of = &s->out->list[part->group];
        if (of->n_parts++ == 0)
            of->parts = &parts[i];
        parts[i] = (struct request_part){.operation = slice_keep(a, part->operation),
                                         .at = slice_keep(a, part->at),
                                         .own = part->own,
                                         .kind = rows[i].kind,
                                         .ns = (double)rows[i].ns};
        if (!part->own)
            parts[i].process = process_text(a, &part->process);
    }
    free(rows);
}

static void sort_all(struct requests *out)
{
    for (size_t i = 0; i < out->n; i++) {
        struct requests_of *of = &out->list[i];
        if (of->n_durations > 1)
            qsort(of->durations, of->n_durations, sizeof *of->durations, by_size);
    }
    if (out->n > 1)
        qsort(out->list, out->n, sizeof *out->list, by_time);
}

/* Lost captures that the recorder had counted until a tick; 0 again where a file goes on. */
static int64_t lost_until(struct requests *out, struct recording *r, int64_t tick)
{
    json_t *fact = fact_at(r, "spans_lost", tick);
    const json_int_t n = json_integer_value(json_object_get(fact, "captures"));
    const char *why = json_string_value(json_object_get(fact, "why"));
    if (n > 0)
        out->lost_why = arena_strdup(&out->arena, why ? why : "unknown");
    json_decref(fact);
    return n > 0 ? n : 0;
}

static void take_lost(struct requests *out, struct recording *r, int64_t from, int64_t to)
{
    const int64_t before = lost_until(out, r, from - 1), after = lost_until(out, r, to);
    out->lost = after >= before ? after - before : after;
    if (out->lost == 0)
        out->lost_why = NULL;
}

int64_t requests_early(const struct requests *q)
{
    return q->captures - q->ends[SPANS_END_ROOTS] - q->ends[SPANS_END_TIME] -
           q->ends[SPANS_END_STOPPED];
}

int requests_take(struct requests *out, struct recording *r, int64_t from, int64_t to,
                  struct error *err)
{
    struct sums s = {.out = out};
    const int64_t *kept;
    *out = (struct requests){0};
    arena_init(&out->arena);
    take_lost(out, r, from, to);
    if (!recording_info(r)->has_spans)
        return 0;
    out->list = alloc_zero(REQUEST_KINDS_MOST, sizeof *out->list);
    s.paths = span_sum_new(merge_part, REQUEST_PARTS_MOST);
    const size_t n = recording_spans(r, from, to, &kept);
    int64_t *ids = arena_alloc(&out->arena, (n + 1) * sizeof *ids);
    if (n > 0)
        memcpy(ids, kept, n * sizeof *ids);
    for (size_t i = 0; i < n && err->code == ERR_NONE; i++) {
        struct spans_run *run;
        if (recording_spans_of(r, ids[i], &run, err) == 0)
            add_run(&s, run);
        spans_run_free(run);
    }
    take_parts(&s);
    sort_all(out);
    HASH_CLEAR(hh, s.groups);
    span_sum_free(s.paths);
    return (int)err->code;
}

void requests_clear(struct requests *q)
{
    for (size_t i = 0; i < q->n; i++)
        free(q->list[i].durations);
    free(q->list);
    arena_clear(&q->arena);
    *q = (struct requests){0};
}

double requests_quantile(const struct requests_of *of, double part)
{
    if (of->n_durations == 0)
        return NAN;
    const size_t rank = (size_t)ceil(part * (double)of->n_durations);
    return of->durations[rank > 0 ? rank - 1 : 0];
}
