/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views.h"

#include <math.h>
#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "ui/canvas/graph.h"

#define GRAPH_ROWS 6
#define WINDOW 900 /* seconds: all that is kept */
#define GRAPH_WIDEST 240

static const struct {
    const char *name;
    enum memory_type type;
    enum history_line history;
    const char *help;
} types[] = {
    {"processes", MEMORY_PROCESSES, HISTORY_MEMORY_PROCESSES, "heaps, stacks, message queues"},
    {"binary", MEMORY_BINARY, HISTORY_MEMORY_BINARY, "refc binaries, above 64 bytes"},
    {"ets", MEMORY_ETS, HISTORY_MEMORY_ETS, "tables"},
    {"code", MEMORY_CODE, HISTORY_MEMORY_CODE, "loaded modules"},
    {"atom", MEMORY_ATOM, HISTORY_MEMORY_ATOM, "names; never freed"},
    {"runtime", MEMORY_OTHER, HISTORY_MEMORY_OTHER, "persistent terms, ports, loader"},
};

static void right_bytes(struct view_page *page, enum style style, int width, double n)
{
    char text[32];
    page_right(page, style, width, text_bytes(text, sizeof text, n));
}

static void total_graph(struct view_page *page, const struct model *m, int columns)
{
    const struct ring *ring = model_history(m, HISTORY_MEMORY_TOTAL);
    int width = columns - 16;
    char text[GRAPH_WIDEST * GRAPH_CELL_BYTES + 1];
    double peak = graph_peak(ring, WINDOW);
    if (width < 20 || isnan(peak))
        return;
    width = width > GRAPH_WIDEST ? GRAPH_WIDEST : width;
    page_heading(page, "Total");
    page_printf(page, STYLE_DIM, "  over %d minutes", WINDOW / 60);
    for (int row = 0; row < GRAPH_ROWS; row++) {
        page_line(page);
        if (row == 0)
            right_bytes(page, STYLE_DIM, 11, peak);
        else if (row == GRAPH_ROWS - 1)
            right_bytes(page, STYLE_DIM, 11, 0);
        page_tab(page, 12);
        page_puts(
            page, STYLE_GRAPH,
            graph_area(text, sizeof text, ring, width, WINDOW, peak, GRAPH_ROWS, row, page->ascii));
    }
}

static void by_type(struct view_page *page, const struct model *m, const struct system_sample *s,
                    int columns)
{
    double total = s->memory_bytes[MEMORY_TOTAL];
    bool explained = columns >= 100; /* else the graph has the room */
    int spark = columns - (explained ? 88 : 48);
    spark = spark > 60 ? 60 : spark;
    page_heading(page, "By type");
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        double n = s->memory_bytes[types[i].type];
        char share[32];
        page_label(page, types[i].name, 12);
        right_bytes(page, STYLE_VALUE, 10, n);
        page_right(page, STYLE_NORMAL, 8, text_percent(share, sizeof share, n / total));
        page_puts(page, STYLE_NORMAL, "  ");
        page_bar(page, 12, n / total);
        page_puts(page, STYLE_NORMAL, "  ");
        page_spark(page, model_history(m, types[i].history), spark, WINDOW, NAN);
        if (explained)
            page_printf(page, STYLE_DIM, "  %s", types[i].help);
    }
    page_label(page, "total", 12);
    right_bytes(page, STYLE_VALUE, 10, total);
}

/* What the operating system counts and the VM does not hand out as blocks. */
static void put_rss(struct view_page *page, const struct model *m, const struct system_sample *s)
{
    const struct alloc_detail *a = model_alloc(m);
    double carriers = a ? known_or_nan(a->carrier_bytes) : NAN,
           blocks = a ? known_or_nan(a->block_bytes) : NAN;
    double anonymous = a ? known_or_nan(a->anon_bytes) : NAN,
           swapped = a ? known_or_nan(a->swap_bytes) : NAN;
    double outside = carriers > s->rss_bytes ? 0 : s->rss_bytes - carriers;
    double untouched = carriers > s->rss_bytes ? carriers - s->rss_bytes : 0;
    page_heading(page, "Resident");
    const struct {
        const char *name;
        double bytes;
        const char *help;
    } lines[] = {
        {"rss", s->rss_bytes, "resident, as the operating system counts"},
        {"anonymous", anonymous, "of it, not of files"},
        {"swapped", swapped, "swapped out"},
        {"carriers", carriers, "taken from the operating system"},
        {"blocks", blocks, "in carriers, in use"},
        {"unused in carriers", carriers - blocks, "in carriers, free"},
        {"outside allocators", outside, "code of the VM, stacks, drivers, NIFs"},
        {"untouched", isnan(outside) ? NAN : untouched, "in carriers, not resident"},
        {"virtual", s->virtual_bytes, "address space, mostly only reserved"},
    };
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        page_label(page, lines[i].name, 21);
        right_bytes(page, STYLE_VALUE, 10, lines[i].bytes);
        page_printf(page, STYLE_DIM, "  %s", lines[i].help);
    }
    if (isnan(s->rss_bytes)) {
        page_text(page, STYLE_DIM,
                  s->run_queue_dirty_io > 0
                      ? "  The rss is unknown: the node's dirty I/O schedulers are not free."
                      : "  The node cannot read its own rss (no Linux, or no /proc).");
    }
}

