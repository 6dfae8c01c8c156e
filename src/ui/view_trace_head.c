/* What stands over the events of a trace: its state, its caps, its patterns with their counters. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/ui/graph.h"
#include "view_trace.h"

#define INDENT 0
#define NARROW_COLUMNS 60 /* below, only what matters most */
#define WIDE_COLUMNS 99
#define LOW_ROWS 20
#define MAILBOX_HIGH 1000   /* messages of the collector */
#define GAP 3             /* between cells */
#define LATENCY_CELLS 16

/* ---- cells side by side, in as many lines as they need */

struct flow {
    struct view_page *page;
    int columns, indent;
    bool low; /* the pane has few rows */
    bool begun;
};

static void flow_line(struct flow *f)
{
    page_line(f->page);
    page_tab(f->page, f->indent);
    f->begun = false;
}

/* Makes room for a cell of that width. */
static void flow_room(struct flow *f, int width)
{
    int at = f->page->lines[f->page->n_lines - 1].width;
    if (f->begun && at + GAP + width > f->columns)
        flow_line(f);
    else if (f->begun)
        page_printf(f->page, STYLE_NORMAL, "%*s", GAP, "");
    f->begun = true;
}

static int wide(const char *s)
{
    return (int)text_width(s, strlen(s));
}

/* A cell of a label and a value; the label goes first, or last with no value's style. */
static void flow_cell(struct flow *f, enum style style, const char *label, const char *value)
{
    flow_room(f, wide(label) + (*label ? 1 : 0) + wide(value));
    if (*label)
        page_printf(f->page, STYLE_LABEL, "%s ", label);
    page_puts(f->page, style, value);
}

void trace_words(struct view_page *page, enum style style, const char *text, int indent, int columns)
{
    size_t left = strlen(text), room = columns - indent > 12 ? (size_t)(columns - indent) : 12;
    while (left > 0) {
        size_t width, line = strcspn(text, "\n");
        size_t part = text_prefix(text, line < left ? line : left, room, &width), next = part;
        if (part < line && part > 0) {
            while (next > 0 && text[next] != ' ')
                next--;
            part = next = next > 0 ? next : part;
        } else if (part == 0 && line > 0) {
            part = next = line;
        }
        page_line(page);
        page_tab(page, indent);
        page_put(page, style, text, part);
        while (next < left && (text[next] == ' ' || text[next] == '\n'))
            next++;
        text += next;
        left -= next;
    }
}

/* ---- the state */

static const struct {
    const char *word, *says;
    enum style style;
} phases[] = {
    [TRACE_PREPARING] = {"preparing", "nothing is armed yet", STYLE_MESSAGE},
    [TRACE_ASKING] = {"asking", "nothing is armed yet: it waits for a yes or a no", STYLE_WARN},
    [TRACE_ARMING] = {"arming", "", STYLE_MESSAGE},
    [TRACE_RUNNING] = {"running", "", STYLE_OK},
    [TRACE_PAUSED] = {"paused", "nothing is sent meanwhile", STYLE_WARN},
    [TRACE_ENDING] = {"ending", "", STYLE_MESSAGE},
    [TRACE_VERIFYING] = {"verifying", "the node is asked what is still armed", STYLE_MESSAGE},
    [TRACE_ENDED] = {"ended", "", STYLE_VALUE},
    [TRACE_FAILED] = {"failed", "nothing was armed", STYLE_ALARM},
};

static const struct {
    const char *why, *says;
} shuts[] = {
    {"rate", "shut: more comes than the rate lets through"},
    {"credit", "shut: this terminal or link is slower than they come"},
    {"window", "shut: more comes at once than the window takes"},
    {"bytes", "shut: the answer is as large as it may get"},
    {"spent", "shut: all events are used up"},
};

static void shut_cell(struct flow *f, const struct trace_state *state)
{
    const char *says = "shut";
    if (!state->shut || state->phase != TRACE_RUNNING)
        return;
    for (size_t i = 0; i < sizeof shuts / sizeof shuts[0]; i++)
        says = strcmp(shuts[i].why, state->shut_why) == 0 ? shuts[i].says : says;
    if (f->columns < NARROW_COLUMNS) {
        flow_cell(f, STYLE_WARN, "shut:", state->shut_why);
        return;
    }
    flow_cell(f, STYLE_WARN, "", says);
}

