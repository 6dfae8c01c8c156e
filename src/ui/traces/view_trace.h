/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the trace view share. */
#ifndef BEAMTOP_UI_TRACES_VIEW_TRACE_H
#define BEAMTOP_UI_TRACES_VIEW_TRACE_H

#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/log.h"
#include "beamtop/ui/view.h"
#include "ui/widgets/page.h"

#define TRACE_ALL_LEVELS 1000u
#define TRACE_TURNED 64 /* of an event; the first is forgotten for one more */
#define TRACE_OPENED 64 /* events open at a time; the oldest is closed for one more */

/* An event that is open: its terms are laid out whole, down to so many levels of brackets. */
struct opened {
    uint64_t id;
    unsigned levels;
    unsigned deepest;              /* that there were when it was laid out last */
    uint64_t turned[TRACE_TURNED]; /* terms that are the other way round than `levels` say */
    size_t n_turned;
};

/* How many lines an event took, of those that are closed; found by its id. */
struct event_height {
    uint64_t shape; /* 0: none is known */
    size_t lines;
};
#define TRACE_HEIGHTS 16384 /* more than a log keeps */

struct trace_view {
    struct opened opened[TRACE_OPENED]; /* in the order of their opening */
    size_t n_opened;
    const struct trace_log *log; /* that they are of; only compared */
    bool by_latency;
    struct event_height *heights;
};

/* ---- view_trace_head.c: what does not scroll; sets page->fixed */
void trace_head(struct view_page *page, const struct trace_log *log, int rows, int columns);

/* ---- view_trace_flow.c */
#define TRACE_NARROW_COLUMNS 60 /* below, only what matters most is shown */
#define TRACE_GAP 3             /* between cells */
struct trace_flow {
    struct view_page *page;
    int columns, indent;
    bool low;   /* the pane has few rows */
    bool begun; /* there is a cell on the line */
};
void trace_flow_line(struct trace_flow *f);
/* Makes room for a cell of that width, on this line or the next. */
void trace_flow_room(struct trace_flow *f, int width);
void trace_flow_cell(struct trace_flow *f, enum style style, const char *label, const char *value);
/* Text broken at blanks, each line behind `indent` columns. */
void trace_text(struct view_page *page, enum style style, const char *text, int indent,
                int columns);

/* ---- view_trace_patterns.c */
void trace_pattern_lines(struct trace_flow *f, const struct trace_log *log, size_t index);

/* ---- view_trace_nodes.c */
/* Of a trace of several nodes what became of each, in so many lines at most. */
void trace_node_lines(struct trace_flow *f, const struct trace_log *log, size_t most);
/* Names of nodes are as long as they must be to be different. */
bool trace_nodes_whole(const struct trace_log *log);
struct slice trace_node_label(struct slice name, bool whole);

/* ---- view_trace_event.c */
struct event_look {
    struct view_page *page;
    const struct trace_log *log;
    int columns;
    bool wide;        /* the call stands beside time, pid and name; else below them */
    int node_width;   /* of several nodes; 0: there is one */
    bool whole_nodes; /* two have the same name before the '@' */
    int pid_width, name_width, text_at;
    bool ended; /* what is open now will not come back */
    long utc_offset_s;
    enum print_syntax syntax;
    size_t term_bytes; /* of text; what is longer ends in "..." */
};
void event_look_init(struct event_look *l, struct view_page *page, const struct trace_log *log,
                     int columns, long utc_offset_s);
void event_titles(const struct event_look *l); /* a line over the events, where they are wide */
/* Appends the event's lines; opened is NULL when it is closed. */
void event_put(const struct event_look *l, const struct trace_event *e, struct opened *opened);

/* ---- view_trace_long.c: appends lines of an event that is closed, with text or without */
void event_announce(const struct event_look *l, const struct trace_event *e,
                    struct event_height *heights);
/* The lines without text get theirs when they come into sight, as long as the model has the log. */
void event_fill_later(const struct event_look *l, const struct model *model);

/* What Enter and the jump to the process work with. */
void event_link(const struct event_look *l, struct view_line *line, const struct trace_event *e,
                unsigned part);

/* ---- view_trace_open.c: the lines below an event that is open */
void event_open(const struct event_look *l, const struct trace_event *e, struct opened *opened);

/* ---- view_trace_text.c: texts are appended to `out` */
/* All that a call's lines are made of. */
struct event_parts {
    struct buf name, args, mark, value, caller;
    char cut[48], result_cut[48], took[32];
    enum style mark_style, value_style;
};
void event_parts_make(struct event_parts *p, const struct event_look *l,
                      const struct trace_event *e);
void event_parts_clear(struct event_parts *p);
void event_lost(const struct trace_event *e, struct buf *out);
/* True when some text of an event matches. */
bool event_matches(const struct event_look *l, const struct trace_event *e, struct regex *re);
void event_term(const struct event_look *l, const struct kept_term *term, struct buf *out);
void event_mfa(const struct event_look *l, const struct mfa *mfa, struct buf *out);
const struct pattern *event_pattern(const struct event_look *l, const struct trace_event *e);

#endif
