/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "beamtop/model/stacks.h"
#include "output/stacks_form.h"
#include "timeline_form.h"

struct slice timeline_pid(struct timeline_form *f)
{
    const struct etf_pid *p = &f->run->pid;
    if (p->id == 0 && p->serial == 0)
        return (struct slice){0};
    return slice_of(arena_printf(&f->arena, PID_FORMAT, PID_NUMBERS(p)));
}

struct slice timeline_row_name(struct timeline_form *f, const struct timeline_row *r)
{
    if (r->kind == TIMELINE_CALL)
        return r->function;
    return slice_of(arena_printf(&f->arena, "%s(%.*s)", timeline_kind_key(r->kind),
                                 (int)r->function.len, r->function.s));
}

static void put_folded(struct timeline_form *f)
{
    struct stacks *s = timeline_stacks(f->run->timeline);
    stacks_put_folded(f->out, s, (struct slice){0});
    stacks_free(s);
}

/* For speedscope.app: the process in time ("evented"), then its stacks. */

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

static void put_speedscope(struct timeline_form *f)
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

int timeline_put(struct sink_output *output, const struct timeline_run *run,
                 const struct timeline_sink_options *options, struct error *err)
{
    static void (*const forms[])(struct timeline_form *) = {
        [TIMELINE_TEXT] = timeline_text_put,
        [TIMELINE_JSON] = timeline_json_put,
        [TIMELINE_FOLDED] = put_folded,
        [TIMELINE_SPEEDSCOPE] = put_speedscope,
    };
    struct sink_pieces out = {.output = output, .err = err};
    struct timeline_form f = {
        .out = &out, .run = run, .options = options, .sums = timeline_sums(run->timeline)};
    buf_init(&out.buf, 0);
    arena_init(&f.arena);
    forms[options->format](&f);
    arena_clear(&f.arena);
    return sink_pieces_end(&out);
}
