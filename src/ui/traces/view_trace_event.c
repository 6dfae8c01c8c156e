/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An event of a trace: when, who, what, what came of it, and how long that took. */
#include "view_trace.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"

#define WIDE_COLUMNS 100 /* from here on the call stands beside the process */
#define TIME_WIDTH 15
#define NAME_MOST 20
#define NODE_MOST 20
#define TOOK_WIDTH 9 /* "212 µs", "01:10:00" */
#define BELOW 2      /* columns before what stands below time, pid and name */
#define DEPTH_MOST 8 /* levels of recursion that are shown by an indent */
#define SAMPLED 500  /* newest events that the widths are taken from */

/* ---- lines */

void event_link(const struct event_look *l, struct view_line *line, const struct trace_event *e,
                unsigned part)
{
    (void)l;
    if (e->kind == EVENT_LOST || e->id == 0)
        return;
    link_name(&line->link, TARGET_EVENT, e->name);
    if (e->node.len == 0) /* else the pid means nothing on another node */
        line->link.pid = e->pid;
    line->link.id = e->id;
    line->link.part = part;
}

static int pid_column(const struct event_look *l)
{
    return TIME_WIDTH + 2 + (l->node_width > 0 ? l->node_width + 1 : 0);
}

static int line_width(const struct view_page *page)
{
    return page->n_lines ? page->lines[page->n_lines - 1].width : 0;
}

/* As much of it as there is room for up to that column. */
static void put_up_to(const struct event_look *l, enum style style, const char *s, size_t len,
                      int end)
{
    int room = end - line_width(l->page);
    size_t width;
    if (room <= 0 || len == 0)
        return;
    size_t part = text_prefix(s, len, (size_t)room, &width);
    if (part < len)
        part = text_prefix(s, len, (size_t)room - 1, &width);
    page_put(l->page, style, s, part);
    if (part < len)
        page_puts(l->page, STYLE_DIM, "…");
}

static void put_buf(const struct event_look *l, enum style style, const struct buf *b, int end)
{
    put_up_to(l, style, (const char *)b->data, b->len, end);
}

static int buf_width(const struct buf *b)
{
    return (int)text_width((const char *)b->data, b->len);
}

static void put_event_time(const struct event_look *l, int64_t wall_us)
{
    char text[16];
    bool known = text_time(text, sizeof text, wall_us, l->utc_offset_s, 6);
    page_puts(l->page, STYLE_DIM, known ? text : "--:--:--.000000");
}

/* "=": its order to an event of another node above is not known; "<": it belongs above. */
static void put_event_node(const struct event_look *l, const struct trace_event *e)
{
    const struct slice name = trace_node_label(e->node, l->whole_nodes);
    const int at = line_width(l->page) + 2;
    page_puts(l->page, STYLE_WARN, e->late ? "< " : e->same_time ? "= " : "  ");
    put_up_to(l, STYLE_NAME, name.s, name.len, at + l->node_width);
    if (l->wide && e->kind != EVENT_LOST)
        page_tab(l->page, at + l->node_width - 1);
}

/* Time, pid and name; the line is left where the call, or what stands at the right, follows. */
static void put_event_head(const struct event_look *l, const struct trace_event *e)
{
    char pid[48];
    put_event_time(l, e->wall_us);
    if (l->node_width > 0)
        put_event_node(l, e);
    if (e->kind == EVENT_LOST)
        return;
    if (l->wide)
        page_tab(l->page, pid_column(l));
    else
        page_puts(l->page, STYLE_NORMAL, " ");
    page_puts(l->page, STYLE_PID, pid_text(pid, sizeof pid, &e->pid));
    if (l->wide)
        page_tab(l->page, pid_column(l) + l->pid_width + 1);
    else
        page_puts(l->page, STYLE_NORMAL, " ");
    put_up_to(l, STYLE_NAME, e->name.s, e->name.len,
              l->wide ? l->text_at - 2 : l->columns - TOOK_WIDTH - 1);
}

static void put_at_right(const struct event_look *l, enum style style, const char *text)
{
    int width = text_columns(text);
    if (width > 0 && line_width(l->page) + width + 1 <= l->columns) {
        page_tab(l->page, l->columns - width);
        page_puts(l->page, style, text);
    }
}

static void put_result_at(const struct event_look *l, const struct event_parts *p, int end)
{
    put_buf(l, p->mark_style, &p->mark, end);
    put_buf(l, p->value_style, &p->value, end - text_columns(p->result_cut));
    page_puts(l->page, STYLE_WARN, p->result_cut);
}

/* Who called it, where there is room for all of that; true when nothing more is to be shown. */
static bool put_caller(const struct event_look *l, const struct trace_event *e,
                       const struct event_parts *p, int gap, int end)
{
    int width = buf_width(&p->caller);
    if (width == 0 || line_width(l->page) + gap + width > end)
        return width == 0;
    page_printf(l->page, STYLE_NORMAL, "%*s", gap, "");
    put_buf(l, e->no_receiver ? STYLE_WARN : STYLE_DIM, &p->caller, end);
    return true;
}

