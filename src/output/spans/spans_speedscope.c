/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file format of speedscope.app: a profile of kind "evented" for each process, with its spans
 * and waits in time; then one of kind "sampled": the flame graph over processes. */
#include "beamtop/model/stacks.h"
#include "output/stacks_form.h"
#include "spans.h"

static uint32_t frame_of(struct spans_form *f, struct stacks *shared, const struct spans_item *item)
{
    const struct sample_frame frame = {.kind =
                                           item->wait == SPAN_NONE ? FRAME_ERLANG : FRAME_RUNTIME,
                                       .name = spans_item_name(f, item)};
    uint32_t id = stacks_frame(shared, &frame);
    arena_reset(&f->arena);
    return id;
}

static void put_track(struct spans_form *f, const struct spans_tracks *t, struct stacks *shared,
                      const struct spans_track *track)
{
    struct speedscope_events e;
    speedscope_begin_events(&e, f->out, spans_track_name(f, track), t->from_ns, t->to_ns,
                            track->n_items);
    for (size_t i = 0; i < track->n_items; i++) {
        const struct spans_item *item = &t->items[track->item + i];
        speedscope_put_event(&e, item->depth, frame_of(f, shared, item), item->from_ns,
                             item->to_ns);
    }
    speedscope_end_events(&e);
}

void spans_speedscope_put(struct spans_form *f)
{
    struct spans_tracks t;
    struct stacks *stacks = spans_form_stacks(f), *shared = stacks_new();
    spans_tracks_make(&t, f);
    speedscope_put_head(f->out, slice_of(f->run->node));
    for (size_t i = 0; i < t.n_tracks; i++) {
        put_track(f, &t, shared, &t.tracks[i]);
        buf_puts(&f->out->buf, ",");
    }
    speedscope_put_profile(f->out, slice_of("all processes"), "microseconds", stacks, shared);
    speedscope_put_end(f->out, shared);
    spans_tracks_free(&t);
    stacks_free(shared);
    stacks_free(stacks);
}
