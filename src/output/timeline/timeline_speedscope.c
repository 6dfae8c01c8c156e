/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file format of speedscope.app: the process in time ("evented"), then its stacks. */
#include "beamtop/model/stacks.h"
#include "output/stacks_form.h"
#include "timeline_form.h"

/* Short times that stand for several, with time on CPU between them, are left to the stacks. */
static void put_speedscope_row(struct timeline_form *f, struct speedscope_events *e,
                               struct stacks *shared, const struct timeline_row *r)
{
    if (r->kind == TIMELINE_GAP || r->times > 1)
        return;
    const struct sample_frame frame = {.kind =
                                           r->kind == TIMELINE_CALL ? FRAME_ERLANG : FRAME_RUNTIME,
                                       .name = timeline_row_name(f, r)};
    speedscope_put_event(e, r->depth, stacks_frame(shared, &frame), r->from_ns, r->until_ns);
    arena_reset(&f->arena);
}

void timeline_speedscope_put(struct timeline_form *f)
{
    const struct timeline *t = f->run->timeline;
    const struct slice name = f->run->name.len > 0 ? f->run->name : timeline_pid(f);
    struct stacks *stacks = timeline_stacks(t), *shared = stacks_new();
    struct speedscope_events e;
    speedscope_put_head(f->out, f->run->node);
    speedscope_begin_events(&e, f->out, name, f->sums.from_ns, f->sums.until_ns, timeline_rows(t));
    for (size_t i = 0; i < timeline_rows(t); i++)
        put_speedscope_row(f, &e, shared, timeline_row(t, i));
    speedscope_end_events(&e);
    buf_puts(&f->out->buf, ",");
    speedscope_put_profile(f->out, slice_of("stacks"), "microseconds", stacks, shared);
    speedscope_put_end(f->out, shared);
    stacks_free(shared);
    stacks_free(stacks);
}
