/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/known.h"
#include "spans.h"

uint32_t span_after(const struct spans *s, uint32_t at)
{
    const struct span *span = spans_at(s, at);
    if (span->child != SPAN_NONE)
        return span->child;
    for (; span->parent != SPAN_NONE; span = spans_at(s, span->parent))
        if (span->next != SPAN_NONE)
            return span->next;
    return SPAN_NONE;
}

double spans_us(int64_t ns)
{
    return known_or_nan(ns) / 1e3;
}

int64_t spans_wall(const struct spans_form *f, int64_t mono_ns)
{
    int64_t wall = f->run->wall_us > 0 ? spans_run_wall_ns(f->run, mono_ns) : -1;
    return wall < 0 ? -1 : wall;
}

int64_t spans_wall_us(const struct spans_form *f, int64_t mono_ns)
{
    int64_t wall = spans_wall(f, mono_ns);
    return wall < 0 ? -1 : wall / 1000;
}

struct slice spans_pid(struct spans_form *f, const struct span_process *p)
{
    if (p->pid.id == 0 && p->pid.serial == 0)
        return (struct slice){0};
    return slice_of(arena_printf(&f->arena, PID_FORMAT, PID_NUMBERS(&p->pid)));
}

struct slice spans_node(const struct spans_form *f, const struct span_process *p)
{
    return p->node.len > 0 ? p->node : slice_of(f->run->node);
}

struct slice spans_hex(struct spans_form *f, uint64_t id)
{
    if (id == 0)
        return (struct slice){0};
    return slice_of(arena_printf(&f->arena, "%016" PRIx64, id));
}

struct slice spans_trace(struct spans_form *f, const struct span *span)
{
    return slice_of(
        arena_printf(&f->arena, "%016" PRIx64 "%016" PRIx64, span->trace_id[0], span->trace_id[1]));
}

struct slice spans_wait_name(struct spans_form *f, const struct span_wait *wait)
{
    struct buf name;
    buf_init(&name, 0);
    span_put_wait(&name, wait, f->options->raw_waits);
    return slice_take(&f->arena, &name);
}

static bool is_asked(const struct spans_form *f, const struct span *span)
{
    return span->parent == SPAN_NONE &&
           (span_duration(span) >= f->options->slower_ns || span->outcome == SPAN_OPEN);
}

static void choose_roots(struct spans_form *f)
{
    size_t n = spans_count(f->s);
    f->roots = alloc_zero(n + 1, sizeof *f->roots);
    for (uint32_t i = 0; i < n; i++)
        if (is_asked(f, spans_at(f->s, i)))
            f->roots[f->n_roots++] = i;
}

int spans_put(struct sink_output *output, const struct spans_run *run,
              const struct spans_sink_options *options, struct error *err)
{
    static void (*const forms[])(struct spans_form *) = {
        [SPANS_TEXT] = spans_text_put,
        [SPANS_JSON] = spans_json_put,
        [SPANS_FOLDED] = spans_folded_put,
        [SPANS_SPEEDSCOPE] = spans_speedscope_put,
        [SPANS_TRACE_EVENT] = spans_trace_event_put,
        [SPANS_OTLP] = spans_otlp_put,
    };
    struct sink_pieces out = {.output = output, .err = err};
    struct spans_form f = {.out = &out, .run = run, .s = run->spans, .options = options};
    buf_init(&out.buf, 0);
    arena_init(&f.arena);
    choose_roots(&f);
    forms[options->format](&f);
    free(f.roots);
    arena_clear(&f.arena);
    return sink_pieces_end(&out);
}
