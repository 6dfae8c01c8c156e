/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spans and waits as what each process did, for forms that draw a line for a process. */
#include <inttypes.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "spans.h"

enum { LANES = 32 }; /* of a process: the last one takes all that is left, cut */

/* A span on its way to a track. */
struct piece {
    const struct span *span;
    uint32_t index;
    bool placed;
};

static int number_order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

/* By node, the captured one first; then by pid, or by name where there is none. */
static int process_order(const struct span_process *a, const struct span_process *b)
{
    const int64_t of_a[] = {a->pid.id, a->pid.serial, a->pid.creation};
    const int64_t of_b[] = {b->pid.id, b->pid.serial, b->pid.creation};
    int order = slice_order(a->node, b->node);
    for (size_t i = 0; order == 0 && i < ARRAY_LEN(of_a); i++)
        order = number_order(of_a[i], of_b[i]);
    if (order == 0 && a->pid.id == 0 && a->pid.serial == 0)
        order = slice_order(a->name, b->name);
    return order;
}

/* The outer one first. */
static int time_order(int64_t from_a, int64_t to_a, int64_t from_b, int64_t to_b)
{
    int order = number_order(from_a, from_b);
    return order != 0 ? order : number_order(to_b, to_a);
}

static int by_process(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    int order = process_order(&x->span->process, &y->span->process);
    if (order == 0)
        order = time_order(x->span->started_ns, x->span->ended_ns, y->span->started_ns,
                           y->span->ended_ns);
    if (order == 0)
        order = number_order(x->span->depth, y->span->depth);
    return order != 0 ? order : number_order(x->index, y->index);
}

static int by_time(const void *a, const void *b)
{
    const struct spans_item *x = a, *y = b;
    int order = time_order(x->from_ns, x->to_ns, y->from_ns, y->to_ns);
    if (order == 0)
        order = (x->wait != SPAN_NONE) - (y->wait != SPAN_NONE);
    if (order == 0)
        order = number_order(x->depth, y->depth);
    return order != 0 ? order : number_order(x->span, y->span);
}

/* ---- items of a track */

static void add_item(struct spans_tracks *t, struct spans_item item)
{
    t->items = alloc_grow(t->items, t->n_items, sizeof *t->items);
    t->items[t->n_items++] = item;
}

/* A wait for a span within this one is that span. */
static void add_span(struct spans_tracks *t, const struct spans_form *f, const struct piece *p)
{
    uint32_t track = (uint32_t)t->n_tracks - 1;
    const struct span *span = p->span;
    t->of[p->index] = track;
    add_item(t, (struct spans_item){p->index, SPAN_NONE, track, span->depth, span->started_ns,
                                    span->ended_ns});
    for (uint32_t i = 0; i < span->n_waits; i++) {
        const struct span_wait *wait = spans_wait(f->s, span->wait + i);
        if (wait->kind != SPAN_WAIT_NESTED && wait->net_ns > 0)
            add_item(t, (struct spans_item){p->index, span->wait + i, track, span->depth,
                                            wait->from_ns, wait->to_ns});
    }
}

/* Each item within the one that it began in. */
static void nest(struct spans_tracks *t, struct spans_track *track)
{
    struct spans_item *items = t->items + track->item;
    size_t depth = 0;
    track->n_items = t->n_items - track->item;
    size_t *open = alloc_zero(track->n_items + 1, sizeof *open);
    qsort(items, track->n_items, sizeof *items, by_time);
    for (size_t i = 0; i < track->n_items; i++) {
        while (depth > 0 && items[open[depth - 1]].to_ns <= items[i].from_ns)
            depth--;
        if (depth > 0 && items[i].to_ns > items[open[depth - 1]].to_ns)
            items[i].to_ns = items[open[depth - 1]].to_ns;
        items[i].depth = (uint32_t)depth;
        open[depth++] = i;
    }
    free(open);
}

