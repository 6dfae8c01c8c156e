/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file format of speedscope.app: a profile of kind "evented" for each process, with its spans
 * and waits in time; then one of kind "sampled": the flame graph over processes. */
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/stacks.h"
#include "output/stacks_form.h"
#include "spans.h"

struct events {
    struct spans_form *f;
    const struct spans_tracks *t;
    struct stacks *shared;
    const char *between;
};

struct open {
    uint32_t frame;
    int64_t to_ns;
};

static void put_event(struct events *e, char type, uint32_t frame, int64_t at_ns)
{
    buf_printf(&e->f->out->buf, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%.3f}", e->between, type,
               frame, spans_us(at_ns - e->t->from_ns));
    e->between = ",";
    sink_pieces_flush(e->f->out, SINK_PIECE_BYTES);
}

static uint32_t frame_of(struct events *e, const struct spans_item *item)
{
    const struct sample_frame frame = {.kind =
                                           item->wait == SPAN_NONE ? FRAME_ERLANG : FRAME_RUNTIME,
                                       .name = spans_item_name(e->f, item)};
    uint32_t id = stacks_frame(e->shared, &frame);
    arena_reset(&e->f->arena);
    return id;
}

static void put_track(struct events *e, const struct spans_track *track)
{
    struct open *open = alloc_zero(track->n_items + 1, sizeof *open);
    struct buf *out = &e->f->out->buf;
    size_t depth = 0;
    buf_puts(out, "{\"type\":\"evented\",\"name\":");
    speedscope_put_text(out, spans_track_name(e->f, track));
    buf_printf(out, ",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":%.3f,\"events\":[",
               spans_us(e->t->to_ns - e->t->from_ns));
    e->between = "";
    for (size_t i = 0; i < track->n_items; i++) {
        const struct spans_item *item = &e->t->items[track->item + i];
        for (; depth > item->depth; depth--)
            put_event(e, 'C', open[depth - 1].frame, open[depth - 1].to_ns);
        open[depth] = (struct open){frame_of(e, item), item->to_ns};
        put_event(e, 'O', open[depth++].frame, item->from_ns);
    }
    for (; depth > 0; depth--)
        put_event(e, 'C', open[depth - 1].frame, open[depth - 1].to_ns);
    buf_puts(out, "]}");
    free(open);
}

void spans_speedscope_put(struct spans_form *f)
{
    struct spans_tracks t;
    struct stacks *stacks = spans_form_stacks(f);
    struct events e = {.f = f, .t = &t, .shared = stacks_new()};
    spans_tracks_make(&t, f);
    speedscope_put_head(f->out, slice_of(f->run->node));
    for (size_t i = 0; i < t.n_tracks; i++) {
        put_track(&e, &t.tracks[i]);
        buf_puts(&f->out->buf, ",");
    }
    speedscope_put_profile(f->out, slice_of("all processes"), "microseconds", stacks, e.shared);
    speedscope_put_end(f->out, e.shared);
    spans_tracks_free(&t);
    stacks_free(e.shared);
    stacks_free(stacks);
}