/* What an allocator, or one of its instances, holds and uses. */
static void put_usage(struct view_page *page, int64_t block_bytes, int64_t carrier_bytes,
                      double utilisation, enum style style, int64_t blocks, int64_t carriers)
{
    char text[32];
    page_tab(page, 18);
    right_bytes(page, STYLE_VALUE, 11, known_or_nan(block_bytes));
    right_bytes(page, STYLE_VALUE, 11, known_or_nan(carrier_bytes));
    page_right(page, style, 9, text_percent(text, sizeof text, utilisation));
    page_right(page, STYLE_NORMAL, 9, text_count(text, sizeof text, known_or_nan(blocks)));
    page_right(page, STYLE_NORMAL, 10, text_count(text, sizeof text, known_or_nan(carriers)));
}

static void usage_titles(struct view_page *page, const char *first)
{
    page_line(page);
    page_printf(page, STYLE_DIM, "  %-16s%11s%11s%9s%9s%10s", first, "blocks", "carriers", "used",
                "blocks", "carriers");
}

/* One line of the list; narrow panes leave out what only tuning needs. */
static void allocator_line(struct view_page *page, const struct allocator_row *r, bool wide)
{
    char text[32];
    int64_t carrier_bytes = r->mbcs.carrier_bytes + r->sbcs.carrier_bytes;
    bool low = r->utilisation < 0.5 && carrier_bytes > 64 * 1024 * 1024;
    page_text(page, STYLE_NORMAL, "  ");
    page_slice(page, STYLE_NAME, r->name);
    put_usage(page, r->mbcs.block_bytes + r->sbcs.block_bytes, carrier_bytes, r->utilisation,
              low ? STYLE_WARN : STYLE_NORMAL, r->mbcs.blocks + r->sbcs.blocks,
              r->mbcs.carriers + r->sbcs.carriers);
    if (!wide)
        return;
    right_bytes(page, STYLE_NORMAL, 12, known_or_nan(r->sbcs.carrier_bytes));
    right_bytes(page, STYLE_NORMAL, 12, known_or_nan(r->pool_carrier_bytes));
    page_right(page, STYLE_DIM, 11, text_integer(text, sizeof text, r->instances));
}

static void put_allocators(struct view_page *page, const struct alloc_detail *a, int columns)
{
    char text[32];
    bool wide = columns >= 106;
    page_heading(page, "Allocators");
    usage_titles(page, "allocator");
    if (wide)
        page_printf(page, STYLE_DIM, "%12s%12s%11s", "single", "pool", "instances");
    for (size_t i = 0; i < a->n_rows; i++)
        allocator_line(page, &a->rows[i], wide);
    page_label(page, "all", 18);
    right_bytes(page, STYLE_VALUE, 11, known_or_nan(a->block_bytes));
    right_bytes(page, STYLE_VALUE, 11, known_or_nan(a->carrier_bytes));
    page_right(page, STYLE_VALUE, 9, text_percent(text, sizeof text, a->utilisation));
    if (a->mseg_calls > 0) {
        page_line(page);
        page_printf(page, STYLE_DIM, "  segments asked for: %s",
                    text_integer(text, sizeof text, a->mseg_calls));
        page_printf(page, STYLE_DIM, ", found in the cache: %s",
                    text_percent(text, sizeof text, (double)a->mseg_hits / (double)a->mseg_calls));
    }
}

