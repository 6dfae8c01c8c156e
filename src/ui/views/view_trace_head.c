/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stands over the events of a trace: its state, its caps, its patterns with their counters. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
        !state->recorded && f->columns >= TRACE_NARROW_COLUMNS)
        trace_flow_cell(f, STYLE_DIM, "",
                        state->session ? "a trace session" : "legacy tracing, shared by all tools");
}

static void left_text(const struct session_check *check, char *out, size_t size)
{
    int n = snprintf(out, size,
                     "LEFT ON THE NODE: %" PRIu64 " breakpoints, %" PRIu64 " flags, %" PRIu64
                     " processes, %" PRIu64 " sessions",
                     check->breakpoints, check->flags, check->processes, check->sessions);
    if (check->control_word && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, ", control word %" PRIu64, check->control_word);
}

/* What the node says is left of it. */
static void end_lines(struct trace_flow *f, const struct trace_state *state)
{
    const struct session_check *check = &state->status.check;
    char text[400], after[32];
    if (state->status.phase != SESSION_ENDED || check->unarmed)
        return;
    if (check->done && check->clean) {
        double s = (double)check->after_us / 1e6;
        snprintf(text, sizeof text,
                 "target clean: %" PRIu64 " breakpoints, %" PRIu64 " flags, %" PRIu64
                 " processes (checked %s after)",
                 check->breakpoints, check->flags, check->processes,
                 f->page->ascii ? text_ascii_duration(after, sizeof after, s)
                                : text_duration(after, sizeof after, s));
        trace_text(f->page, STYLE_OK, text, 0, f->columns);
        return;
    }
    if (check->done)
        left_text(check, text, sizeof text);
    else
        snprintf(text, sizeof text, "NOT VERIFIED: unknown what is left on the node");
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

static void cap_cell(struct trace_flow *f, const struct trace_state *state, enum cap cap,
                     bool marks)
{
    uint64_t used = state->used[cap], most = state->caps.value[cap];
    double share = most > 0 ? (double)used / (double)most : NAN;
    enum style near = marks ? graph_limit_style(share) : STYLE_OK;
    const char *mark = near == STYLE_ALARM ? "!! " : near == STYLE_WARN ? "! " : "";
    char text[80];
    int bar = f->columns >= WIDE_COLUMNS ? 10 : 6;
    used_text(text, sizeof text, cap, used, most);
    trace_flow_room(f, trace_wide(cap_table[cap].title) + 1 + bar + 1 + (int)strlen(mark) +
                           trace_wide(text));
    page_printf(f->page, STYLE_LABEL, "%s ", cap_table[cap].title);
    page_bar(f->page, bar, share > 1 ? 1 : share);
    page_printf(f->page, near == STYLE_OK ? STYLE_VALUE : near, " %s%s", mark, text);
}

static bool is_near(const struct trace_state *state, enum cap cap)
{
    return (double)state->used[cap] >= 0.8 * (double)state->caps.value[cap];
}

/* Of a recording: what is known of them. */
static void caps_recorded(struct trace_flow *f, const struct trace_state *state)
{
    if (state->caps.value[CAP_TIME_MS] == 0)
        return;
    trace_flow_line(f);
    cap_cell(f, state, CAP_TIME_MS, false);
    cap_cell(f, state, CAP_EVENTS, false);
    if (state->status.phase == SESSION_ENDED)
        cap_cell(f, state, CAP_BYTES, false);
}

/* In a small pane only those that every trace runs into, and what is near its value. */
static void caps_line(struct trace_flow *f, const struct trace_state *state)
{
    bool runs = state->status.phase >= SESSION_RUNNING && state->status.phase < SESSION_ENDING;
    bool small = f->low || f->columns < TRACE_NARROW_COLUMNS;
    char text[32];
    trace_flow_line(f);
    cap_cell(f, state, CAP_TIME_MS, runs);
    cap_cell(f, state, CAP_EVENTS, runs);
    cap_cell(f, state, CAP_RATE_PER_S, runs);
    if (!small) /* in a small one the patterns show how many were truncated */
        cap_cell(f, state, CAP_TERM_BYTES, false);
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
        trace_flow_cell(f, filling ? STYLE_WARN : STYLE_VALUE, "mailbox",
                        text_integer(text, sizeof text, (int64_t)state->mailbox));
}

/* Before anything runs: what it would be held to. */
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
    end_lines(&f, state);
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
    page->fixed = page->n_lines;
}