static void counted_cell(struct flow *f, uint64_t n, const char *one, bool more)
{
    char number[32], text[64];
    snprintf(text, sizeof text, "%s%s %s%s", text_integer(number, sizeof number, (int64_t)n),
             more ? " and more" : "", one, n == 1 ? "" : strcmp(one, "process") == 0 ? "es" : "s");
    flow_cell(f, STYLE_VALUE, "", text);
}

static void state_line(struct flow *f, const struct trace_log *log)
{
    const struct trace_state *state = trace_log_state(log);
    const struct trace_preflight *before = &state->preflight;
    flow_line(f);
    flow_cell(f, phases[state->phase].style, "", phases[state->phase].word);
    if (*phases[state->phase].says)
        flow_cell(f, STYLE_NORMAL, "", phases[state->phase].says);
    if (state->phase >= TRACE_ENDING && state->phase != TRACE_FAILED)
        flow_cell(f, STYLE_VALUE, "",
                  *state->end_text ? state->end_text : trace_end_name(state->end));
    shut_cell(f, state);
    if (state->phase == TRACE_PREPARING || (state->phase == TRACE_FAILED && !before->functions))
        return;
    counted_cell(f, before->functions, "function", before->functions_cut);
    if (*state->procs)
        flow_cell(f, STYLE_VALUE, "in", state->procs);
    if (before->processes > 0)
        counted_cell(f, before->processes, "process", false);
    if (state->children)
        flow_cell(f, STYLE_NORMAL, "", "and what they spawn");
    if (state->phase < TRACE_ENDING && state->phase > TRACE_ASKING && f->columns >= NARROW_COLUMNS)
        flow_cell(f, STYLE_DIM, "", state->session ? "a session of its own"
                                                   : "in the node's one trace space");
}

static void left_text(const struct trace_check *check, char *out, size_t size)
{
    int n = snprintf(out, size, "LEFT ON THE NODE: %" PRIu64 " breakpoints, %" PRIu64 " flags, %"
                     PRIu64 " processes, %" PRIu64 " sessions", check->breakpoints, check->flags,
                     check->processes, check->sessions);
    if (check->control_word && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, ", control word %" PRIu64, check->control_word);
}

/* What the node says is left of it. */
static void end_lines(struct flow *f, const struct trace_state *state)
{
    const struct trace_check *check = &state->check;
    char text[400], after[32];
    if (state->phase != TRACE_ENDED)
        return;
    if (check->done && check->clean) {
        double s = (double)check->after_us / 1e6;
        snprintf(text, sizeof text, "target clean: %" PRIu64 " breakpoints, %" PRIu64 " flags, %"
                 PRIu64 " processes (checked %s after)", check->breakpoints, check->flags,
                 check->processes, f->page->ascii ? text_ascii_duration(after, sizeof after, s)
                                                  : text_duration(after, sizeof after, s));
        trace_words(f->page, STYLE_OK, text, INDENT, f->columns);
        return;
    }
    if (check->done)
        left_text(check, text, sizeof text);
    else
        snprintf(text, sizeof text, "NOT VERIFIED: what is left on the node is not known");
    trace_words(f->page, STYLE_ALARM, text, INDENT, f->columns);
    if (*check->text)
        trace_words(f->page, STYLE_WARN, check->text, INDENT, f->columns);
}

/* ---- the caps */

static void used_text(char *out, size_t size, enum cap cap, uint64_t used, uint64_t most)
{
    char have[32], cap_text[32];
    cap_format(cap_text, sizeof cap_text, cap, most);
    switch (cap_table[cap].unit) {
    case UNIT_MS:
        if (most < 1000)
            snprintf(out, size, "%" PRIu64 " of %s", used, cap_text);
        else
            snprintf(out, size, "%.1f of %s", (double)used / 1000, cap_text);
        return;
    case UNIT_BYTES:
        snprintf(out, size, "%s of %s", cap_format(have, sizeof have, cap, used), cap_text);
        return;
    case UNIT_COUNT:
    case UNIT_PER_S:
        snprintf(out, size, "%s of %s", text_integer(have, sizeof have, (int64_t)used), cap_text);
        return;
    }
}

