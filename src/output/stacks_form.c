/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "stacks_form.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/text.h"
#include "beamtop/model/samples.h"
#include "beamtop/output/json.h"

/* ---- folded */

void folded_put_frame(struct buf *out, struct slice name)
{
    size_t from = out->len;
    text_put_safe(out, name.s, name.len, false);
    for (size_t i = from; i < out->len; i++)
        if (out->data[i] == ';')
            out->data[i] = ',';
}

void stacks_put_folded(struct sink_pieces *out, const struct stacks *s, struct slice first)
{
    uint32_t frames[LIMIT_STACK_DEPTH];
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        double weight = round(stacks_node(s, i)->self);
        if (weight < 1)
            continue;
        size_t n = stacks_path(s, i, frames);
        if (first.len > 0) {
            folded_put_frame(&out->buf, first);
            buf_put_u8(&out->buf, ';');
        }
        if (n == 0)
            buf_puts(&out->buf, SAMPLES_NO_STACK);
        for (size_t k = 0; k < n; k++) {
            if (k > 0)
                buf_put_u8(&out->buf, ';');
            folded_put_frame(&out->buf, stacks_frame_at(s, frames[k])->name);
        }
        buf_printf(&out->buf, " %.0f\n", weight);
        sink_pieces_flush(out, SINK_PIECE_BYTES);
    }
}

/* ---- speedscope: samples are lists of numbers, so only texts need a library */

static void put_json_text(struct buf *out, struct slice text)
{
    json_put_value(out, text.len > 0 ? json_slice(text) : json_string(""));
}

void speedscope_put_head(struct sink_pieces *out, struct slice name)
{
    buf_puts(&out->buf, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                        "\"exporter\":\"beamtop@" PACKAGE_VERSION "\",\"name\":");
    put_json_text(&out->buf, name);
    buf_puts(&out->buf, ",\"activeProfileIndex\":0,\"profiles\":[");
}

static void put_samples(struct sink_pieces *out, const struct stacks *s, struct stacks *shared)
{
    uint32_t frames[LIMIT_STACK_DEPTH];
    const char *between = "";
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        if (stacks_node(s, i)->self <= 0)
            continue;
        size_t n = stacks_path(s, i, frames);
        buf_printf(&out->buf, "%s[", between);
        for (size_t k = 0; k < n; k++)
            buf_printf(&out->buf, k > 0 ? ",%" PRIu32 : "%" PRIu32,
                       stacks_frame(shared, stacks_frame_at(s, frames[k])));
        buf_put_u8(&out->buf, ']');
        between = ",";
        sink_pieces_flush(out, SINK_PIECE_BYTES);
    }
}

/* Each of the stacks has separate ids; the file has those of `shared`, which grows. */
void speedscope_put_profile(struct sink_pieces *out, struct slice name, const char *unit,
                            const struct stacks *s, struct stacks *shared)
{
    const char *between = "";
    buf_puts(&out->buf, "{\"type\":\"sampled\",\"name\":");
    put_json_text(&out->buf, name);
    buf_printf(&out->buf, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%.15g,\"samples\":[",
               unit, stacks_total(s));
    put_samples(out, s, shared);
    buf_puts(&out->buf, "],\"weights\":[");
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        if (stacks_node(s, i)->self <= 0)
            continue;
        buf_printf(&out->buf, "%s%.15g", between, stacks_node(s, i)->self);
        between = ",";
    }
    buf_puts(&out->buf, "]}");
}

struct speedscope_open {
    uint32_t frame;
    int64_t until_ns;
};

void speedscope_begin_events(struct speedscope_events *e, struct sink_pieces *out,
                             struct slice name, int64_t from_ns, int64_t until_ns, size_t most)
{
    *e = (struct speedscope_events){.out = out,
                                    .open = alloc_zero(most + 1, sizeof *e->open),
                                    .from_ns = from_ns,
                                    .at_ns = from_ns,
                                    .between = ""};
    buf_puts(&out->buf, "{\"type\":\"evented\",\"name\":");
    put_json_text(&out->buf, name);
    buf_printf(&out->buf,
               ",\"unit\":\"microseconds\",\"startValue\":0,\"endValue\":%.3f,\"events\":[",
               (double)(until_ns - from_ns) / 1e3);
}

static void put_scope_event(struct speedscope_events *e, char type, uint32_t frame, int64_t at_ns)
{
    e->at_ns = at_ns > e->at_ns ? at_ns : e->at_ns;
    buf_printf(&e->out->buf, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%.3f}", e->between,
               type, frame, (double)(e->at_ns - e->from_ns) / 1e3);
    e->between = ",";
    sink_pieces_flush(e->out, SINK_PIECE_BYTES);
}

static void close_to(struct speedscope_events *e, size_t depth)
{
    for (; e->depth > depth; e->depth--)
        put_scope_event(e, 'C', e->open[e->depth - 1].frame, e->open[e->depth - 1].until_ns);
}

void speedscope_put_event(struct speedscope_events *e, size_t depth, uint32_t frame,
                          int64_t from_ns, int64_t until_ns)
{
    close_to(e, depth);
    if (e->depth > 0 && e->open[e->depth - 1].until_ns < until_ns)
        until_ns = e->open[e->depth - 1].until_ns;
    e->open[e->depth++] = (struct speedscope_open){frame, until_ns};
    put_scope_event(e, 'O', frame, from_ns);
}

void speedscope_end_events(struct speedscope_events *e)
{
    close_to(e, 0);
    buf_puts(&e->out->buf, "]}");
    free(e->open);
}

/* The frames come last, since only the profiles show which are used. Keys have no order. */
void speedscope_put_end(struct sink_pieces *out, const struct stacks *shared)
{
    buf_puts(&out->buf, "],\"shared\":{\"frames\":[");
    for (uint32_t id = 0; id < stacks_frames(shared); id++) {
        const struct sample_frame *f = stacks_frame_at(shared, id);
        json_t *frame = json_object();
        json_object_set_new(frame, "name", json_slice(f->name));
        if (f->file.len > 0 || f->object.len > 0)
            json_object_set_new(frame, "file", json_slice(f->file.len > 0 ? f->file : f->object));
        if (f->line > 0)
            json_object_set_new(frame, "line", json_integer(f->line));
        if (id > 0)
            buf_put_u8(&out->buf, ',');
        json_put_value(&out->buf, frame);
        sink_pieces_flush(out, SINK_PIECE_BYTES);
    }
    buf_puts(&out->buf, "]}}\n");
}
