/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples.h"

void samples_flush(struct samples_out *out, size_t from_bytes)
{
    if (out->rc != 0)
        buf_reset(&out->buf);
    if (out->buf.len == 0 || out->buf.len < from_bytes)
        return;
    out->rc = sink_output_put(out->output, (const char *)out->buf.data, out->buf.len, out->err);
    buf_reset(&out->buf);
}

int samples_put(struct sink_output *output, const struct samples_summary *run,
                const struct samples_options *options, struct error *err)
{
    struct samples_out out = {.output = output, .err = err};
    buf_init(&out.buf, 0);
    switch (options->format) {
    case SAMPLES_TEXT:
        samples_text_put(&out, run, options);
        break;
    case SAMPLES_JSON:
        samples_json_put(&out, run);
        break;
    case SAMPLES_FOLDED:
        samples_folded_put(&out, run, options->parts);
        break;
    case SAMPLES_SPEEDSCOPE:
        samples_speedscope_put(&out, run);
        break;
    case SAMPLES_HTML:
        samples_html_put(&out, run);
        break;
    }
    samples_flush(&out, 0);
    buf_clear(&out.buf);
    return out.rc;
}
