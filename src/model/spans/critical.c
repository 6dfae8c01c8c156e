/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The critical path, from the end of a root backwards. In a span, the wait that ended last leads to
 * the span that ended it, at its end; the start of a span leads to the one that sent to it. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct path {
    const struct spans *s;
    struct span_step *steps; /* the last one first */
    size_t n;
    uint32_t root, span;
    int64_t at;    /* the steps cover the time after it */
    unsigned hops; /* from span to span, at this time */
};

static void step_to(struct path *p, enum span_step_kind kind, int64_t from, struct slice at)
{
    int64_t start = p->s->spans[p->root].started_ns;
    from = from > start ? from : start;
    if (from >= p->at)
        return;
    p->steps = alloc_grow(p->steps, p->n, sizeof *p->steps);
    p->steps[p->n++] = (struct span_step){p->span, kind, from, p->at, at};
    p->at = from;
    p->hops = 0;
}

static int last_end_first(const void *a, const void *b)
{
    const struct span_wait *x = a, *y = b;
    int order = ORDER(x->span, y->span);
    order = order ? order : ORDER(y->to_ns, x->to_ns);
    order = order ? order : ORDER(x->kind >= SPAN_WAIT_OTHER, y->kind >= SPAN_WAIT_OTHER);
    return order ? order : ORDER(x->from_ns, y->from_ns);
}

/* The wait of the span that holds the time, or else the last one before: a process waits for one
   thing at a time. NULL: none. */
static const struct span_wait *wait_before(const struct path *p)
{
    const struct span *span = &p->s->spans[p->span];
    const struct span_wait *waits = p->s->ends + span->wait;
    uint32_t low = 0, high = span->n_waits;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (waits[middle].to_ns > p->at)
            low = middle + 1;
        else
            high = middle;
    }
    for (low = low > 0 ? low - 1 : 0; low < span->n_waits; low++)
        if (waits[low].net_ns > 0 && waits[low].from_ns < p->at)
            return &waits[low];
    return NULL;
}

/* The function that waits, the reason of an exit, or the process that was waited for. */
static struct slice at_of(const struct span_wait *wait)
{
    return wait->at.len > 0 ? wait->at : wait->process.name;
}

/* Goes on in the span that ended a wait, where that is known. */
static bool follow_wait(struct path *p, const struct span_wait *wait)
{
    const struct span *on = wait->on != SPAN_NONE ? &p->s->spans[wait->on] : NULL;
    if (!on || on->root != p->root || on->started_ns >= p->at || on->ended_ns < wait->from_ns ||
        p->hops >= LIMIT_SPAN_DEPTH)
        return false;
    step_to(p, SPAN_STEP_WAIT, on->ended_ns, at_of(wait)); /* the reply on its way */
    p->span = wait->on;
    p->hops++;
    return true;
}

static void walk_wait(struct path *p, const struct span_wait *wait)
{
    step_to(p, SPAN_STEP_SELF, wait->to_ns, (struct slice){0});
    if (wait->kind == SPAN_WAIT_OFF_CPU)
        step_to(p, SPAN_STEP_OFF_CPU, wait->from_ns, wait->at);
    else if (!follow_wait(p, wait))
        step_to(p, SPAN_STEP_WAIT, wait->from_ns, at_of(wait));
}

/* Steps to the span's start, and on to the span that sent to it. False: it is a root. */
static bool walk_start(struct path *p)
{
    const struct span *span = &p->s->spans[p->span];
    step_to(p, span->leaf ? SPAN_STEP_WAIT : SPAN_STEP_SELF, span->started_ns, (struct slice){0});
    if (span->parent == SPAN_NONE)
        return false;
    if (span->queued_ns > 0)
        step_to(p, SPAN_STEP_QUEUED, span->started_ns - span->queued_ns, (struct slice){0});
    p->span = span->parent;
    return true;
}

static void walk_path(struct path *p)
{
    for (bool more = true; more && p->n < LIMIT_SPAN_STEPS;) {
        const struct span_wait *wait = wait_before(p);
        if (wait)
            walk_wait(p, wait);
        else
            more = walk_start(p);
    }
    p->span = p->root;
    step_to(p, SPAN_STEP_WAIT, p->s->spans[p->root].started_ns, (struct slice){0});
}

void spans_sort_ends(struct spans *s)
{
    s->ends = alloc_resize(s->ends, (size_t)s->n_waits + 1, sizeof *s->ends);
    if (s->n_waits > 0) {
        memcpy(s->ends, s->waits, s->n_waits * sizeof *s->ends);
        qsort(s->ends, s->n_waits, sizeof *s->ends, last_end_first);
    }
}

struct span_step *spans_critical(const struct spans *s, uint32_t root, size_t *n)
{
    struct path p = {.s = s, .root = root, .span = root};
    *n = 0;
    if (root >= s->n_spans || s->spans[root].parent != SPAN_NONE)
        return NULL;
    p.at = s->spans[root].ended_ns;
    walk_path(&p);
    for (size_t i = 0; i < p.n / 2; i++) {
        struct span_step step = p.steps[i];
        p.steps[i] = p.steps[p.n - 1 - i];
        p.steps[p.n - 1 - i] = step;
    }
    *n = p.n;
    return p.steps;
}

struct root {
    uint32_t index;
    int64_t ns;
};

static int longest_first(const void *left, const void *right)
{
    const struct root *a = left, *b = right;
    return a->ns != b->ns ? ORDER(b->ns, a->ns) : ORDER(a->index, b->index);
}

uint32_t *spans_slowest(const struct spans *s, const uint32_t *roots, size_t n)
{
    struct root *order = alloc_zero(n + 1, sizeof *order);
    uint32_t *sorted = alloc_zero(n + 1, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct root){roots[i], span_duration(spans_at(s, roots[i]))};
    qsort(order, n, sizeof *order, longest_first);
    for (size_t i = 0; i < n; i++)
        sorted[i] = order[i].index;
    free(order);
    return sorted;
}
