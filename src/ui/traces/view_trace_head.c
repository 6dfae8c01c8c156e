/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands over the events of a trace: its state, its caps, its patterns with their counters. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "ui/canvas/graph.h"
#include "view_trace.h"

#define WIDE_COLUMNS 99
#define LOW_ROWS 20
#define MAILBOX_HIGH 1000 /* messages of the collector */

/* ---- the state */

static const struct {
    const char *word, *says;
    enum style style;
} phases[] = {
    [SESSION_PREPARING] = {"preparing", "nothing is set yet", STYLE_MESSAGE},
    [SESSION_ASKING] = {"asking", "nothing is set yet: press y or n", STYLE_WARN},
    [SESSION_ARMING] = {"arming", "", STYLE_MESSAGE},
    [SESSION_RUNNING] = {"running", "", STYLE_OK},
    [SESSION_PAUSED] = {"paused", "no events are sent", STYLE_WARN},
    [SESSION_ENDING] = {"ending", "", STYLE_MESSAGE},
    [SESSION_VERIFYING] = {"verifying", "asking the node what is still set", STYLE_MESSAGE},
    [SESSION_ENDED] = {"ended", "", STYLE_VALUE},
    [SESSION_FAILED] = {"failed", "nothing was set", STYLE_ALARM},
};

static const struct {
    const char *why, *says;
} shuts[] = {
    {"rate", "skipping calls: rate cap"},
    {"credit", "skipping calls: terminal or connection too slow"},
    {"window", "skipping calls: window full"},
    {"bytes", "skipping calls: byte cap"},
    {"spent", "skipping calls: event cap reached"},
};

static void shut_cell(struct trace_flow *f, const struct trace_state *state)
{
    const char *says = "skipping calls";
    if (!state->shut || state->status.phase != SESSION_RUNNING)
        return;
    for (size_t i = 0; i < sizeof shuts / sizeof shuts[0]; i++)
        says = strcmp(shuts[i].why, state->shut_why) == 0 ? shuts[i].says : says;
    if (f->columns < TRACE_NARROW_COLUMNS) {
        trace_flow_cell(f, STYLE_WARN, "skipping:", state->shut_why);
        return;
    }
    trace_flow_cell(f, STYLE_WARN, "", says);
}

static void counted_cell(struct trace_flow *f, uint64_t n, const char *one, bool more)
{
    char number[32], text[64];
    snprintf(text, sizeof text, "%s%s %s%s", text_integer(number, sizeof number, (int64_t)n),
             more ? " and more" : "", one,
             n == 1                        ? ""
             : strcmp(one, "process") == 0 ? "es"
                                           : "s");
    trace_flow_cell(f, STYLE_VALUE, "", text);
}

static void state_line(struct trace_flow *f, const struct trace_log *log)
{
    const struct trace_state *state = trace_log_state(log);
    const struct trace_preflight *before = &state->preflight;
    trace_flow_line(f);
    trace_flow_cell(f, phases[state->status.phase].style, "", phases[state->status.phase].word);
    if (*phases[state->status.phase].says)
        trace_flow_cell(f, STYLE_NORMAL, "", phases[state->status.phase].says);
    if (state->status.phase >= SESSION_ENDING && state->status.phase != SESSION_FAILED)
        trace_flow_cell(f, STYLE_VALUE, "",
                        *state->end_text ? state->end_text : trace_end_name(state->end));
    shut_cell(f, state);
    if (state->status.phase == SESSION_PREPARING ||
        (state->status.phase == SESSION_FAILED && !before->functions))
        return;
    if (before->functions > 0)
        counted_cell(f, before->functions, "function", before->functions_cut);
    if (trace_log_has_messages(log))
        trace_flow_cell(f, STYLE_VALUE, "", "messages");
    if (*state->status.procs && strcmp(state->status.procs, "all") != 0)
        trace_flow_cell(f, STYLE_VALUE, "in", state->status.procs);
    if (before->processes > 0)
        counted_cell(f, before->processes, "process", false);
    if (state->children)
        trace_flow_cell(f, STYLE_NORMAL, "", "and what they spawn");
    if (*state->note)
        trace_flow_cell(f, STYLE_WARN, "", state->note);
    if (state->status.phase < SESSION_ENDING && state->status.phase > SESSION_ASKING &&
        !state->recorded && trace_log_nodes(log) == 0 && f->columns >= TRACE_NARROW_COLUMNS)
        trace_flow_cell(f, STYLE_DIM, "",
                        state->isolated ? "a trace session"
                                        : "legacy tracing, shared by all tools");
}

