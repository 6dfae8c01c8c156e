/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stacks of spans from the root down, weighted with µs of self time. */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/stacks.h"
#include "output/stacks_form.h"
#include "spans.h"

static void add_stacks(struct stacks *to, const struct stacks *from)
{
    uint32_t *at = alloc_zero(stacks_nodes(from), sizeof *at);
    for (uint32_t i = 0; i < stacks_nodes(from); i++) {
        const struct stacks_node *node = stacks_node(from, i);
        if (i > 0)
            at[i] = stacks_step(to, at[node->parent],
                                stacks_frame(to, stacks_frame_at(from, node->frame)));
        stacks_weigh(to, at[i], node->self);
    }
    free(at);
}

struct stacks *spans_form_stacks(const struct spans_form *f)
{
    if (f->options->slower_ns <= 0)
        return spans_stacks(f->s, SPAN_NONE, f->options->raw_waits);
    struct stacks *all = stacks_new();
    for (size_t i = 0; i < f->n_roots; i++) {
        struct stacks *one = spans_stacks(f->s, f->roots[i], f->options->raw_waits);
        add_stacks(all, one);
        stacks_free(one);
    }
    return all;
}

void spans_folded_put(struct spans_form *f)
{
    struct stacks *s = spans_form_stacks(f);
    stacks_put_folded(f->out, s, (struct slice){0});
    stacks_free(s);
}
