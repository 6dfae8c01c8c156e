/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file format of speedscope.app: frames that all profiles share, and a profile of kind
 * "sampled" for all samples, then one for each part. */
#include "output/stacks_form.h"
#include "samples.h"

void samples_speedscope_put(struct sink_pieces *out, const struct samples_summary *run)
{
    struct stacks *shared = stacks_new();
    speedscope_put_head(out, run->label);
    speedscope_put_profile(out, slice_of("all"), "none", run->stacks, shared);
    for (size_t i = 0; i < run->n_parts; i++) {
        buf_put_u8(&out->buf, ',');
        speedscope_put_profile(out, run->parts[i].name, "none", run->parts[i].stacks, shared);
    }
    speedscope_put_end(out, shared);
    stacks_free(shared);
}
