/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file format of speedscope.app: the process in time ("evented"), then its stacks. */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/stacks.h"
#include "output/stacks_form.h"
#include "timeline_form.h"

struct open {
    uint32_t frame;
    int64_t until_ns;
};

struct evented {
    struct timeline_form *f;
    struct stacks *shared;
    struct open *open;
    size_t depth;
    int64_t from_ns, at_ns; /* of the last event: times never go back */
    const char *between;
};

static void put_event(struct evented *e, char type, uint32_t frame, int64_t at_ns)
{
    e->at_ns = at_ns > e->at_ns ? at_ns : e->at_ns;
    buf_printf(&e->f->out->buf, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%.3f}", e->between, type,
               frame, (double)(e->at_ns - e->from_ns) / 1e3);
    e->between = ",";
    sink_pieces_flush(e->f->out, SINK_PIECE_BYTES);
}

static void close_to(struct evented *e, size_t depth)
{
    for (; e->depth > depth; e->depth--)
        put_event(e, 'C', e->open[e->depth - 1].frame, e->open[e->depth - 1].until_ns);
}

/* Short times that stand for several, with time on CPU between them, are left to the other one. */
static void put_row(struct evented *e, const struct timeline_row *r)
{
    const int64_t until =
        e->depth > 0 && r->depth > 0 && e->open[r->depth - 1].until_ns < r->until_ns
            ? e->open[r->depth - 1].until_ns
            : r->until_ns;
    close_to(e, r->depth);
    if (r->kind == TIMELINE_GAP || r->times > 1)
        return;
    const struct sample_frame frame = {.kind =
                                           r->kind == TIMELINE_CALL ? FRAME_ERLANG : FRAME_RUNTIME,
                                       .name = timeline_row_name(e->f, r)};
    e->open[e->depth] = (struct open){stacks_frame(e->shared, &frame), until};
    put_event(e, 'O', e->open[e->depth++].frame, r->from_ns);
    arena_reset(&e->f->arena);
}

void timeline_speedscope_put(struct timeline_form *f)
{
    const struct timeline *t = f->run->timeline;
    struct stacks *stacks = timeline_stacks(t);
    struct evented e = {.f = f,
                        .shared = stacks_new(),
                        .open = alloc_zero(timeline_rows(t) + 1, sizeof *e.open),
                        .from_ns = f->sums.from_ns,
                        .at_ns = f->sums.from_ns,
                        .between = ""};
    struct buf *out = &f->out->buf;
    speedscope_put_head(f->out, f->run->node);
    buf_puts(out, "{\"type\":\"evented\",\"name\":");
    speedscope_put_text(out, f->run->name.len > 0 ? f->run->name : timeline_pid(f));
    buf_printf(out, ",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":%.3f,\"events\":[",
               (double)(f->sums.until_ns - f->sums.from_ns) / 1e3);
    for (size_t i = 0; i < timeline_rows(t); i++)
        put_row(&e, timeline_row(t, i));
    close_to(&e, 0);
    buf_puts(out, "]},");
    speedscope_put_profile(f->out, slice_of("stacks"), "microseconds", stacks, e.shared);
    speedscope_put_end(f->out, e.shared);
    stacks_free(e.shared);
    stacks_free(stacks);
    free(e.open);
}
