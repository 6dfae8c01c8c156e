/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file format of speedscope.app: frames that all profiles share, and a profile of kind
 * "sampled" for all samples, then one for each part. Samples are lists of numbers, so only
 * texts need a library. */
#include <config.h>

#include <inttypes.h>

#include "beamtop/base/limits.h"
#include "beamtop/output/json.h"
#include "samples.h"

enum { WRITTEN_AT_ONCE = 64 * 1024 };

/* One value without the end of a line; frees v. */
static void put_value(struct buf *out, json_t *v)
{
    json_put_line(out, v);
    out->len--;
}

/* Empty texts are allowed there, null is not. */
static json_t *text_of(struct slice text)
{
    return text.len > 0 ? json_slice(text) : json_string("");
}

static void put_frames(struct samples_out *out, const struct stacks *shared)
{
    for (uint32_t id = 0; id < stacks_frames(shared); id++) {
        const struct sample_frame *f = stacks_frame_at(shared, id);
        json_t *frame = json_object();
        json_object_set_new(frame, "name", text_of(f->name));
        if (f->file.len > 0 || f->object.len > 0)
            json_object_set_new(frame, "file", json_slice(f->file.len > 0 ? f->file : f->object));
        if (f->line > 0)
            json_object_set_new(frame, "line", json_integer(f->line));
        if (id > 0)
            buf_put_u8(&out->buf, ',');
        put_value(&out->buf, frame);
        samples_flush(out, WRITTEN_AT_ONCE);
    }
}

/* Each of the stacks has separate ids; the file has those of `shared`, which grows. */
static void put_profile(struct samples_out *out, struct slice name, const struct stacks *s,
                        struct stacks *shared)
{
    uint32_t frames[LIMIT_STACK_DEPTH];
    const char *between = "";
    buf_puts(&out->buf, "{\"type\":\"sampled\",\"name\":");
    put_value(&out->buf, text_of(name));
    buf_printf(&out->buf, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":%.15g,\"samples\":[",
               stacks_total(s));
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
        samples_flush(out, WRITTEN_AT_ONCE);
    }
    buf_puts(&out->buf, "],\"weights\":[");
    between = "";
    for (uint32_t i = 0; i < stacks_nodes(s); i++) {
        if (stacks_node(s, i)->self <= 0)
            continue;
        buf_printf(&out->buf, "%s%.15g", between, stacks_node(s, i)->self);
        between = ",";
    }
    buf_puts(&out->buf, "]}");
}

/* The profiles first: they find out which frames there are. An object has no order. */
void samples_speedscope_put(struct samples_out *out, const struct samples_summary *run)
{
    struct stacks *shared = stacks_new();
    buf_puts(&out->buf, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                        "\"exporter\":\"beamtop@" PACKAGE_VERSION "\",\"name\":");
    put_value(&out->buf, text_of(run->label));
    buf_puts(&out->buf, ",\"activeProfileIndex\":0,\"profiles\":[");
    put_profile(out, slice_of("all"), run->stacks, shared);
    for (size_t i = 0; i < run->n_parts; i++) {
        buf_put_u8(&out->buf, ',');
        put_profile(out, run->parts[i].name, run->parts[i].stacks, shared);
    }
    buf_puts(&out->buf, "],\"shared\":{\"frames\":[");
    put_frames(out, shared);
    buf_puts(&out->buf, "]}}\n");
    stacks_free(shared);
}
