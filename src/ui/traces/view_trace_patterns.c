/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The patterns of a trace with their counters and latencies. */
#include <math.h>
#include <stdio.h>

#include "beamtop/base/text.h"
#include "ui/canvas/graph.h"
#include "view_trace.h"

#define LATENCY_CELLS 16

static void count_cell(struct trace_flow *f, enum style style, const char *label,
                       const char *before, uint64_t n)
{
    char number[32], text[64];
    if (n == 0)
        return;
    snprintf(text, sizeof text, "%s%s", before, text_integer(number, sizeof number, (int64_t)n));
    trace_flow_cell(f, style, label, text);
}

/* There is room for little but the events. */
static bool is_least(const struct trace_flow *f)
{
    return f->low && f->columns < TRACE_NARROW_COLUMNS;
}

static void counts_cells(struct trace_flow *f, const struct trace_pattern_info *info, bool runs)
{
    const struct trace_counts *c = &info->counts;
    char number[32], text[64];
    trace_flow_cell(f, STYLE_VALUE, "shown",
                    text_integer(number, sizeof number, (int64_t)c->shown));
    if (!is_least(f)) {
        count_cell(f, STYLE_VALUE, "seen", "", c->seen);
        count_cell(f, STYLE_VALUE, "filtered", "", c->filtered);
        count_cell(f, STYLE_VALUE, "over", "", c->over);
    }
    count_cell(f, STYLE_WARN, "truncated", "", c->cut);
    count_cell(f, STYLE_WARN, "missed", c->missed_at_most ? "at most " : "", c->missed);
    count_cell(f, STYLE_WARN, "lost", "", c->lost);
    count_cell(f, STYLE_VALUE, "not returned", "", c->open);
    /* Calls are counted each second, events come at once: each was a call. */
    if (c->calls_known)
        count_cell(f, STYLE_VALUE, "calls", "", c->calls > c->seen ? c->calls : c->seen);
    if (runs && info->rate_per_s > 0) {
        snprintf(text, sizeof text, "%s/s", text_count(number, sizeof number, info->rate_per_s));
        trace_flow_cell(f, STYLE_VALUE, "rate", text);
    }
}

static const char *flow_duration(const struct trace_flow *f, char *out, size_t size, uint64_t ns)
{
    return page_duration(f->page, out, size, (double)ns / 1e9);
}

/* Each cell spans a power of 2: the smallest one with which all fit into the cells. */
static void latency_graph(struct trace_flow *f, const struct histogram *h)
{
    size_t first = 0, last = HISTOGRAM_BUCKETS - 1, step = HISTOGRAM_STEPS;
    char out[LATENCY_CELLS * GRAPH_CELL_BYTES + 1], from[32], to[32];
    struct ring ring;
    while (first < last && h->count[first] == 0)
        first++;
    while (last > first && h->count[last] == 0)
        last--;
    while ((last - first) / step >= LATENCY_CELLS)
        step *= 2;
    size_t cells = (last - first) / step + 1;
    ring_init(&ring, cells);
    for (size_t i = 0; i < cells; i++) {
        uint64_t n = 0;
        for (size_t k = first + i * step; k < first + (i + 1) * step && k <= last; k++)
            n += h->count[k];
        ring_push(&ring, n > 0 ? (double)n : NAN);
    }
    graph_spark(out, sizeof out, &ring, (int)cells, cells, graph_peak(&ring, cells),
                f->page->ascii);
    ring_clear(&ring);
    flow_duration(f, from, sizeof from, h->min_ns);
    flow_duration(f, to, sizeof to, h->max_ns);
    trace_flow_room(f, text_columns(from) + (int)cells + text_columns(to) + 2);
    page_printf(f->page, STYLE_DIM, "%s ", from);
    page_puts(f->page, STYLE_GRAPH, out);
    page_printf(f->page, STYLE_DIM, " %s", to);
}

static void latency_cells(struct trace_flow *f, const struct histogram *h)
{
    static const struct {
        const char *label;
        double share;
    } points[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
    char text[32];
    if (h->total == 0)
        return;
    for (size_t i = 0; i < (is_least(f) ? 1 : sizeof points / sizeof points[0]); i++)
        trace_flow_cell(f, STYLE_VALUE, points[i].label,
                        flow_duration(f, text, sizeof text, histogram_at(h, points[i].share)));
    trace_flow_cell(f, STYLE_VALUE, "max", flow_duration(f, text, sizeof text, h->max_ns));
    if (h->total > 1 && f->columns >= TRACE_NARROW_COLUMNS && !f->low)
        latency_graph(f, h);
}

void trace_pattern_lines(struct trace_flow *f, const struct trace_log *log, size_t index)
{
    const struct trace_pattern_info *info = trace_log_pattern(log, index);
    const struct trace_state *state = trace_log_state(log);
    bool several = trace_log_patterns(log) > 1;
    bool sized = state->recorded ? info->functions > 0 : state->status.phase != SESSION_PREPARING;
    char text[64] = "", number[32];
    int end = f->columns;
    page_line(f->page);
    if (several)
        page_printf(f->page, STYLE_DIM, "%zu ", index + 1);
    bool calls = info->pattern && info->pattern->kind == PATTERN_CALL;
    if (several && sized && calls && f->columns >= TRACE_NARROW_COLUMNS)
        snprintf(text, sizeof text, "%s function%s",
                 text_integer(number, sizeof number, (int64_t)info->functions),
                 info->functions == 1 ? "" : "s");
    if (info->pattern) {
        struct slice s = info->pattern->typed;
        int at = f->page->lines[f->page->n_lines - 1].width;
        int room = end - at - (*text ? text_columns(text) + 2 : 0);
        size_t width, part = text_prefix(s.s, s.len, room > 0 ? (size_t)room : 1, &width);
        if (part < s.len)
            part = text_prefix(s.s, s.len, room > 1 ? (size_t)room - 1 : 1, &width);
        page_put(f->page, STYLE_FUNCTION, s.s, part);
        page_puts(f->page, STYLE_DIM, part < s.len ? "…" : "");
    }
    if (*text) {
        page_tab(f->page, end - text_columns(text));
        page_puts(f->page, STYLE_VALUE, text);
    }
    if (state->status.phase < SESSION_RUNNING || state->status.phase == SESSION_FAILED)
        return;
    f->indent = 2;
    trace_flow_line(f);
    counts_cells(f, info, state->status.phase < SESSION_ENDING);
    latency_cells(f, &info->latency);
    f->indent = 0;
}
