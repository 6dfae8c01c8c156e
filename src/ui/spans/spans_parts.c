/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the time of all requests goes: their critical paths, summed. */
#include "spans_rows.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

static int compare_parts(const void *left, const void *right)
{
    const struct path_part *a = left, *b = right;
    int order = slice_order(a->operation, b->operation);
    if (order == 0)
        order = slice_order(a->process, b->process);
    return order != 0 ? order : (a->span > b->span) - (a->span < b->span);
}

static bool is_used(const struct path_part *part)
{
    for (int kind = 0; kind < SPAN_STEPS; kind++)
        if (part->ns[kind] > 0)
            return true;
    return false;
}

/* Those that have time, sorted, the same operation of the same name in one. */
static void merge(struct path_parts *parts, const struct spans *spans, size_t n)
{
    size_t used = 0, last = 0;
    for (size_t i = 0; i < n; i++)
        if (is_used(&parts->rows[i]))
            parts->rows[used++] = parts->rows[i];
    if (used == 0)
        return;
    qsort(parts->rows, used, sizeof *parts->rows, compare_parts);
    for (size_t i = 1; i < used; i++) {
        struct path_part *into = &parts->rows[last], *from = &parts->rows[i];
        if (!slice_equal(into->operation, from->operation) ||
            !slice_equal(into->process, from->process)) {
            parts->rows[++last] = *from;
            continue;
        }
        for (int kind = 0; kind < SPAN_STEPS; kind++)
            into->ns[kind] = spans_plus(into->ns[kind], from->ns[kind]);
        into->slow = spans_plus(into->slow, from->slow);
        const struct span *a = spans_at(spans, into->span), *b = spans_at(spans, from->span);
        into->several |= from->several || !pid_same(&a->process.pid, &b->process.pid) ||
                         !slice_equal(a->process.node, b->process.node);
    }
    parts->n = last + 1;
}

static void add_step(void *sum, const struct span_step *step, bool slow)
{
    struct path_parts *parts = sum;
    struct path_part *part = &parts->rows[step->span];
    int64_t ns = step->to_ns - step->from_ns;
    part->ns[step->kind] = spans_plus(part->ns[step->kind], ns);
    part->slow = spans_plus(part->slow, slow ? ns : 0);
    parts->ns = spans_plus(parts->ns, ns);
    parts->slow_ns = spans_plus(parts->slow_ns, slow ? ns : 0);
}

void path_parts_make(struct path_parts *parts, const struct spans *spans)
{
    size_t n = spans_count(spans);
    uint32_t *roots = alloc_zero(n + 1, sizeof *roots);
    path_parts_clear(parts);
    parts->rows = alloc_zero(n + 1, sizeof *parts->rows);
    for (uint32_t i = 0; i < n; i++) {
        const struct span *span = spans_at(spans, i);
        parts->rows[i] = (struct path_part){
            .operation = span->operation, .process = span->process.name, .span = i};
        if (span->parent == SPAN_NONE)
            roots[parts->roots++] = i;
    }
    uint32_t *slowest = spans_slowest(spans, roots, parts->roots);
    parts->slow = spans_slow(parts->roots);
    if (parts->slow > 0)
        parts->slow_from_ns = span_duration(spans_at(spans, slowest[parts->slow - 1]));
    spans_critical_each(spans, slowest, parts->roots, add_step, parts);
    free(slowest);
    free(roots);
    merge(parts, spans, n);
}

void path_parts_clear(struct path_parts *parts)
{
    free(parts->rows);
    *parts = (struct path_parts){0};
}
