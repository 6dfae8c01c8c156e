/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes of a trace of several: how far each is, what it has brought, what it has left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "view_trace.h"

#define NAME_MOST 40

static const struct {
    const char *word;
    enum style style;
} phases[] = {
    [SESSION_PREPARING] = {"preparing", STYLE_MESSAGE},
    [SESSION_ASKING] = {"ready", STYLE_MESSAGE},
    [SESSION_ARMING] = {"arming", STYLE_MESSAGE},
    [SESSION_RUNNING] = {"running", STYLE_OK},
    [SESSION_PAUSED] = {"paused", STYLE_WARN},
    [SESSION_TIMING] = {"running", STYLE_OK},
    [SESSION_WAITING] = {"running", STYLE_OK},
    [SESSION_ENDING] = {"ending", STYLE_MESSAGE},
    [SESSION_VERIFYING] = {"verifying", STYLE_MESSAGE},
    [SESSION_ENDED] = {"ended", STYLE_VALUE},
    [SESSION_FAILED] = {"not traced", STYLE_ALARM},
};

struct slice trace_node_label(struct slice name, bool whole)
{
    const char *at = whole ? NULL : memchr(name.s ? name.s : "", '@', name.len);
    return at ? (struct slice){name.s, (size_t)(at - name.s)} : name;
}

static int compare_labels(const void *a, const void *b)
{
    return slice_order(*(const struct slice *)a, *(const struct slice *)b);
}

bool trace_nodes_whole(const struct trace_log *log)
{
    const size_t n = trace_log_nodes(log);
    struct slice *labels = alloc_zero(n + 1, sizeof *labels);
    bool twice = false;
    for (size_t i = 0; i < n; i++)
        labels[i] = trace_node_label(slice_of(trace_log_node(log, i)->name), false);
    qsort(labels, n, sizeof *labels, compare_labels);
    for (size_t i = 1; i < n && !twice; i++)
        twice = slice_equal(labels[i - 1], labels[i]);
    free(labels);
    return twice;
}

static void count_cell(struct trace_flow *f, enum style style, const char *label,
                       const char *before, uint64_t n)
{
    char number[32], text[64];
    snprintf(text, sizeof text, "%s%s", before, text_integer(number, sizeof number, (int64_t)n));
    trace_flow_cell(f, style, label, text);
}

static bool is_verified(const struct trace_node *n)
{
    return n->check.unarmed || (n->check.done && n->check.clean);
}

static bool is_odd(const struct trace_node *n)
{
    return n->phase == SESSION_FAILED || (n->phase == SESSION_ENDED && !is_verified(n));
}

/* "skipped" is what no event came of: at the rate cap, with a full window, or what was not sent. */
static void node_line(struct trace_flow *f, const struct trace_node *n, int width, bool whole)
{
    const struct slice name = trace_node_label(slice_of(n->name), whole);
    const struct trace_counts *c = &n->counts;
    size_t used, part = text_prefix(name.s, name.len, (size_t)width, &used);
    trace_flow_line(f);
    page_put(f->page, STYLE_NAME, name.s, part);
    page_printf(f->page, STYLE_NORMAL, "%*s", width - (int)used + 2, "");
    page_puts(f->page, phases[n->phase].style, phases[n->phase].word);
    f->begun = true;
    if (n->phase >= SESSION_RUNNING && n->phase != SESSION_FAILED) {
        count_cell(f, STYLE_VALUE, "seen", "", c->seen);
        if (c->missed + c->lost > 0)
            count_cell(f, STYLE_WARN, "skipped", c->missed_at_most ? "at most " : "",
                       c->missed + c->lost);
        if (c->over > 0)
            count_cell(f, STYLE_VALUE, "over", "", c->over);
    }
    if (n->phase == SESSION_ENDED)
        trace_flow_cell(f, is_verified(n) ? STYLE_OK : STYLE_ALARM, "",
                        n->check.unarmed ? "never set"
                        : is_verified(n) ? "verified"
                                         : "NOT VERIFIED");
    if (*n->says)
        trace_flow_cell(f, is_odd(n) ? STYLE_WARN : STYLE_NORMAL, "", n->says);
}

/* Where there is room for some only: what is odd first. */
void trace_node_lines(struct trace_flow *f, const struct trace_log *log, size_t most)
{
    const size_t n = trace_log_nodes(log);
    const bool whole = trace_nodes_whole(log);
    size_t shown = 0;
    int width = 0;
    for (size_t i = 0; i < n; i++) {
        const struct slice name = trace_node_label(slice_of(trace_log_node(log, i)->name), whole);
        const int wide = (int)text_width(name.s, name.len);
        width = wide > width ? wide : width;
    }
    width = width > NAME_MOST ? NAME_MOST : width;
    for (int odd = 1; odd >= 0; odd--)
        for (size_t i = 0; i < n && shown + (n > most) < most; i++) {
            const struct trace_node *node = trace_log_node(log, i);
            if ((n > most && is_odd(node) != (odd == 1)) || (n <= most && odd == 1))
                continue;
            node_line(f, node, width, whole);
            shown++;
        }
    if (n > most) {
        page_line(f->page);
        page_printf(f->page, STYLE_DIM, "and %zu nodes more", n - shown);
    }
}
