/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/samples.h"

#include <math.h>
#include <stdlib.h>

#include "beamtop/model/stacks.h"

double samples_share(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

double samples_error(const struct samples_summary *run, double share)
{
    return run->at_yields ? (double)NAN : sample_error(share, (double)run->samples);
}

const char *samples_unit(const struct samples_summary *run)
{
    return run->at_yields ? "reductions" : "samples";
}

void samples_by_code(const struct samples_summary *run, double out[FRAME_KINDS])
{
    for (int i = 0; i < FRAME_KINDS; i++)
        out[i] = 0;
    for (uint32_t i = 0; i < stacks_nodes(run->stacks); i++) {
        const struct stacks_node *node = stacks_node(run->stacks, i);
        const struct sample_frame *f = stacks_frame_at(run->stacks, node->frame);
        out[f ? f->kind : FRAME_UNKNOWN] += node->self;
    }
}

static int by_most(const void *a, const void *b)
{
    const struct samples_source *x = a, *y = b;
    return (x->samples < y->samples) - (x->samples > y->samples);
}

size_t samples_by_thread_kind(const struct samples_summary *run,
                              struct samples_source out[SAMPLES_THREAD_KINDS])
{
    size_t n = 0;
    for (size_t i = 0; i < run->n_threads; i++) {
        const struct samples_source *of = &run->threads[i];
        size_t at = 0;
        while (at < n && !slice_equal(out[at].name, of->about))
            at++;
        if (at == SAMPLES_THREAD_KINDS)
            at--;
        else if (at == n)
            out[n++] = (struct samples_source){.name = of->about};
        out[at].samples += of->samples;
    }
    if (n > 1)
        qsort(out, n, sizeof *out, by_most);
    return n;
}
