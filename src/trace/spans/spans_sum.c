/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the time of roots goes: their critical paths, added up by operation and process. */
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/trace/spans_rows.h"

static void merge_part(struct span_part *part, enum span_step_kind kind)
{
    part->own = false;
    if (part->process.name.len == 0)
        part->process.node.len = 0;
    if (kind != SPAN_STEP_WAIT)
        part->at.len = 0;
}

static void merge_operation(struct span_part *part, enum span_step_kind kind)
{
    (void)kind;
    part->own = false;
    part->at.len = 0;
}

void spans_sum_make(struct spans_sum *sum, const struct spans *s, const uint32_t *of, size_t n,
                    bool operations)
{
    uint32_t *roots = spans_slowest(s, of, n);
    *sum = (struct spans_sum){.paths =
                                  span_sum_new(operations ? merge_operation : merge_part, SIZE_MAX),
                              .n_roots = n,
                              .n_slow = spans_slow(n),
                              .median_ns = -1,
                              .p99_ns = -1,
                              .slow_from_ns = -1};
    for (size_t i = 0; i < n; i++) {
        const int64_t took = span_duration(spans_at(s, roots[i]));
        (void)span_sum_add(sum->paths, s, roots[i], 0, i < sum->n_slow);
        sum->ns = known_plus(sum->ns, took);
        sum->slow_ns = known_plus(sum->slow_ns, i < sum->n_slow ? took : 0);
        sum->open = sum->open || spans_at(s, roots[i])->outcome == SPAN_OPEN;
    }
    if (n > 0) { /* by nearest rank, from the slow end */
        sum->median_ns = span_duration(spans_at(s, roots[n / 2]));
        sum->p99_ns = span_duration(spans_at(s, roots[n / 100]));
        sum->slow_from_ns = span_duration(spans_at(s, roots[sum->n_slow - 1]));
    }
    sum->shares = span_sum_shares(sum->paths, &sum->n_shares);
    free(roots);
}

void spans_sum_clear(struct spans_sum *sum)
{
    free(sum->shares);
    span_sum_free(sum->paths);
    *sum = (struct spans_sum){0};
}

/* Its name; with the node where that is another one. Empty: has none. */
static struct slice process_text(struct arena *arena, const struct span_part *part)
{
    struct buf name;
    if (part->process.node.len == 0)
        return part->process.name;
    buf_init(&name, 0);
    span_put_process(&name, &part->process);
    return slice_take(arena, &name);
}

struct spans_row spans_share_row(const struct spans_rows *r, const struct spans_sum *sum,
                                 const struct span_share *share)
{
    return (struct spans_row){
        .operation = share->part->operation,
        .name = process_text(r->arena, share->part),
        .part = slice_of(span_step_key(share->kind)),
        .at = share->part->at,
        .duration_us = spans_us(share->ns),
        .share = spans_share(share->ns, sum->ns),
        .slow_us = spans_us(share->slow_ns),
        .slow_share = spans_share(share->slow_ns, sum->slow_ns),
    };
}

void spans_operation_rows(const struct spans_rows *r, const struct spans_sum *sum,
                          spans_row_add *add, void *to)
{
    const struct span_part *part = NULL;
    while ((part = span_sum_next(sum->paths, part))) {
        struct spans_row row = spans_shown_row(r, part->span);
        int64_t ns = 0, slow_ns = 0;
        for (int kind = 0; kind < SPAN_STEPS; kind++) {
            ns = known_plus(ns, part->ns[kind]);
            slow_ns = known_plus(slow_ns, part->slow_ns[kind]);
        }
        if (part->several) {
            row.name = part->process.name.len > 0 ? part->process.name : slice_of("several");
            row.who = (struct span_process){0};
        }
        row.duration_us = spans_us(ns);
        row.duration_bound = BOUND_NONE;
        row.share = spans_share(ns, sum->ns);
        row.slow_share = spans_share(slow_ns, sum->slow_ns);
        row.self_us = spans_us(part->ns[SPAN_STEP_SELF]);
        row.self_bound = !r->run->full && row.self_us > 0 ? BOUND_AT_MOST : BOUND_NONE;
        row.queued_us = spans_us(part->ns[SPAN_STEP_QUEUED]);
        row.wait_us = spans_us(part->ns[SPAN_STEP_WAIT]);
        row.off_cpu_us = r->run->full ? spans_us(part->ns[SPAN_STEP_OFF_CPU]) : (double)NAN;
        row.id = text_identity(row.operation.s, row.operation.len) ^
                 (text_identity(row.name.s ? row.name.s : "", row.name.len) << 1);
        row.link_id = 0;
        row.depth = 0;
        add(to, &row);
    }
}