/* The call with its arguments; the result and the caller stand beside it where there is room. */
static void put_parts(const struct event_look *l, const struct trace_event *e,
                      const struct event_parts *p, bool folded)
{
    unsigned depth = e->depth > DEPTH_MOST ? DEPTH_MOST : e->depth;
    int at = l->text_at + 2 * (int)depth;
    int end = l->columns - (l->wide ? TOOK_WIDTH + 1 : 0);
    int result = buf_width(&p->mark) + buf_width(&p->value) + text_columns(p->result_cut);
    if (!l->wide)
        page_line(l->page);
    page_tab(l->page, at);
    put_buf(l, STYLE_FUNCTION, &p->name, end);
    put_buf(l, STYLE_NORMAL, &p->args, end - text_columns(p->cut));
    page_puts(l->page, STYLE_WARN, p->cut);
    if (!folded)
        return;
    int call = line_width(l->page);
    bool beside = result > 0 && call + 2 + result <= end;
    if (beside) {
        page_puts(l->page, STYLE_NORMAL, "  ");
        put_result_at(l, p, end);
    }
    bool shown = put_caller(l, e, p, 2, end);
    if (result > 0 && !beside) {
        page_line(l->page);
        page_tab(l->page, at);
        put_result_at(l, p, end);
        shown = shown || put_caller(l, e, p, 2, end);
    }
    if (l->wide)
        put_at_right(l, STYLE_VALUE, p->took);
    if (!shown) {
        page_line(l->page);
        page_tab(l->page, at);
        put_buf(l, STYLE_DIM, &p->caller, end);
    }
}

static void put_lost_line(const struct event_look *l, const struct trace_event *e)
{
    struct buf text;
    buf_init(&text, 0);
    event_lost(e, &text);
    page_puts(l->page, STYLE_NORMAL, "  ");
    int at = line_width(l->page);
    if (at + buf_width(&text) <= l->columns) {
        put_buf(l, STYLE_WARN, &text, l->columns);
    } else {
        trace_text(l->page, STYLE_WARN, buf_cstr(&text), BELOW, l->columns);
    }
    buf_clear(&text);
}

void event_put(const struct event_look *l, const struct trace_event *e, struct opened *opened)
{
    struct event_parts p;
    event_link(l, page_line(l->page), e, 0);
    put_event_head(l, e);
    if (e->kind == EVENT_LOST) {
        put_lost_line(l, e);
        return;
    }
    event_parts_make(&p, l, e);
    if (!l->wide)
        put_at_right(l, STYLE_VALUE, p.took);
    if (opened)
        p.args.len = 0; /* they stand below */
    put_parts(l, e, &p, !opened);
    if (opened && l->wide)
        put_at_right(l, STYLE_VALUE, p.took);
    event_parts_clear(&p);
    if (opened)
        event_open(l, e, opened);
}

/* ---- columns */

void event_look_init(struct event_look *l, struct view_page *page, const struct trace_log *log,
                     int columns, long utc_offset_s)
{
    size_t n = trace_log_len(log), from = n > SAMPLED ? n - SAMPLED : 0;
    enum session_phase phase = trace_log_state(log)->status.phase;
    *l = (struct event_look){.page = page,
                             .log = log,
                             .columns = columns,
                             .wide = columns >= WIDE_COLUMNS,
                             .utc_offset_s = utc_offset_s,
                             .syntax = trace_log_syntax(log, page->syntax) == SYNTAX_ELIXIR
                                           ? PRINT_ELIXIR
                                           : PRINT_ERLANG,
                             .ended = phase >= SESSION_ENDING,
                             .pid_width = 9,
                             .name_width = 8,
                             .term_bytes = 8 * (size_t)(columns > 0 ? columns : 1)};
    l->whole_nodes = trace_nodes_whole(log);
    for (size_t i = 0; i < trace_log_nodes(log); i++) {
        const struct slice name =
            trace_node_label(slice_of(trace_log_node(log, i)->name), l->whole_nodes);
        int width = (int)text_width(name.s, name.len);
        l->node_width = width > l->node_width ? width : l->node_width;
    }
    l->node_width = l->node_width > NODE_MOST ? NODE_MOST : l->node_width;
    for (size_t i = from; i < n; i++) {
        const struct trace_event *e = trace_log_at(log, i);
        char pid[48];
        int wide = (int)strlen(pid_text(pid, sizeof pid, &e->pid));
        int name = (int)text_width(e->name.s, e->name.len);
        l->pid_width = wide > l->pid_width ? wide : l->pid_width;
        l->name_width = name > l->name_width ? name : l->name_width;
    }
    l->name_width = l->name_width > NAME_MOST ? NAME_MOST : l->name_width;
    l->text_at = l->wide ? pid_column(l) + l->pid_width + 1 + l->name_width + 2 : BELOW;
}

void event_titles(const struct event_look *l)
{
    if (!l->wide)
        return;
    page_line(l->page)->heading = true;
    page_puts(l->page, STYLE_HEADING, "TIME");
    if (l->node_width > 0) {
        page_tab(l->page, TIME_WIDTH + 2);
        page_puts(l->page, STYLE_HEADING, "NODE");
    }
    page_tab(l->page, pid_column(l));
    page_puts(l->page, STYLE_HEADING, "PID");
    page_tab(l->page, pid_column(l) + l->pid_width + 1);
    page_puts(l->page, STYLE_HEADING, "NAME");
    page_tab(l->page, l->text_at);
    page_puts(l->page, STYLE_HEADING, "CALL OR MESSAGE");
    put_at_right(l, STYLE_HEADING, "TOOK");
}
