/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the time of many roots goes: their critical paths, summed. */
#include <stdlib.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/buf.h"
#include "internal.h"

struct summed {
    struct span_part part; /* first: what is handed out */
    UT_hash_handle hh;
};

struct span_sum {
    struct summed *by_key;
    span_part_fn *merge;
    size_t most;
    struct buf key;
    struct arena arena;
};

struct span_sum *span_sum_new(span_part_fn *merge, size_t most)
{
    struct span_sum *sum = alloc_zero(1, sizeof *sum);
    sum->merge = merge;
    sum->most = most;
    buf_init(&sum->key, 0);
    arena_init(&sum->arena);
    return sum;
}

void span_sum_free(struct span_sum *sum)
{
    if (!sum)
        return;
    HASH_CLEAR(hh, sum->by_key);
    buf_clear(&sum->key);
    arena_clear(&sum->arena);
    free(sum);
}

static bool same_process(const struct span_process *a, const struct span_process *b)
{
    return pid_same(&a->pid, &b->pid) && slice_equal(a->node, b->node);
}

/* The lengths keep texts apart that together are the same bytes. */
static void make_key(struct buf *key, const struct span_part *part)
{
    const struct slice texts[] = {part->operation, part->process.name, part->process.node,
                                  part->at};
    buf_reset(key);
    buf_put_u32be(key, part->group);
    buf_put_u8(key, part->own);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        buf_put_u32be(key, (uint32_t)texts[i].len);
        buf_put(key, texts[i].s, texts[i].len);
    }
}

/* NULL: there are too many. */
static struct span_part *find_part(struct span_sum *sum, const struct span_part *part)
{
    struct summed *found;
    make_key(&sum->key, part);
    HASH_FIND(hh, sum->by_key, sum->key.data, sum->key.len, found);
    if (found)
        return &found->part;
    if (HASH_COUNT(sum->by_key) >= sum->most)
        return NULL;
    found = arena_alloc(&sum->arena, sizeof *found);
    found->part = *part;
    found->part.operation = slice_keep(&sum->arena, part->operation);
    found->part.at = slice_keep(&sum->arena, part->at);
    found->part.process.name = slice_keep(&sum->arena, part->process.name);
    found->part.process.node = slice_keep(&sum->arena, part->process.node);
    const struct slice kept =
        slice_keep(&sum->arena, (struct slice){(const char *)sum->key.data, sum->key.len});
    HASH_ADD_KEYPTR(hh, sum->by_key, kept.s, kept.len, found);
    return &found->part;
}

int64_t span_sum_add(struct span_sum *sum, const struct spans *s, uint32_t root, uint32_t group,
                     bool slow)
{
    size_t n;
    int64_t left_out = 0;
    struct span_step *steps = spans_critical(s, root, &n);
    for (size_t i = 0; i < n; i++) {
        const struct span_step *step = &steps[i];
        const struct span *span = spans_at(s, step->span);
        const int64_t ns = step->to_ns - step->from_ns;
        struct span_part key = {.operation = span->operation,
                                .process = span->process,
                                .at = step->at,
                                .own = same_process(&span->process, &spans_at(s, root)->process),
                                .group = group,
                                .span = step->span};
        sum->merge(&key, step->kind);
        struct span_part *part = find_part(sum, &key);
        if (!part) {
            left_out = known_plus(left_out, ns);
            continue;
        }
        part->several |= !same_process(&part->process, &key.process);
        part->span = step->span < part->span ? step->span : part->span;
        part->ns[step->kind] = known_plus(part->ns[step->kind], ns);
        part->slow_ns[step->kind] = known_plus(part->slow_ns[step->kind], slow ? ns : 0);
    }
    free(steps);
    return left_out;
}

const struct span_part *span_sum_next(const struct span_sum *sum, const struct span_part *part)
{
    return part ? ((const struct summed *)(const void *)part)->hh.next : (void *)sum->by_key;
}

static int most_first(const void *left, const void *right)
{
    const struct span_share *a = left, *b = right;
    const struct span_part *x = a->part, *y = b->part;
    int order = ORDER(x->group, y->group);
    order = order != 0 ? order : ORDER(b->ns, a->ns);
    order = order != 0 ? order : slice_order(x->operation, y->operation);
    order = order != 0 ? order : slice_order(x->process.name, y->process.name);
    order = order != 0 ? order : slice_order(x->process.node, y->process.node);
    order = order != 0 ? order : (int)a->kind - (int)b->kind;
    return order != 0 ? order : slice_order(x->at, y->at);
}

struct span_share *span_sum_shares(const struct span_sum *sum, size_t *n)
{
    const struct span_part *part = NULL;
    struct span_share *rows =
        alloc_zero((size_t)HASH_COUNT(sum->by_key) * SPAN_STEPS + 1, sizeof *rows);
    *n = 0;
    while ((part = span_sum_next(sum, part)))
        for (enum span_step_kind kind = 0; kind < SPAN_STEPS; kind++)
            if (part->ns[kind] > 0)
                rows[(*n)++] = (struct span_share){part, kind, part->ns[kind], part->slow_ns[kind]};
    qsort(rows, *n, sizeof *rows, most_first);
    return rows;
}
