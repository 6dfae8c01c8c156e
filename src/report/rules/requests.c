/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/rules/requests.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/hash.h"

/* While it is summed: root functions, and their parts, by their texts. */
struct sum {
    const char *key;
    size_t group; /* of the root function */
    struct request_part part;
    UT_hash_handle hh;
};

struct sums {
    struct requests *out;
    struct sum *groups, *parts;
    struct buf key;
};

static void put_key_text(struct buf *key, struct slice text)
{
    buf_put(key, text.s, text.len);
    buf_put_u8(key, 0);
}

static struct sum *sum_of(struct sums *s, struct sum **in, size_t most)
{
    struct sum *sum;
    HASH_FIND(hh, *in, s->key.data, s->key.len, sum);
    if (sum || HASH_COUNT(*in) >= most)
        return sum;
    sum = arena_alloc(&s->out->arena, sizeof *sum);
    sum->key = arena_strndup(&s->out->arena, (const char *)s->key.data, s->key.len);
    sum->group = SIZE_MAX;
    HASH_ADD_KEYPTR(hh, *in, sum->key, s->key.len, sum);
    return sum;
}

/* NULL: there are too many. */
static struct requests_of *group_of(struct sums *s, struct slice operation)
{
    struct requests *out = s->out;
    buf_reset(&s->key);
    put_key_text(&s->key, operation);
    struct sum *sum = sum_of(s, &s->groups, REQUEST_KINDS_MOST);
    if (!sum)
        return NULL;
    if (sum->group == SIZE_MAX) {
        sum->group = out->n;
        out->list[out->n++].operation = slice_keep(&out->arena, operation);
    }
    return &out->list[sum->group];
}

static struct slice process_text(struct arena *a, const struct span_process *p)
{
    const char *name = p->name.len > 0 ? arena_strndup(a, p->name.s, p->name.len) : "unnamed";
    if (p->node.len == 0)
        return slice_of(name);
    return slice_of(arena_printf(a, "%s@%.*s", name, (int)p->node.len, p->node.s));
}

static bool same_process(const struct span_process *a, const struct span_process *b)
{
    return pid_same(&a->pid, &b->pid) && slice_equal(a->node, b->node);
}

static void add_part(struct sums *s, struct requests_of *of, const struct spans *spans,
                     uint32_t root, const struct span_step *step)
{
    const struct span *span = spans_at(spans, step->span);
    const bool own = same_process(&span->process, &spans_at(spans, root)->process);
    const double ns = (double)(step->to_ns - step->from_ns);
    buf_reset(&s->key);
    put_key_text(&s->key, of->operation);
    put_key_text(&s->key, own ? (struct slice){0} : span->process.node);
    put_key_text(&s->key, own ? (struct slice){0} : span->process.name);
    put_key_text(&s->key, span->operation);
    put_key_text(&s->key, step->at);
    buf_put_u8(&s->key, own);
    buf_put_u8(&s->key, (uint8_t)step->kind);
    struct sum *sum = sum_of(s, &s->parts, REQUEST_PARTS_MOST);
    if (!sum) {
        of->left_out_ns += ns;
        return;
    }
    if (sum->group == SIZE_MAX) {
        struct arena *a = &s->out->arena;
        sum->group = (size_t)(of - s->out->list);
        sum->part = (struct request_part){.operation = slice_keep(a, span->operation),
                                          .at = slice_keep(a, step->at),
                                          .own = own,
                                          .kind = step->kind};
        if (!own)
            sum->part.process = process_text(a, &span->process);
        of->n_parts++;
    }
    sum->part.ns += ns;
}

static void add_duration(struct requests_of *of, double ns)
{
    if ((of->n_durations & (of->n_durations - 1)) == 0)
        of->durations = alloc_resize(of->durations, of->n_durations > 0 ? 2 * of->n_durations : 1,
                                     sizeof *of->durations);
    of->durations[of->n_durations++] = ns;
    of->ns += ns;
}

static void add_root(struct sums *s, const struct spans *spans, uint32_t root)
{
    const struct span *span = spans_at(spans, root);
    struct requests_of *of = group_of(s, span->operation);
    s->out->roots++;
    if (!of) {
        s->out->left_out++;
        return;
    }
    of->roots++;
    of->outcomes[span->outcome]++;
    if (span->outcome == SPAN_OPEN)
        return; /* how long it takes is unknown */
    size_t n;
    struct span_step *steps = spans_critical(spans, root, &n);
    for (size_t i = 0; i < n; i++)
        add_part(s, of, spans, root, &steps[i]);
    free(steps);
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

static int by_part(const void *a, const void *b)
{
    const struct request_part *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    int order = slice_order(x->process, y->process);
    return order != 0 ? order : slice_order(x->operation, y->operation);
}

static void sort_all(struct sums *s)
{
    struct requests *out = s->out;
    for (size_t i = 0; i < out->n; i++) {
        struct requests_of *of = &out->list[i];
        of->parts = arena_alloc(&out->arena, (of->n_parts + 1) * sizeof *of->parts);
        of->n_parts = 0;
        if (of->n_durations > 1)
            qsort(of->durations, of->n_durations, sizeof *of->durations, by_size);
    }
    for (struct sum *sum = s->parts; sum; sum = sum->hh.next) {
        struct requests_of *of = &out->list[sum->group];
        of->parts[of->n_parts++] = sum->part;
    }
    for (size_t i = 0; i < out->n; i++)
        if (out->list[i].n_parts > 1)
            qsort(out->list[i].parts, out->list[i].n_parts, sizeof *out->list[i].parts, by_part);
    if (out->n > 1)
        qsort(out->list, out->n, sizeof *out->list, by_time);
}

/* Lost captures that the recorder had counted until a tick; 0 again where a file goes on. */
static int64_t lost_until(struct requests *out, struct recording *r, int64_t tick)
{
    const char *text = recording_fact(r, "spans_lost", tick);
    json_t *fact = text ? json_loads(text, 0, NULL) : NULL;
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
    buf_init(&s.key, 0);
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
    sort_all(&s);
    HASH_CLEAR(hh, s.groups);
    HASH_CLEAR(hh, s.parts);
    buf_clear(&s.key);
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
