/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks: "frame;frame N", the root first, a line for each distinct stack. */
#include <math.h>

#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "samples.h"

enum { WRITTEN_AT_ONCE = 64 * 1024 };

/* Safe, without the sign between frames. Readers take the last space of a line for the one before
 * the number, so spaces may stay. */
static void put_frame(struct buf *out, struct slice name)
{
    size_t from = out->len;
    text_put_safe(out, name.s, name.len, false);
    for (size_t i = from; i < out->len; i++)
        if (out->data[i] == ';')
            out->data[i] = ',';
}

static void put_stacks(struct samples_out *out, const struct stacks *s, struct slice first)
{
    uint32_t frames[LIMIT_STACK_DEPTH];
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        double weight = round(stacks_node(s, i)->self);
        if (weight < 1)
            continue;
        size_t n = stacks_path(s, i, frames);
        if (first.len > 0) {
            put_frame(&out->buf, first);
            buf_put_u8(&out->buf, ';');
        }
        if (n == 0)
            buf_puts(&out->buf, SAMPLES_NO_STACK);
        for (size_t k = 0; k < n; k++) {
            if (k > 0)
                buf_put_u8(&out->buf, ';');
            put_frame(&out->buf, stacks_frame_at(s, frames[k])->name);
        }
        buf_printf(&out->buf, " %.0f\n", weight);
        samples_flush(out, WRITTEN_AT_ONCE);
    }
}

void samples_folded_put(struct samples_out *out, const struct samples_summary *run, bool parts)
{
    if (!parts)
        put_stacks(out, run->stacks, (struct slice){0});
    for (size_t i = 0; parts && i < run->n_parts; i++)
        put_stacks(out, run->parts[i].stacks, run->parts[i].name);
}