static void cap_cell(struct flow *f, const struct trace_state *state, enum cap cap, bool marks)
{
    uint64_t used = state->used[cap], most = state->caps.value[cap];
    double share = most > 0 ? (double)used / (double)most : NAN;
    enum style near = marks ? graph_limit_style(share) : STYLE_OK;
    const char *mark = near == STYLE_ALARM ? "!! " : near == STYLE_WARN ? "! " : "";
    char text[80];
    int bar = f->columns >= WIDE_COLUMNS ? 10 : 6;
    used_text(text, sizeof text, cap, used, most);
    flow_room(f, wide(cap_table[cap].title) + 1 + bar + 1 + (int)strlen(mark) + wide(text));
    page_printf(f->page, STYLE_LABEL, "%s ", cap_table[cap].title);
    page_bar(f->page, bar, share > 1 ? 1 : share);
    page_printf(f->page, near == STYLE_OK ? STYLE_VALUE : near, " %s%s", mark, text);
}

static bool is_near(const struct trace_state *state, enum cap cap)
{
    return (double)state->used[cap] >= 0.8 * (double)state->caps.value[cap];
}

/* In a small pane only those that every trace runs into, and what is near its value. */
static void caps_line(struct flow *f, const struct trace_state *state)
{
    bool runs = state->phase >= TRACE_RUNNING && state->phase < TRACE_ENDING;
    bool small = f->low || f->columns < NARROW_COLUMNS;
    char text[32];
    flow_line(f);
    cap_cell(f, state, CAP_TIME_MS, runs);
    cap_cell(f, state, CAP_EVENTS, runs);
    cap_cell(f, state, CAP_RATE_PER_S, runs);
    if (!small || is_near(state, CAP_BYTES))
        cap_cell(f, state, CAP_BYTES, runs);
    if (!small || is_near(state, CAP_HEAP_BYTES))
        cap_cell(f, state, CAP_HEAP_BYTES, runs);
    if (!runs)
        return;
    if (!small)
        cap_cell(f, state, CAP_WINDOW, false); /* a full one is how a busy trace goes */
    bool filling = state->mailbox > MAILBOX_HIGH;
    if (!small || filling)
        flow_cell(f, filling ? STYLE_WARN : STYLE_VALUE, "mailbox",
                  text_integer(text, sizeof text, (int64_t)state->mailbox));
}

/* Before anything runs: what it would be held to. */
static void caps_told(struct flow *f, const struct trace_state *state)
{
    static const enum cap told[] = {CAP_TIME_MS, CAP_EVENTS, CAP_RATE_PER_S, CAP_TERM_BYTES,
                                    CAP_BYTES};
    char text[32];
    flow_line(f);
    flow_cell(f, STYLE_LABEL, "", "at most");
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
        flow_cell(f, STYLE_VALUE, cap_table[told[i]].title,
                  cap_format(text, sizeof text, told[i], state->caps.value[told[i]]));
}

/* ---- the patterns */

static void count_cell(struct flow *f, enum style style, const char *label, const char *before,
                       uint64_t n)
{
    char number[32], text[64];
    if (n == 0)
        return;
    snprintf(text, sizeof text, "%s%s", before, text_integer(number, sizeof number, (int64_t)n));
    flow_cell(f, style, label, text);
}

/* Room for little more than the events. */
static bool is_least(const struct flow *f)
{
    return f->low && f->columns < NARROW_COLUMNS;
}

static void counts_cells(struct flow *f, const struct trace_pattern_info *info, bool runs)
{
    const struct trace_counts *c = &info->counts;
    char number[32], text[64];
    flow_cell(f, STYLE_VALUE, "shown", text_integer(number, sizeof number, (int64_t)c->shown));
    if (!is_least(f)) {
        count_cell(f, STYLE_VALUE, "seen", "", c->seen);
        count_cell(f, STYLE_VALUE, "filtered", "", c->filtered);
        count_cell(f, STYLE_VALUE, "over", "", c->over);
    }
    count_cell(f, STYLE_WARN, "cut", "", c->cut);
    count_cell(f, STYLE_WARN, "missed", c->missed_at_most ? "at most " : "", c->missed);
    count_cell(f, STYLE_WARN, "lost", "", c->lost);
    count_cell(f, STYLE_VALUE, runs ? "open" : "not back", "", c->open);
    if (c->calls_known)
        count_cell(f, STYLE_VALUE, "calls", "", c->calls);
    if (runs && info->rate_per_s > 0) {
        snprintf(text, sizeof text, "%s/s", text_count(number, sizeof number, info->rate_per_s));
        flow_cell(f, STYLE_VALUE, "rate", text);
    }
}

