/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/known.h"
#include "spans.h"

#define TREE_ROWS 200 /* of text */

int64_t spans_wall(const struct spans_form *f, int64_t mono_ns)
{
    int64_t wall = f->run->wall_us > 0 ? spans_run_wall_ns(f->run, mono_ns) : -1;
    return wall < 0 ? -1 : wall;
}

struct slice spans_span_name(struct spans_form *f, const struct span *span)
{
    struct buf name;
    buf_init(&name, 0);
    span_put_name(&name, span);
    return slice_take(&f->arena, &name);
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
    f.rows = (struct spans_rows){.run = run,
                                 .arena = &f.arena,
                                 .ascii = options->ascii,
                                 .raw_waits = options->raw_waits,
                                 .failed_waits = true,
                                 .most = TREE_ROWS};
    choose_roots(&f);
    forms[options->format](&f);
    free(f.roots);
    arena_clear(&f.arena);
    return sink_pieces_end(&out);
}