static void put_instances(struct view_page *page, const struct alloc_detail *a)
{
    char text[32];
    page_heading(page, "Instances");
    page_puts(page, STYLE_DIM, "  0: of all threads, N: of scheduler N");
    usage_titles(page, "instance");
    for (size_t i = 0; i < a->n_instances; i++) {
        const struct allocator_instance *in = &a->instances[i];
        page_text(page, STYLE_NORMAL, "  ");
        page_slice(page, STYLE_NAME, in->name);
        page_printf(page, STYLE_NORMAL, " %s", text_integer(text, sizeof text, in->instance));
        put_usage(page, in->block_bytes, in->carrier_bytes, in->utilisation, STYLE_NORMAL,
                  in->blocks, in->carriers);
    }
}

static bool is_fragmented(const struct alloc_detail *a)
{
    return a->utilisation < 0.5 && a->carrier_bytes - a->block_bytes > 64 * 1024 * 1024;
}

/* How much of the carriers is unused, over time, where, and what would change it. */
static void put_fragmentation(struct view_page *page, const struct model *m,
                              const struct alloc_detail *a, int columns)
{
    char bytes[32], share[32], of_rss[48];
    int spark = columns - 48 > 60 ? 60 : columns - 48;
    const struct {
        const char *name;
        enum history_line line;
    } lines[] = {{"used", HISTORY_ALLOC_USE}, {"fragmented", HISTORY_FRAGMENTED}};
    page_heading(page, "Fragmentation");
    snprintf(of_rss, sizeof of_rss, "%s of rss",
             text_percent(share, sizeof share, a->fragmented_share));
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        page_label(page, lines[i].name, 21);
        page_right(page, STYLE_VALUE, 10,
                   i == 0 ? text_percent(bytes, sizeof bytes, a->utilisation)
                          : text_bytes(bytes, sizeof bytes, known_or_nan(a->fragmented_bytes)));
        page_printf(page, STYLE_DIM, "  %-14s", i == 0 ? "of carriers" : of_rss);
        page_spark(page, model_history(m, lines[i].line), spark > 0 ? spark : 1, WINDOW, NAN);
    }
    for (size_t i = 0; i < a->n_instances && i < 5 && is_fragmented(a); i++) {
        const struct allocator_instance *in = &a->instances[i];
        page_text(page, STYLE_NORMAL, "  ");
        page_slice(page, STYLE_NAME, in->name);
        page_printf(page, STYLE_NORMAL, " %s", text_integer(share, sizeof share, in->instance));
        page_tab(page, 21);
        right_bytes(page, STYLE_VALUE, 10, known_or_nan(in->unused_bytes));
        page_printf(page, STYLE_DIM, "  unused of %s",
                    text_bytes(bytes, sizeof bytes, (double)in->carrier_bytes));
    }
    if (!is_fragmented(a))
        return;
    page_text(page, STYLE_DIM,
              "  +M<S>as ageffcbf fills old carriers first; +M<S>lmbcs 512 makes smaller ones;");
    page_text(
        page, STYLE_DIM,
        "  +M<S>acul 80 shares them between schedulers sooner (<S>: H heaps, B binaries, E ETS).");
}

static void memory_page(void *state, const struct model *m, struct view_page *page)
{
    const struct system_sample *s = model_system(m);
    char total[32];
    (void)state;
    if (!s) {
        page_missing(page, m, "allocators");
        return;
    }
    snprintf(page->summary, sizeof page->summary, "%s in total",
             text_bytes(total, sizeof total, s->memory_bytes[MEMORY_TOTAL]));
    if (isnan(s->memory_bytes[MEMORY_TOTAL])) {
        page_text(page, STYLE_WARN,
                  "The node does not count its memory: some of its allocators are switched off.");
    } else {
        by_type(page, m, s, page->pane_columns);
    }
    if (page->pane_rows >= 20)
        total_graph(page, m, page->pane_columns);
    put_rss(page, m, s);
    if (model_alloc(m) && model_alloc(m)->n_rows > 0) {
        put_fragmentation(page, m, model_alloc(m), page->pane_columns);
        put_allocators(page, model_alloc(m), page->pane_columns);
        if (model_alloc(m)->n_instances > 0)
            put_instances(page, model_alloc(m));
    }
}

static const struct view_hint memory_hints[] = {
    {ACTION_PAGE_DOWN, "more"}, {ACTION_BACK, "back"}, {.does = NULL}};

const struct view_ops view_memory = {
    .name = "memory",
    .title = "Memory",
    .key = '3',
    .help = "Memory by type over time, resident memory, allocators.",
    .kind = VIEW_DOC,
    .no_processes = true,
    .needs = NEED(ALLOC),
    .page = memory_page,
    .hints = memory_hints,
};
