/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A finished run in the format that is asked for; those that are only stacks are written here. */
#include "output/stacks_form.h"
#include "samples.h"

/* Folded: "frame;frame N", the root first, a line for each distinct stack. */
static void put_folded(struct sink_pieces *out, const struct samples_summary *run, bool parts)
{
    if (!parts)
        stacks_put_folded(out, run->stacks, (struct slice){0});
    for (size_t i = 0; parts && i < run->n_parts; i++)
        stacks_put_folded(out, run->parts[i].stacks, run->parts[i].name);
}

/* For speedscope.app: frames that all profiles share, and a profile of kind "sampled" for all
 * samples, then one for each part. */
static void put_speedscope(struct sink_pieces *out, const struct samples_summary *run)
{
    struct stacks *shared = stacks_new();
    speedscope_put_head(out, run->label);
    speedscope_put_profile(out, slice_of("all"), "none", run->stacks, shared);
    for (size_t i = 0; i < run->n_parts; i++) {
        buf_put_u8(&out->buf, ',');
        speedscope_put_profile(out, run->parts[i].name, "none", run->parts[i].stacks, shared);
    }
    speedscope_put_end(out, shared);
    stacks_free(shared);
}

int samples_put(struct sink_output *output, const struct samples_summary *run,
                const struct samples_options *options, struct error *err)
{
    struct sink_pieces out = {.output = output, .err = err};
    buf_init(&out.buf, 0);
    switch (options->format) {
    case SAMPLES_TEXT:
        samples_text_put(&out, run, options);
        break;
    case SAMPLES_JSON:
        samples_json_put(&out, run);
        break;
    case SAMPLES_FOLDED:
        put_folded(&out, run, options->parts);
        break;
    case SAMPLES_SPEEDSCOPE:
        put_speedscope(&out, run);
        break;
    case SAMPLES_HTML:
        samples_html_put(&out, run);
        break;
    }
    return sink_pieces_end(&out);
}
