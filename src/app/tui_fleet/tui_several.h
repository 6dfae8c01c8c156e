/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The screen's trace of several nodes: from the line of its prompt to the check of each node. Its
 * log stays on the screen until another trace takes its place. tui_several_nodes.c says which nodes
 * are meant, tui_several.c has its life.
 *
 * One thread: the loop's. It ends before the fleet of the screen is closed. */
#ifndef BEAMTOP_APP_TUI_FLEET_TUI_SEVERAL_H
#define BEAMTOP_APP_TUI_FLEET_TUI_SEVERAL_H

#include "app/fleet/fleet.h"
#include "app/tracing/fleet_log.h"
#include "app/tracing/fleet_trace.h"
#include "app/tui/tui_owners.h"

enum several_ask { SEVERAL_NOT, SEVERAL_PARTIAL, SEVERAL_COST };

struct several_nodes {
    char (*names)[LIMIT_NODE_NAME_BYTES + 1];
    size_t n;
    const char *which; /* "all " that have a row, the "marked " ones, or those "shown " */
};

struct tui_several_trace {
    struct tui *tui;
    struct fleet_trace trace; /* zeroed: there was none yet */
    struct fleet_log *log;
    struct trace_request request;
    char *line;                  /* its words */
    struct several_nodes meant;  /* by the prompt, or by what begins */
    struct several_nodes traced; /* by the trace that began last */
    uv_timer_t timer;
    enum several_ask ask; /* what is to be asked as soon as the prompt is free, or is */
    char question[400];
    bool began, over; /* for the journal */
    unsigned turns;
    bool paused_by_us;
    uint64_t quit_by_ms; /* leave when it has ended, or then; 0: stay */
};

/* Which nodes a trace is of that begins now: those marked, those that a filter shows, or all that
 * have a row. In another view than that of the nodes, those of the trace before. How many. */
size_t several_choose(struct tui_several_trace *s);
/* A trace of those begins. */
void several_keep(struct tui_several_trace *s);
void several_forget(struct several_nodes *nodes);
/* That one of them is, by its name. */
bool several_means(const struct tui_several_trace *s, const char *name);
/* The one of them to ask: `now`, while it answers, else the first that does, else one that is up;
 * NULL: none is. */
struct live *several_live(const struct tui_several_trace *s, const struct live *now);

#endif
