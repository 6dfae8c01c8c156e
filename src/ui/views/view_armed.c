/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/parse.h"
#include "beamtop/model/fields.h"
#include "beamtop/trace/calls_log.h"
#include "beamtop/trace/log.h"
#include "beamtop/trace/spans_run.h"
#include "ui/widgets/rows.h"
#include "views.h"

#define OWNER_COLUMNS 60 /* of its name in a message */

enum { WHAT, WHERE, OWNER, SESSION }; /* columns that are made here */
static const struct rows_of armed_rows = {.fields = &armed_row_fields, .sort = ""};

static bool armed_runs(const struct model *m)
{
    const struct trace_log *trace = model_trace(m);
    const struct calls_log *calls = model_calls(m);
    const struct spans_run *spans = model_spans(m);
    return (trace && session_status_runs(&trace_log_state(trace)->status)) ||
           (calls && calls_log_runs(calls)) || (spans && session_status_runs(&spans->status));
}

/* What this program has set, or has just cleared. */
struct own {
    bool any;    /* a trace, spans or counted calls */
    bool counts; /* before OTP 27, where counters do not name their owner: no other tool traces */
};

static bool has_sessions(const struct model *m)
{
    const struct node_info *node = model_node(m);
    char otp[16] = "";
    if (node)
        snprintf(otp, sizeof otp, "%.*s", (int)node->otp.len, node->otp.s);
    return atoi(otp) >= 27;
}

static struct own own_of(const struct model *m, const struct armed_detail *a)
{
    const bool any = a->ours > 0 || a->own_counts || armed_runs(m);
    struct own own = {.any = any, .counts = any && !has_sessions(m)};
    for (size_t i = 0; i < a->n_rows; i++)
        if (a->rows[i].kind == ARMED_FLAGS && a->rows[i].session.len == 0 && !a->rows[i].beamtop)
            own.counts = false;
    return own;
}

static bool is_own(const struct armed_row *r, struct own own)
{
    const bool counts = r->kind == ARMED_BREAKPOINT && r->session.len == 0 && r->traced.len == 0 &&
                        (r->call_count >= 0 || r->call_time_us >= 0 || r->call_memory_words >= 0);
    return r->kind != ARMED_CONNECTION && ((own.any && r->beamtop) || (own.counts && counts));
}

static enum style place_style(const struct armed_row *r)
{
    switch (r->kind) {
    case ARMED_BREAKPOINT:
        return STYLE_FUNCTION;
    case ARMED_FLAGS:
        return r->has_pid && r->where.s == r->pid_text.s ? STYLE_PID : STYLE_NAME;
    case ARMED_SESSION:
    case ARMED_CONNECTION:
        return STYLE_NAME;
    case ARMED_MONITOR:
    case ARMED_CONTROL_WORD:
    case ARMED_SYSTEM_TRACER:
    case ARMED_TOKENS:
        break;
    }
    return STYLE_NORMAL;
}

/* The traced process; else its tracer. */
static void link_row(struct view_link *link, const struct armed_row *r)
{
    char text[40];
    size_t len = r->tracer.len;
    const char *end = len > 0 ? memchr(r->tracer.s, '>', len) : NULL;
    struct etf_pid pid;
    if (r->has_pid) {
        link_process(link, &r->pid, r->where);
        return;
    }
    if (!end)
        return;
    snprintf(text, sizeof text, "%.*s", (int)(end + 1 - r->tracer.s), r->tracer.s);
    if (etf_parse_pid(text, &pid) == 0)
        link_process(link, &pid, r->tracer);
}

/* Identifies the row by its subject, not by its counters: the cursor stays on it. */
static uint64_t identity_of(const struct armed_row *r)
{
    uint64_t id = text_identity(r->where.s, r->where.len);
    id = id * 31 + text_identity(r->session.s, r->session.len);
    id = id * 31 + (r->has_pid ? pid_identity(&r->pid) : 0);
    return id * 31 + (uint64_t)r->kind + 1;
}

static struct slice kind_of(const struct armed_row *r)
{
    if (r->kind == ARMED_CONTROL_WORD)
        return (struct slice){"control word", 12};
    if (r->kind == ARMED_SYSTEM_TRACER)
        return (struct slice){"system tracer", 13};
    return r->what;
}

static void add_armed_row(struct view_page *page, const struct rows *s, const struct armed_row *r,
                          bool own, bool name_pid)
{
    struct view_row *row = rows_add(s, page, r);
    if (r->call_count >= 0 && strcmp(s->sort, "details") == 0)
        row->key = (double)r->call_count;
    const struct slice what = kind_of(r);
    row->id = identity_of(r);
    link_row(&row->link, r);
    page_cell(page, row, WHAT, own ? STYLE_MARK : STYLE_NORMAL, what.s, what.len);
    row->cells[WHERE].style = place_style(r);
    if (name_pid && r->kind == ARMED_FLAGS && r->has_pid && r->where.s != r->pid_text.s)
        page_cell_printf(page, row, WHERE, place_style(r), "%.*s %.*s", (int)r->where.len,
                         r->where.s, (int)r->pid_text.len, r->pid_text.s);
    if (r->kind == ARMED_SESSION)
        row->cells[SESSION].len = 0;
    if (r->beamtop || own)
        page_cell_printf(page, row, OWNER, own ? STYLE_MARK : STYLE_WARN, "%s",
                         own ? "self" : "beamtop");
}