static const char *duration(const struct flow *f, char *out, size_t size, uint64_t ns)
{
    return f->page->ascii ? text_ascii_duration(out, size, (double)ns / 1e9)
                          : text_duration(out, size, (double)ns / 1e9);
}

/* Each cell a step of 2, 4, … times; the fewest steps that need no more than the cells there are. */
static void latency_graph(struct flow *f, const struct histogram *h)
{
    size_t first = 0, last = HISTOGRAM_BUCKETS - 1, step = 4;
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
    graph_spark(out, sizeof out, &ring, (int)cells, cells, graph_peak(&ring, cells), f->page->ascii);
    ring_clear(&ring);
    duration(f, from, sizeof from, h->min_ns);
    duration(f, to, sizeof to, h->max_ns);
    flow_room(f, wide(from) + (int)cells + wide(to) + 2);
    page_printf(f->page, STYLE_DIM, "%s ", from);
    page_puts(f->page, STYLE_GRAPH, out);
    page_printf(f->page, STYLE_DIM, " %s", to);
}

static void latency_cells(struct flow *f, const struct histogram *h)
{
    static const struct {
        const char *label;
        double share;
    } points[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};
    char text[32];
    if (h->total == 0)
        return;
    for (size_t i = 0; i < (is_least(f) ? 1 : sizeof points / sizeof points[0]); i++)
        flow_cell(f, STYLE_VALUE, points[i].label,
                  duration(f, text, sizeof text, histogram_at(h, points[i].share)));
    flow_cell(f, STYLE_VALUE, "max", duration(f, text, sizeof text, h->max_ns));
    if (h->total > 1 && f->columns >= NARROW_COLUMNS && !f->low)
        latency_graph(f, h);
}

static void pattern_lines(struct flow *f, const struct trace_log *log, size_t index)
{
    const struct trace_pattern_info *info = trace_log_pattern(log, index);
    const struct trace_state *state = trace_log_state(log);
    bool several = trace_log_patterns(log) > 1, sized = state->phase != TRACE_PREPARING;
    char text[64] = "", number[32];
    int end = f->columns;
    page_line(f->page);
    page_tab(f->page, INDENT);
    if (several)
        page_printf(f->page, STYLE_DIM, "%zu ", index + 1);
    bool calls = info->pattern && info->pattern->kind == PATTERN_CALL;
    if (several && sized && calls && f->columns >= NARROW_COLUMNS)
        snprintf(text, sizeof text, "%s function%s",
                 text_integer(number, sizeof number, (int64_t)info->functions),
                 info->functions == 1 ? "" : "s");
    if (info->pattern) {
        struct slice s = info->pattern->source;
        int at = f->page->lines[f->page->n_lines - 1].width;
        int room = end - at - (*text ? wide(text) + 2 : 0);
        size_t width, part = text_prefix(s.s, s.len, room > 0 ? (size_t)room : 1, &width);
        if (part < s.len)
            part = text_prefix(s.s, s.len, room > 1 ? (size_t)room - 1 : 1, &width);
        page_put(f->page, STYLE_FUNCTION, s.s, part);
        page_puts(f->page, STYLE_DIM, part < s.len ? "…" : "");
    }
    if (*text) {
        page_tab(f->page, end - wide(text));
        page_puts(f->page, STYLE_VALUE, text);
    }
    if (state->phase < TRACE_RUNNING || state->phase == TRACE_FAILED)
        return;
    f->indent = INDENT + 2;
    flow_line(f);
    counts_cells(f, info, state->phase < TRACE_ENDING);
    latency_cells(f, &info->latency);
    f->indent = INDENT;
}

void trace_head(struct view_page *page, const struct trace_log *log, int rows, int columns)
{
    const struct trace_state *state = trace_log_state(log);
    struct flow f = {.page = page, .columns = columns, .indent = INDENT, .low = rows < LOW_ROWS};
    size_t n = trace_log_patterns(log), budget = rows > 8 ? (size_t)rows / 2 : 4;
    state_line(&f, log);
    end_lines(&f, state);
    if (state->phase < TRACE_ARMING || state->phase == TRACE_FAILED)
        caps_told(&f, state);
    else
        caps_line(&f, state);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && page->n_lines + 2 > budget) {
            page_line(page);
            page_tab(page, INDENT);
            page_printf(page, STYLE_DIM, "and %zu pattern%s more", n - i, n - i == 1 ? "" : "s");
            break;
        }
        pattern_lines(&f, log, i);
    }
    page->fixed = page->n_lines;
}
