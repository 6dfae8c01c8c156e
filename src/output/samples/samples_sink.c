/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples.h"

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
        samples_folded_put(&out, run, options->parts);
        break;
    case SAMPLES_SPEEDSCOPE:
        samples_speedscope_put(&out, run);
        break;
    case SAMPLES_HTML:
        samples_html_put(&out, run);
        break;
    }
    return sink_pieces_end(&out);
}