static void put_armed_count(char *out, size_t size, int64_t n, const char *one, const char *many)
{
    char text[32];
    size_t used = strlen(out);
    if (n > 0)
        snprintf(out + used, size - used, "%s%s %s", used > 0 ? ", " : "",
                 text_integer(text, sizeof text, n), n == 1 ? one : many);
}

static void summarise_armed(struct view_page *page, const struct armed_detail *a)
{
    char *out = page->summary;
    size_t size = sizeof page->summary;
    put_armed_count(out, size, a->sessions, "session", "sessions");
    put_armed_count(out, size, a->breakpoints, "breakpoint", "breakpoints");
    put_armed_count(out, size, a->processes, "process", "processes");
    if (a->breakpoints > a->breakpoints_shown || a->flags > a->flags_shown)
        put_armed_count(out, size, a->breakpoints_shown + a->flags_shown, "shown", "shown");
}

static void armed_page(void *state, const struct model *m, struct view_page *page)
{
    const struct armed_detail *a = model_armed(m);
    rows_begin(state, page, "what where owner session tracer details");
    if (!a) {
        page_missing(page, m, "active tracing");
        return;
    }
    snprintf(page->empty, sizeof page->empty, "No active tracing on this node.");
    const struct own own = own_of(m, a);
    for (size_t i = 0; i < a->n_rows; i++)
        add_armed_row(page, state, &a->rows[i], is_own(&a->rows[i], own),
                      page->pane_columns >= 100);
    page_sort(page);
    summarise_armed(page, a);
}

/* By details, the most calls first. */
static void armed_sort(void *state, const char *key, int direction)
{
    const struct rows *s = state;
    const bool first = strcmp(key, "details") == 0 && strcmp(s->sort, key) != 0;
    rows_sort(state, key, direction == 0 && first ? 1 : direction);
}

/* The owner by name, where one is known. */
static void put_owner_name(char *out, size_t size, const struct armed_row *r)
{
    const struct slice name = r->tracer.len > 0 ? r->tracer : r->session;
    if (name.len > 0)
        snprintf(out, size, "%s%.*s%s", r->tracer.len > 0 ? "" : "session ",
                 (int)text_prefix(name.s, name.len, OWNER_COLUMNS, &(size_t){0}), name.s,
                 r->beamtop ? ", another beamtop" : "");
    else
        snprintf(out, size, "%s", r->beamtop ? "another beamtop" : "another tool");
}

static const char *way_to_clear(const struct armed_row *r)
{
    if (r->beamtop)
        return "Stop it there; a recorder: beamtop record stop";
    switch (r->kind) {
    case ARMED_MONITOR:
        return "For all tools: erlang:system_monitor(undefined) in a shell of the node";
    case ARMED_CONTROL_WORD:
        return "If no tool uses it: erlang:system_flag(trace_control_word, 0) in a shell of the "
               "node";
    case ARMED_SYSTEM_TRACER:
        return "Stop it there, or seq_trace:set_system_tracer(false) in a shell of the node";
    case ARMED_TOKENS:
        return "Stop it there, or seq_trace:reset_trace() in a shell of the node (not on OTP 25 "
               "and 26: the VM may end)";
    case ARMED_SESSION:
    case ARMED_BREAKPOINT:
    case ARMED_FLAGS:
    case ARMED_CONNECTION:
        break;
    }
    return r->session.len > 0
               ? "Stop it there, or trace:session_destroy(S) in a shell of the node, S "
                 "from trace:session_info(all)"
               : "Stop it there, such as by dbg:stop() in a shell of the node";
}

/* Clears nothing of other tools: they wait for the events of their tracers. */
static int armed_of_others(const struct model *m, uint64_t row, struct error *err)
{
    const struct armed_detail *a = model_armed(m);
    char owner[400];
    for (size_t i = 0; a && i < a->n_rows; i++) {
        const struct armed_row *r = &a->rows[i];
        if (identity_of(r) != row || is_own(r, own_of(m, a)))
            continue;
        if (r->kind == ARMED_CONNECTION)
            return error_set(err, ERR_REFUSED,
                             "another beamtop is connected: quit it there; a recorder: beamtop "
                             "record stop");
        const struct slice what = kind_of(r);
        put_owner_name(owner, sizeof owner, r);
        return error_set(err, ERR_REFUSED, "%.*s: set by %s, and beamtop clears only its own. %s",
                         (int)what.len, what.s, owner, way_to_clear(r));
    }
    return 0;
}

static const struct view_hint armed_hints[] = {{ACTION_STOP, "stop"},
                                               {ACTION_ENTER, "process"},
                                               {ACTION_TRACE_ROW, "trace"},
                                               {ACTION_BACK, "back"},
                                               {.does = NULL}};

const struct view_ops view_armed = {
    .name = "active-tracing",
    .title = "Active tracing",
    .alias = "armed",
    .key = '9',
    .help = "Active tracing of all tools: sessions, breakpoints, flags, tokens, monitors.",
    .kind = VIEW_TABLE,
    .stop = ACTION_ARMED_STOP,
    .shown_by = ACTION_ARMED,
    .state_bytes = sizeof(struct rows),
    .rows = &armed_rows,
    .n_rows = 1,
    .needs = NEED(ARMED),
    .page = armed_page,
    .sort = armed_sort,
    .runs = armed_runs,
    .of_others = armed_of_others,
    .hints = armed_hints,
};
