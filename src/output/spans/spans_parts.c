/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the time of all roots goes: their critical paths, added up by operation and process. */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/hash.h"
#include "spans.h"

struct entry {
    struct spans_part part;
    UT_hash_handle hh;
};

static struct slice process_of(struct arena *arena, const struct span *span)
{
    struct buf name;
    if (span->process.name.len == 0 || span->process.node.len == 0)
        return span->process.name;
    buf_init(&name, 0);
    span_put_process(&name, &span->process);
    return slice_take(arena, &name);
}

/* The lengths part the texts. */
static void put_key(struct buf *key, const struct spans_part *p)
{
    const struct slice texts[] = {p->operation, p->process, p->at};
    buf_reset(key);
    buf_put_u8(key, (uint8_t)p->kind);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        buf_put_u32be(key, (uint32_t)texts[i].len);
        buf_put(key, texts[i].s, texts[i].len);
    }
}

struct adding {
    struct spans_sum *sum;
    const struct spans *spans;
    struct entry *by_key;
    struct buf key;
};

static void add_step(void *to, const struct span_step *step, bool slow)
{
    struct adding *adding = to;
    struct arena *arena = &adding->sum->arena;
    const struct span *span = spans_at(adding->spans, step->span);
    struct buf *key = &adding->key;
    struct spans_part part = {.operation = span->operation, .kind = step->kind, .at = step->at};
    struct entry *e;
    part.process = process_of(arena, span);
    if (step->kind != SPAN_STEP_WAIT)
        part.at = (struct slice){0};
    put_key(key, &part);
    HASH_FIND(hh, adding->by_key, key->data, key->len, e);
    if (!e) {
        e = arena_alloc(arena, sizeof *e);
        e->part = part;
        const struct slice kept =
            slice_keep(arena, (struct slice){(const char *)key->data, key->len});
        HASH_ADD_KEYPTR(hh, adding->by_key, kept.s, kept.len, e);
    }
    e->part.ns = spans_plus(e->part.ns, step->to_ns - step->from_ns);
    e->part.slow_ns = spans_plus(e->part.slow_ns, slow ? step->to_ns - step->from_ns : 0);
}

static int most_first(const void *a, const void *b)
{
    const struct spans_part *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    int order = slice_order(x->operation, y->operation);
    order = order != 0 ? order : slice_order(x->process, y->process);
    order = order != 0 ? order : (int)x->kind - (int)y->kind;
    return order != 0 ? order : slice_order(x->at, y->at);
}

static void take_parts(struct spans_sum *sum, struct entry *by_key)
{
    struct entry *e, *next;
    sum->parts = alloc_zero(HASH_COUNT(by_key) + 1, sizeof *sum->parts);
    HASH_ITER (hh, by_key, e, next) {
        sum->parts[sum->n_parts++] = e->part;
    }
    HASH_CLEAR(hh, by_key);
    qsort(sum->parts, sum->n_parts, sizeof *sum->parts, most_first);
}

void spans_sum(struct spans_sum *sum, const struct spans_form *f)
{
    uint32_t *roots = spans_slowest(f->s, f->roots, f->n_roots);
    size_t n = f->n_roots;
    struct adding adding = {.sum = sum, .spans = f->s};
    *sum = (struct spans_sum){.n_slow = spans_slow(n), .median_ns = -1, .p99_ns = -1};
    arena_init(&sum->arena);
    buf_init(&adding.key, 0);
    spans_critical_each(f->s, roots, n, add_step, &adding);
    for (size_t i = 0; i < n; i++) {
        int64_t took = span_duration(spans_at(f->s, roots[i]));
        sum->ns = spans_plus(sum->ns, took);
        sum->slow_ns = spans_plus(sum->slow_ns, i < sum->n_slow ? took : 0);
        sum->open = sum->open || spans_at(f->s, roots[i])->outcome == SPAN_OPEN;
    }
    if (n > 0) { /* by nearest rank, from the slow end */
        sum->median_ns = span_duration(spans_at(f->s, roots[n / 2]));
        sum->p99_ns = span_duration(spans_at(f->s, roots[n / 100]));
    }
    take_parts(sum, adding.by_key);
    buf_clear(&adding.key);
    free(roots);
}

void spans_sum_free(struct spans_sum *sum)
{
    free(sum->parts);
    arena_clear(&sum->arena);
}
