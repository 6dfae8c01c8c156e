/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folded stacks: "frame;frame N", the root first, a line for each distinct stack. */
#include "output/stacks_form.h"
#include "samples.h"

void samples_folded_put(struct sink_pieces *out, const struct samples_summary *run, bool parts)
{
    if (!parts)
        stacks_put_folded(out, run->stacks, (struct slice){0});
    for (size_t i = 0; parts && i < run->n_parts; i++)
        stacks_put_folded(out, run->parts[i].stacks, run->parts[i].name);
}
