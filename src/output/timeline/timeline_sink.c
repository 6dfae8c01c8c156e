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

static void folded_put(struct timeline_form *f)
{
    struct stacks *s = timeline_stacks(f->run->timeline);
    stacks_put_folded(f->out, s, (struct slice){0});
    stacks_free(s);
}

int timeline_put(struct sink_output *output, const struct timeline_run *run,
                 const struct timeline_sink_options *options, struct error *err)
{
    static void (*const forms[])(struct timeline_form *) = {
        [TIMELINE_TEXT] = timeline_text_put,
        [TIMELINE_JSON] = timeline_json_put,
        [TIMELINE_FOLDED] = folded_put,
        [TIMELINE_SPEEDSCOPE] = timeline_speedscope_put,
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