/* One lane: the pieces that nest, of those that are not placed yet. Returns how many. */
static size_t fill_lane(struct spans_tracks *t, const struct spans_form *f, struct piece *pieces,
                        size_t n, int64_t *ends, bool all)
{
    size_t depth = 0, placed = 0;
    for (size_t i = 0; i < n; i++) {
        const struct span *span = pieces[i].span;
        if (pieces[i].placed)
            continue;
        while (depth > 0 && ends[depth - 1] <= span->started_ns)
            depth--;
        if (!all && depth > 0 && ends[depth - 1] < span->ended_ns)
            continue;
        ends[depth++] = span->ended_ns;
        pieces[i].placed = true;
        placed++;
        add_span(t, f, &pieces[i]);
    }
    return placed;
}

static void add_process(struct spans_tracks *t, const struct spans_form *f, struct piece *pieces,
                        size_t n, int64_t *ends)
{
    const struct span_process *process = &pieces[0].span->process;
    const struct spans_track *last = t->n_tracks > 0 ? &t->tracks[t->n_tracks - 1] : NULL;
    uint32_t node = !last                                             ? 0
                    : slice_equal(last->process->node, process->node) ? last->node
                                                                      : last->node + 1;
    size_t left = n;
    for (unsigned lane = 0; left > 0; lane++) {
        t->tracks[t->n_tracks++] = (struct spans_track){process, lane, node, t->n_items, 0};
        left -= fill_lane(t, f, pieces, n, ends, lane + 1 == LANES);
        nest(t, &t->tracks[t->n_tracks - 1]);
    }
}

static size_t collect(struct spans_tracks *t, const struct spans_form *f, struct piece *pieces)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_roots; i++)
        for (uint32_t at = f->roots[i]; at != SPAN_NONE; at = span_after(f->s, at)) {
            const struct span *span = spans_at(f->s, at);
            int64_t from = span->started_ns - (span->queued_ns > 0 ? span->queued_ns : 0);
            t->from_ns = n == 0 || from < t->from_ns ? from : t->from_ns;
            t->to_ns = n == 0 || span->ended_ns > t->to_ns ? span->ended_ns : t->to_ns;
            pieces[n++] = (struct piece){span, at, false};
        }
    return n;
}

void spans_tracks_make(struct spans_tracks *t, const struct spans_form *f)
{
    size_t all = spans_count(f->s);
    struct piece *pieces = alloc_zero(all + 1, sizeof *pieces);
    int64_t *ends = alloc_zero(all + 1, sizeof *ends);
    *t = (struct spans_tracks){0};
    t->of = alloc_zero(all + 1, sizeof *t->of);
    for (size_t i = 0; i < all; i++)
        t->of[i] = SPAN_NONE;
    t->tracks = alloc_zero(all + 1, sizeof *t->tracks);
    size_t n = collect(t, f, pieces), to;
    qsort(pieces, n, sizeof *pieces, by_process);
    for (size_t from = 0; from < n; from = to) {
        for (to = from + 1;
             to < n && process_order(&pieces[from].span->process, &pieces[to].span->process) == 0;)
            to++;
        add_process(t, f, pieces + from, to - from, ends);
    }
    free(pieces);
    free(ends);
}

void spans_tracks_free(struct spans_tracks *t)
{
    free(t->items);
    free(t->tracks);
    free(t->of);
}

/* ---- names */

struct slice spans_track_name(struct spans_form *f, const struct spans_track *track)
{
    const struct span_process *p = track->process;
    struct slice pid = spans_pid(&f->arena, p);
    struct buf name;
    buf_init(&name, 0);
    span_put_process(&name, p);
    if (p->name.len > 0 && pid.len > 0)
        buf_printf(&name, " %s", pid.s);
    if (track->lane > 0)
        buf_printf(&name, " (%u)", track->lane + 1);
    return slice_take(&f->arena, &name);
}

struct slice spans_item_name(struct spans_form *f, const struct spans_item *item)
{
    return item->wait != SPAN_NONE ? spans_wait_name(f, spans_wait(f->s, item->wait))
                                   : spans_span_name(f, spans_at(f->s, item->span));
}
