/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the time of all roots goes: their critical paths, added up by operation and process. */
#include <stdlib.h>
#include <string.h>

#include "spans.h"

static void merge_part(struct span_part *part, enum span_step_kind kind)
{
    part->own = false;
    if (part->process.name.len == 0)
        part->process.node.len = 0;
    if (kind != SPAN_STEP_WAIT)
        part->at.len = 0;
}

struct slice spans_part_process(struct spans_form *f, const struct span_part *part)
{
    struct buf name;
    if (part->process.node.len == 0)
        return part->process.name;
    buf_init(&name, 0);
    span_put_process(&name, &part->process);
    return slice_take(&f->arena, &name);
}

void spans_sum(struct spans_sum *sum, const struct spans_form *f)
{
    uint32_t *roots = spans_slowest(f->s, f->roots, f->n_roots);
    size_t n = f->n_roots;
    *sum = (struct spans_sum){.paths = span_sum_new(merge_part, SIZE_MAX),
                              .n_slow = spans_slow(n),
                              .median_ns = -1,
                              .p99_ns = -1};
    for (size_t i = 0; i < n; i++) {
        int64_t took = span_duration(spans_at(f->s, roots[i]));
        (void)span_sum_add(sum->paths, f->s, roots[i], 0, i < sum->n_slow);
        sum->ns = spans_plus(sum->ns, took);
        sum->slow_ns = spans_plus(sum->slow_ns, i < sum->n_slow ? took : 0);
        sum->open = sum->open || spans_at(f->s, roots[i])->outcome == SPAN_OPEN;
    }
    if (n > 0) { /* by nearest rank, from the slow end */
        sum->median_ns = span_duration(spans_at(f->s, roots[n / 2]));
        sum->p99_ns = span_duration(spans_at(f->s, roots[n / 100]));
    }
    sum->rows = span_sum_shares(sum->paths, &sum->n_rows);
    free(roots);
}

void spans_sum_free(struct spans_sum *sum)
{
    free(sum->rows);
    span_sum_free(sum->paths);
}