static void left_text(const struct session_check *check, char *out, size_t size)
{
    int n = snprintf(out, size,
                     "LEFT ON THE NODE: %" PRIu64 " breakpoints, %" PRIu64 " flags, %" PRIu64
                     " processes, %" PRIu64 " sessions%s",
                     check->breakpoints, check->flags, check->processes, check->sessions,
                     check->system_tracer ? ", the system tracer" : "");
    if (check->control_word && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, ", control word %" PRIu64, check->control_word);
}

/* What the node says is left of it. */
static void end_lines(struct trace_flow *f, const struct trace_log *log)
{
    const struct trace_state *state = trace_log_state(log);
    const struct session_check *check = &state->status.check;
    char text[400], after[32];
    if (state->status.phase != SESSION_ENDED || check->unarmed)
        return;
    if (check->done && check->clean) {
        snprintf(text, sizeof text, "verified after %s: nothing left on %s",
                 page_duration(f->page, after, sizeof after, (double)check->after_us / 1e6),
                 trace_log_nodes(log) > 0 ? "any node" : "the node");
        trace_text(f->page, STYLE_OK, text, 0, f->columns);
        return;
    }
    if (check->done)
        left_text(check, text, sizeof text);
    else
        snprintf(text, sizeof text, "NOT VERIFIED: unknown what is left on %s",
                 trace_log_nodes(log) > 0 ? "some nodes" : "the node");
    trace_text(f->page, STYLE_ALARM, text, 0, f->columns);
    if (*check->text)
        trace_text(f->page, STYLE_WARN, check->text, 0, f->columns);
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
        if (cap == CAP_TERM_BYTES && used > most) /* no alarm: what is larger is truncated */
            snprintf(out, size, "%s, truncated to %s", cap_format(have, sizeof have, cap, used),
                     cap_text);
        else
            snprintf(out, size, "%s of %s", cap_format(have, sizeof have, cap, used), cap_text);
        return;
    case UNIT_COUNT:
    case UNIT_PER_S:
        snprintf(out, size, "%s of %s", text_integer(have, sizeof have, (int64_t)used), cap_text);
        return;
    }
}

/* A cap with its use; `always` shown, or where there is room. */
struct cap_cell {
    const char *title;
    char text[80], brief[16];
    double share; /* of the cap; NaN without a bar */
    enum style style;
    bool always, near;
};

/* How the line gets shorter: without bars, then values near their caps in percent, then all. */
static const struct cap_form {
    int bar;
    bool brief_more, brief;
} cap_forms[] = {
    {10, false, false}, {6, false, false}, {0, false, false}, {0, true, false}, {0, true, true}};

static const char *cap_mark(const struct cap_cell *c)
{
    return c->style == STYLE_ALARM ? "!! " : c->style == STYLE_WARN ? "! " : "";
}

static const char *cap_text(const struct cap_cell *c, const struct cap_form *form)
{
    bool brief = *c->brief && (form->brief || (form->brief_more && !c->always));
    return brief ? c->brief : c->text;
}

static int cap_width(const struct cap_cell *c, const struct cap_form *form)
{
    int bar = form->bar > 0 && !isnan(c->share) ? form->bar + 1 : 0;
    return text_columns(c->title) + 1 + bar + text_columns(cap_mark(c)) +
           text_columns(cap_text(c, form));
}

static void put_cap(struct trace_flow *f, const struct cap_cell *c, const struct cap_form *form)
{
    trace_flow_room(f, cap_width(c, form));
    page_printf(f->page, STYLE_LABEL, "%s ", c->title);
    if (form->bar > 0 && !isnan(c->share)) {
        page_bar(f->page, form->bar, c->share > 1 ? 1 : c->share);
        page_puts(f->page, STYLE_NORMAL, " ");
    }
    page_printf(f->page, c->style == STYLE_OK ? STYLE_VALUE : c->style, "%s%s", cap_mark(c),
                cap_text(c, form));
}

static void make_cap(struct cap_cell *c, const struct trace_state *state, enum cap cap, bool marks)
{
    uint64_t used = state->used[cap], most = state->caps.value[cap];
    double share = most > 0 ? (double)used / (double)most : NAN;
    *c = (struct cap_cell){.title = cap_table[cap].title,
                           .share = share,
                           .style = marks ? graph_limit_style(share) : STYLE_OK};
    c->near = c->style != STYLE_OK;
    used_text(c->text, sizeof c->text, cap, used, most);
    if (!isnan(share))
        snprintf(c->brief, sizeof c->brief, "%.0f%%", floor(share * 100));
}

/* The columns of the cells that are there for sure, those near their caps or all. */
static int caps_width(const struct cap_cell *cells, size_t n, const struct cap_form *form)
{
    int width = 0;
    for (size_t i = 0; i < n; i++)
        if (cells[i].always || cells[i].near)
            width += cap_width(&cells[i], form) + (width > 0 ? TRACE_GAP : 0);
    return width;
}

