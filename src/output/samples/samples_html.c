/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A flame graph as one page: the tree as JSON in a script element that is not run, and a script
 * that draws it. Nothing comes from the network, and the page says so to the browser. Names are
 * whatever a module or library is called: they are made safe, and no sign of HTML is in the JSON.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/embed.h"
#include "beamtop/base/text.h"
#include "beamtop/output/json.h"
#include "samples.h"

enum { MOST_NODES = 20000 };
#define LEAST_SHARE 0.0001 /* of all samples: a fifth of a pixel of a wide screen */

extern const struct embedded flame_page[]; /* flame.css, flame.js */

static void put_page_text(struct buf *out, struct slice text)
{
    text_put_html(out, text.s, text.len);
}

/* ---- what stands above the graph */

static void put_page_time(struct buf *out, double seconds)
{
    char text[32];
    put_page_text(out, slice_of(isnan(seconds) ? "–" : text_duration(text, sizeof text, seconds)));
}

static void put_page_count(struct buf *out, const char *before, int64_t n)
{
    char text[40];
    buf_printf(out, "%s%s", before, n < 0 ? "–" : text_integer(text, sizeof text, n));
}

static void put_page_part(struct buf *out, const char *before, int64_t n, int64_t of)
{
    buf_puts(out, before);
    if (n < 0 || of <= 0)
        buf_puts(out, "–");
    else
        buf_printf(out, "%.1f%%", 100 * samples_share((double)n, (double)of));
}

static void put_numbers(struct buf *out, const struct samples_summary *run, double left_out)
{
    put_page_count(out, "<p>", run->samples);
    buf_puts(out, " samples in ");
    put_page_time(out, run->seconds);
    if (!isnan(run->hz))
        buf_printf(out, " at %g Hz", run->hz);
    put_page_count(out, ": lost ", run->lost);
    put_page_part(out, ", moved on ", run->moved_on, run->samples);
    put_page_part(out, ", truncated ", run->truncated, run->samples);
    put_page_part(out, ", unresolved ", run->unresolved, run->samples);
    put_page_part(out, ", complete ", run->complete, run->samples);
    buf_puts(out, ".</p>\n<p>CPU time: VM ");
    put_page_time(out, run->target_cpu_s);
    buf_puts(out, ", sampler ");
    put_page_time(out, run->sampler_cpu_s);
    buf_puts(out, ".</p>\n");
    if (left_out > 0 && run->samples > 0)
        buf_printf(out,
                   "<p class=\"aside\">%.1f%% of the %s end in “…”: functions too small "
                   "to be seen.</p>\n",
                   100 * samples_share(left_out, stacks_total(run->stacks)), samples_unit(run));
}

static void put_classes(struct buf *out, const struct samples_summary *run)
{
    if (run->at_yields) {
        buf_puts(out, "<p class=\"label\">Taken where processes yield: shares are of reductions, "
                      "not of CPU time. BIFs, NIFs and garbage collection are hardly among "
                      "them.</p>\n");
        return;
    }
    for (int i = 0; i < SAMPLE_CLASSES; i++) {
        const double share = samples_share((double)run->classes[i], (double)run->samples);
        buf_printf(out, "%s%s ", i == 0 ? "<p>" : ", ", sample_class_name((enum sample_class)i));
        if (run->classes[i] < 0 || isnan(share))
            buf_puts(out, "–");
        else
            buf_printf(out, "%.1f%% ±%.1f", 100 * share, 100 * samples_error(run, share));
    }
    buf_puts(out, ".</p>\n");
}

/* What a file that is found later is of: the node, its host, and when. */
static void put_page_title(struct buf *out, const struct samples_summary *run)
{
    char time[40];
    put_page_text(out, run->label);
    if (run->host.len > 0) {
        buf_puts(out, " on ");
        put_page_text(out, run->host);
    }
    if (run->otp.len > 0) {
        buf_puts(out, ", OTP ");
        put_page_text(out, run->otp);
    }
    if (text_date_time(time, sizeof time, run->wall_us, ' ', 0))
        buf_printf(out, ", %s UTC", time);
}

static void put_page_head(struct buf *out, const struct samples_summary *run, double left_out)
{
    struct buf title;
    buf_init(&title, 0);
    put_page_title(&title, run);
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                  "<title>beamtop sample: ");
    buf_put(out, title.data, title.len);
    buf_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", flame_page[0].text);
    buf_put(out, title.data, title.len);
    buf_clear(&title);
    buf_puts(out, "</h1>\n");
    put_numbers(out, run, left_out);
    put_classes(out, run);
}

