/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beside.h"

#include <stdlib.h>

#include "app/cli/tell.h"
#include "app/sample/sampling.h"
#include "app/search/local_search.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/stacks.h"

struct beside {
    uv_loop_t *loop;
    unsigned hz;
    struct local_search *search; /* of its VM; NULL: it has ended */
    struct sampling *sampling;   /* NULL: not begun, or it has ended */
    struct stacks *stacks;
    uint32_t *frames; /* ids in the stacks, by the number that the sampler gave */
    size_t n_frames;
    struct span_sample *samples; /* of processes, by this host's clock */
    size_t n_samples;
    int64_t beyond; /* that there was no room for */
    void (*on_change)(void *arg);
    void *arg;
    bool begun, stopping;
    struct error err;
};

static void take_beside_frame(struct beside *b, const struct sample_frame *f)
{
    b->frames = alloc_grow(b->frames, b->n_frames, sizeof *b->frames);
    b->frames[b->n_frames++] = stacks_frame(b->stacks, f);
}

static void take_beside_sample(struct beside *b, const struct sample *sample)
{
    uint32_t at = 0;
    if (sample->pid_number == 0)
        return;
    if (b->n_samples == LIMIT_SPAN_SAMPLES) {
        b->beyond++;
        return;
    }
    for (size_t i = 0; i < sample->n_frames; i++)
        at = stacks_step(b->stacks, at, b->frames[sample->frames[i]]);
    b->samples = alloc_grow(b->samples, b->n_samples, sizeof *b->samples);
    b->samples[b->n_samples++] =
        (struct span_sample){sample->pid_number, sample->pid_serial, (int64_t)sample->mono_ns, at};
}

static void on_beside_record(void *arg, const struct record *r)
{
    struct beside *b = arg;
    if (r->type == RECORD_NOTE) {
        tell_line("%.*s", (int)r->u.note.len, r->u.note.s);
    } else if (r->type == RECORD_FRAME) {
        take_beside_frame(b, &r->u.frame);
    } else if (r->type == RECORD_SAMPLE) {
        take_beside_sample(b, &r->u.sample);
    } else if (r->type == RECORD_BEGIN) {
        b->begun = true;
        b->on_change(b->arg);
    }
}

static void on_beside_ended(void *arg, const struct record_end *end, const struct error *err)
{
    struct beside *b = arg;
    b->sampling = NULL;
    if (!end)
        b->err = *err;
    else if (!b->stopping)
        error_set(&b->err, ERR_SYSTEM, "the sampler has ended before the capture");
    b->on_change(b->arg);
}

static void end_beside_search(struct beside *b)
{
    local_search_stop(b->search);
    b->search = NULL;
}

static void on_beside_vm(void *arg, const struct discover_vm *vm, const struct error *why)
{
    static const struct sampling_handlers handlers = {.record = on_beside_record,
                                                      .ended = on_beside_ended};
    struct beside *b = arg;
    const struct sampler_options o = {.pid = vm ? vm->pid : 0, .hz = b->hz};
    b->err = *why;
    end_beside_search(b);
    if (!vm || sampling_start(&b->sampling, b->loop, &o, &handlers, b, &b->err) != 0)
        b->on_change(b->arg);
}

int beside_open(struct beside **out, uv_loop_t *loop, const struct local_wanted *vm, unsigned hz,
                void (*on_change)(void *arg), void *arg, struct error *err)
{
    struct beside *b = alloc_zero(1, sizeof *b);
    b->on_change = on_change;
    b->arg = arg;
    b->loop = loop;
    b->hz = hz;
    b->stacks = stacks_new();
    *out = b;
    return local_search_start(&b->search, loop, vm, on_beside_vm, b, err);
}

bool beside_has_begun(const struct beside *b)
{
    return b->begun;
}

bool beside_is_over(const struct beside *b)
{
    return !b->search && !b->sampling;
}

const struct error *beside_error(const struct beside *b)
{
    return &b->err;
}

void beside_stop(struct beside *b)
{
    b->stopping = true;
    end_beside_search(b);
    sampling_stop(b->sampling);
}

/* The node's clock is ahead of ours by what lies between the bounds that its answers give. */
void beside_give(struct beside *b, const struct spans_run *run)
{
    const struct spans_here *here = &run->here;
    const int64_t ahead_ns = here->least_ns + (here->most_ns - here->least_ns) / 2;
    size_t n = 0;
    for (size_t i = 0; i < b->n_samples; i++)
        b->samples[i].at_ns += ahead_ns;
    if (here->known) {
        n = spans_take_samples(run->spans, b->stacks, b->samples, b->n_samples);
        b->stacks = NULL;
    }
    tell_line("%zu of %zu samples of processes are of these spans, within %.1f ms%s", n,
              b->n_samples, (double)(here->most_ns - here->least_ns) / 2e6,
              b->beyond > 0 ? "; later ones had no room" : "");
}

void beside_close(struct beside *b)
{
    if (!b)
        return;
    local_search_stop(b->search);
    sampling_leave(b->sampling);
    stacks_free(b->stacks);
    free(b->frames);
    free(b->samples);
    free(b);
}