/* One line: what each trace runs into and what is near its cap, then more where there is room. In
   the narrowest pane what is far from its cap goes, the last first. */
static void put_caps_line(struct trace_flow *f, struct cap_cell *cells, size_t n)
{
    size_t level = f->columns >= WIDE_COLUMNS ? 0 : 1, last = ARRAY_LEN(cap_forms) - 1;
    while (level < last && caps_width(cells, n, &cap_forms[level]) > f->columns)
        level++;
    const struct cap_form *form = &cap_forms[level];
    for (size_t i = n; i-- > 0 && caps_width(cells, n, form) > f->columns;)
        cells[i].always = false;
    int room = level > 2 ? 0 : f->columns - caps_width(cells, n, form);
    trace_flow_line(f);
    for (size_t i = 0; i < n; i++) {
        bool more = !cells[i].always && !cells[i].near;
        int wide = cap_width(&cells[i], form) + TRACE_GAP;
        if (more && wide > room) {
            room = 0; /* none behind it: what is there stays when numbers get shorter */
            continue;
        }
        room -= more ? wide : 0;
        put_cap(f, &cells[i], form);
    }
}

/* Of a recording: what is known of them. */
static void caps_recorded(struct trace_flow *f, const struct trace_state *state)
{
    static const enum cap shown[] = {CAP_TIME_MS, CAP_EVENTS, CAP_BYTES};
    size_t n = state->status.phase == SESSION_ENDED ? 3 : 2;
    struct cap_cell cells[ARRAY_LEN(shown)];
    if (state->caps.value[CAP_TIME_MS] == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        make_cap(&cells[i], state, shown[i], false);
        cells[i].always = true;
    }
    put_caps_line(f, cells, n);
}

static void caps_line(struct trace_flow *f, const struct trace_state *state)
{
    /* No alarm: truncated terms and a full window are normal in a busy trace. */
    static const struct {
        enum cap cap;
        bool always, marks;
    } shown[] = {{CAP_TIME_MS, true, true},     {CAP_EVENTS, true, true},
                 {CAP_RATE_PER_S, true, true},  {CAP_BYTES, false, true},
                 {CAP_HEAP_BYTES, false, true}, {CAP_TERM_BYTES, false, false},
                 {CAP_WINDOW, false, false}};
    bool runs = state->status.phase >= SESSION_RUNNING && state->status.phase < SESSION_ENDING;
    struct cap_cell cells[ARRAY_LEN(shown) + 1];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
        if (shown[i].cap == CAP_WINDOW && !runs)
            continue;
        make_cap(&cells[n], state, shown[i].cap, runs && shown[i].marks);
        cells[n++].always = shown[i].always;
    }
    bool filling = state->mailbox > MAILBOX_HIGH;
    if (runs) {
        struct cap_cell *c = &cells[n++];
        *c = (struct cap_cell){.title = "mailbox",
                               .share = NAN,
                               .style = filling ? STYLE_WARN : STYLE_OK,
                               .near = filling};
        text_integer(c->text, sizeof c->text, (int64_t)state->mailbox);
    }
    put_caps_line(f, cells, n);
}

/* Before a trace runs: the caps that it would have. */
static void put_caps(struct trace_flow *f, const struct trace_state *state)
{
    static const enum cap shown[] = {CAP_TIME_MS, CAP_EVENTS, CAP_RATE_PER_S, CAP_TERM_BYTES,
                                     CAP_BYTES};
    char text[32];
    trace_flow_line(f);
    trace_flow_cell(f, STYLE_LABEL, "", "at most");
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        trace_flow_cell(f, STYLE_VALUE, cap_table[shown[i]].title,
                        cap_format(text, sizeof text, shown[i], state->caps.value[shown[i]]));
}

void trace_head(struct view_page *page, const struct trace_log *log, int rows, int columns)
{
    const struct trace_state *state = trace_log_state(log);
    struct trace_flow f = {.page = page, .columns = columns, .low = rows < LOW_ROWS};
    size_t n = trace_log_patterns(log), budget = rows > 8 ? (size_t)rows / 2 : 4;
    state_line(&f, log);
    end_lines(&f, log);
    if (state->status.phase < SESSION_ARMING || state->status.phase == SESSION_FAILED)
        put_caps(&f, state);
    else if (state->recorded)
        caps_recorded(&f, state);
    else
        caps_line(&f, state);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && page->n_lines + 2 > budget) {
            page_line(page);
            page_printf(page, STYLE_DIM, "and %zu pattern%s more", n - i, n - i == 1 ? "" : "s");
            break;
        }
        trace_pattern_lines(&f, log, i);
    }
    if (trace_log_nodes(log) > 0)
        trace_node_lines(&f, log, page->n_lines + 3 < budget ? budget - page->n_lines : 3);
    page->fixed = page->n_lines;
}