static void put_tools(struct buf *out, const struct samples_summary *run)
{
    buf_puts(out, "<p class=\"legend\">");
    for (int i = 0; i < FRAME_KINDS; i++)
        buf_printf(out, "<span><i class=\"k-%s\"></i>%s</span>", frame_kind_key((enum frame_kind)i),
                   frame_kind_name((enum frame_kind)i));
    buf_puts(out, "</p>\n");
    if (run->samples <= 0)
        buf_printf(out, "<p class=\"label\">No samples: %s.</p>\n",
                   run->at_yields ? "no process did anything"
                                  : "no thread of the VM was seen on a CPU");
    buf_puts(
        out,
        "<noscript><p class=\"label\">The graph needs JavaScript; <code>--format text</code> "
        "prints tables.</p></noscript>\n<form id=\"tools\"><label>Search (/) "
        "<input id=\"search\" type=\"search\" placeholder=\"regular expression\"/></label> "
        "<span id=\"found\" role=\"status\"></span> <button id=\"reset\" type=\"button\">Reset "
        "zoom (Esc)</button> <span class=\"aside\">Click or Enter: zoom. Arrow keys: caller, "
        "callee, neighbours.</span></form>\n<p id=\"at\" role=\"status\"></p>\n"
        "<div id=\"graph\" role=\"tree\" aria-label=\"flame graph\"></div>\n");
}

/* ---- the tree */

/* Nothing in it can end the element that it stands in. */
static void put_string(struct buf *out, struct slice text)
{
    struct buf safe, line;
    buf_init(&safe, 0);
    buf_init(&line, 0);
    text_put_safe(&safe, text.s, text.len, false);
    json_put_line(&line, safe.len > 0 ? json_slice((struct slice){(char *)safe.data, safe.len})
                                      : json_string(""));
    for (size_t i = 0; i + 1 < line.len; i++) {
        if (strchr("<>&", line.data[i]))
            buf_printf(out, "\\u%04x", line.data[i]);
        else
            buf_put_u8(out, line.data[i]);
    }
    buf_clear(&safe);
    buf_clear(&line);
}

static void put_frames(struct sink_pieces *out, const struct stacks *s)
{
    struct buf place;
    buf_init(&place, 0);
    for (uint32_t id = 0; id < stacks_frames(s); id++) {
        const struct sample_frame *f = stacks_frame_at(s, id);
        buf_reset(&place);
        samples_place(&place, f, false);
        buf_printf(&out->buf, "%s[%d,", id > 0 ? "," : "", (int)f->kind);
        put_string(&out->buf, f->name);
        buf_put_u8(&out->buf, ',');
        put_string(&out->buf, (struct slice){(const char *)place.data, place.len});
        buf_put_u8(&out->buf, ']');
        sink_pieces_flush(out, SINK_PIECE_BYTES);
    }
    buf_clear(&place);
}

/* {"kinds":[…],"frames":[[kind, name, place]…],"root":self,"nodes":[parent, frame, self, …]} */
static void put_data(struct sink_pieces *out, const struct stacks *s, const char *unit)
{
    buf_printf(&out->buf,
               "<script id=\"data\" type=\"application/json\">{\"unit\":\"%s\",\"kinds\":[", unit);
    for (int i = 0; i < FRAME_KINDS; i++)
        buf_printf(&out->buf, "%s\"%s\"", i > 0 ? "," : "", frame_kind_key((enum frame_kind)i));
    buf_puts(&out->buf, "],\"frames\":[");
    put_frames(out, s);
    buf_printf(&out->buf, "],\"root\":%.15g,\"nodes\":[", stacks_node(s, 0)->self);
    for (uint32_t i = 1; i < stacks_nodes(s); i++) {
        const struct stacks_node *node = stacks_node(s, i);
        buf_printf(&out->buf, "%s%" PRIu32 ",%" PRIu32 ",%.15g", i > 1 ? "," : "", node->parent,
                   node->frame, node->self);
        sink_pieces_flush(out, SINK_PIECE_BYTES);
    }
    buf_puts(&out->buf, "]}</script>\n");
}

void samples_html_put(struct sink_pieces *out, const struct samples_summary *run)
{
    double left_out;
    struct stacks *s =
        stacks_pruned(run->stacks, MOST_NODES, LEAST_SHARE * stacks_total(run->stacks), &left_out);
    put_page_head(&out->buf, run, left_out);
    put_tools(&out->buf, run);
    put_data(out, s, samples_unit(run));
    buf_printf(&out->buf, "<script>\n%s</script>\n</body>\n</html>\n", flame_page[1].text);
    stacks_free(s);
}
