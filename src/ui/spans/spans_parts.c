/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the time of all requests goes: their critical paths, summed. */
#include "spans_rows.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

/* By operation and name. */
static void merge_part(struct span_part *part, enum span_step_kind kind)
{
    (void)kind;
    part->own = false;
    part->at.len = 0;
}

void path_parts_make(struct path_parts *parts, const struct spans *spans)
{
    size_t n = spans_count(spans);
    uint32_t *roots = alloc_zero(n + 1, sizeof *roots);
    const struct span_part *part = NULL;
    path_parts_clear(parts);
    parts->sum = span_sum_new(merge_part, SIZE_MAX);
    for (uint32_t i = 0; i < n; i++)
        if (spans_at(spans, i)->parent == SPAN_NONE)
            roots[parts->roots++] = i;
    uint32_t *slowest = spans_slowest(spans, roots, parts->roots);
    parts->slow = spans_slow(parts->roots);
    if (parts->slow > 0)
        parts->slow_from_ns = span_duration(spans_at(spans, slowest[parts->slow - 1]));
    for (size_t i = 0; i < parts->roots; i++)
        (void)span_sum_add(parts->sum, spans, slowest[i], 0, i < parts->slow);
    while ((part = span_sum_next(parts->sum, part))) {
        parts->ns = spans_plus(parts->ns, path_part_ns(part->ns));
        parts->slow_ns = spans_plus(parts->slow_ns, path_part_ns(part->slow_ns));
    }
    free(slowest);
    free(roots);
}

int64_t path_part_ns(const int64_t ns[SPAN_STEPS])
{
    int64_t sum = 0;
    for (int kind = 0; kind < SPAN_STEPS; kind++)
        sum = spans_plus(sum, ns[kind]);
    return sum;
}

void path_parts_clear(struct path_parts *parts)
{
    span_sum_free(parts->sum);
    *parts = (struct path_parts){0};
}
