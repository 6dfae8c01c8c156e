/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples of processes, and the spans in which they were taken. */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/stacks.h"
#include "internal.h"

/* When a process began a span, or was sampled: its index, or that of the stack. Of spans that begin
 * together the inner ones have larger indexes. */
struct moment {
    uint64_t number, serial;
    int64_t at_ns;
    uint32_t index;
};

static int by_process_and_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    int order = ORDER(x->number, y->number);
    order = order ? order : ORDER(x->serial, y->serial);
    order = order ? order : ORDER(x->at_ns, y->at_ns);
    return order ? order : ORDER(x->index, y->index);
}

static int by_span_and_stack(const void *a, const void *b)
{
    const struct span_stack *x = a, *y = b;
    return x->span != y->span ? ORDER(x->span, y->span) : ORDER(x->stack, y->stack);
}

static int by_span_and_most(const void *a, const void *b)
{
    const struct span_stack *x = a, *y = b;
    int order = ORDER(x->span, y->span);
    order = order ? order : ORDER(y->samples, x->samples);
    return order ? order : ORDER(x->stack, y->stack);
}

static struct moment *begins_of(const struct spans *s, size_t *n)
{
    struct moment *begins = alloc_zero((size_t)s->n_spans + 1, sizeof *begins);
    *n = 0;
    for (uint32_t i = 0; i < s->n_spans; i++) {
        const struct span *span = &s->spans[i];
        if (span->process.node.len == 0 && span->process.pid.id != 0)
            begins[(*n)++] = (struct moment){span->process.pid.id, span->process.pid.serial,
                                             span->started_ns, i};
    }
    qsort(begins, *n, sizeof *begins, by_process_and_time);
    return begins;
}

/* The sample's span; SPAN_NONE: it has none. `open`: spans of its process that have begun, the
 * innermost last; *at: the next one to begin. Samples come by process, and by time. */
static uint32_t span_of(const struct spans *s, const struct moment *begins, size_t n, size_t *at,
                        uint32_t *open, size_t *n_open, const struct moment *sample)
{
    const struct moment now = {sample->number, sample->serial, sample->at_ns, UINT32_MAX};
    for (; *at < n && by_process_and_time(&begins[*at], &now) <= 0; (*at)++) {
        if (begins[*at].number != now.number || begins[*at].serial != now.serial)
            continue;
        open[(*n_open)++] = begins[*at].index;
    }
    while (*n_open > 0 && s->spans[open[*n_open - 1]].ended_ns <= sample->at_ns)
        (*n_open)--;
    return *n_open > 0 ? open[*n_open - 1] : SPAN_NONE;
}

static bool is_same_process(const struct moment *a, const struct moment *b)
{
    return a->number == b->number && a->serial == b->serial;
}

/* One for each sample of a span. */
static size_t find_spans(const struct spans *s, const struct moment *samples, size_t n,
                         struct span_stack *out)
{
    size_t n_begins, at = 0, n_open = 0, found = 0;
    struct moment *begins = begins_of(s, &n_begins);
    uint32_t *open = alloc_zero(n_begins + 1, sizeof *open);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && !is_same_process(&samples[i - 1], &samples[i]))
            n_open = 0;
        const uint32_t span = span_of(s, begins, n_begins, &at, open, &n_open, &samples[i]);
        if (span != SPAN_NONE)
            out[found++] = (struct span_stack){span, samples[i].index, 1};
    }
    free(open);
    free(begins);
    return found;
}

size_t spans_take_samples(struct spans *s, struct stacks *stacks, const struct span_sample *samples,
                          size_t n)
{
    struct moment *sorted = alloc_zero(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct moment){samples[i].number, samples[i].serial, samples[i].at_ns,
                                    samples[i].stack};
    qsort(sorted, n, sizeof *sorted, by_process_and_time);
    stacks_free(s->stacks);
    free(s->sampled);
    s->stacks = stacks;
    s->sampled = alloc_zero(n + 1, sizeof *s->sampled);
    s->n_sampled = 0;
    const size_t found = find_spans(s, sorted, n, s->sampled);
    qsort(s->sampled, found, sizeof *s->sampled, by_span_and_stack);
    for (size_t i = 0; i < found; i++) {
        struct span_stack *last = s->n_sampled > 0 ? &s->sampled[s->n_sampled - 1] : NULL;
        if (last && by_span_and_stack(last, &s->sampled[i]) == 0)
            last->samples++;
        else
            s->sampled[s->n_sampled++] = s->sampled[i];
    }
    qsort(s->sampled, s->n_sampled, sizeof *s->sampled, by_span_and_most);
    free(sorted);
    return found;
}

bool spans_have_samples(const struct spans *s)
{
    return s->stacks != NULL;
}

const struct span_stack *spans_sampled(const struct spans *s, uint32_t span, size_t *n)
{
    size_t from = 0, to = s->n_sampled;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (s->sampled[middle].span < span)
            from = middle + 1;
        else
            to = middle;
    }
    for (to = from; to < s->n_sampled && s->sampled[to].span == span;)
        to++;
    *n = to - from;
    return *n > 0 ? &s->sampled[from] : NULL;
}

size_t span_stack_frames(const struct spans *s, const struct span_stack *of,
                         const struct sample_frame **frames)
{
    uint32_t ids[LIMIT_STACK_DEPTH];
    const struct span *span = &s->spans[of->span];
    const size_t depth = stacks_path(s->stacks, of->stack, ids);
    size_t from = 0, n = 0;
    for (size_t i = 0; span_is_function(span) && i < depth; i++)
        if (slice_equal(stacks_frame_at(s->stacks, ids[i])->name, span->operation))
            from = i + 1;
    for (size_t i = from; i < depth; i++)
        frames[n++] = stacks_frame_at(s->stacks, ids[i]);
    return n;
}
