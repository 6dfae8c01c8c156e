/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to the screen's tracing: tui_trace.c (a trace's life), tui_trace_act.c (what the user
   does to it), tui_trace_prompt.c (its prompt), tui_trace_pick.c (patterns to choose),
   tui_trace_save.c (files). */
#ifndef BEAMTOP_APP_TUI_TUI_TRACE_INTERNAL_H
#define BEAMTOP_APP_TUI_TUI_TRACE_INTERNAL_H

#include "beamtop/trace/assist.h"
#include "beamtop/trace/request.h"
#include "beamtop/trace/trace.h"
#include "tui_session.h"

struct tui_trace {
    struct tui *tui;
    struct tui_session s;
    char *line;             /* its words */
    struct caps asked_caps; /* of its start: what it is extended by */
    char *wanted;           /* words for which it may be asked to end */
    bool paused_by_us;      /* while the program stands still */

    struct assist *assist;         /* what the prompt knows of the target */
    bool assisted;                 /* it has a port */
    const struct tui_names *names; /* of the last prompt for functions, with names_arg */
    void *names_arg;
    uv_timer_t pause; /* until what is typed is looked at, then until it has settled */
    bool looked, settled;
    unsigned unanswered; /* questions for candidates of this line */
    bool listed;         /* Tab lists the words that go on from the cursor */
    bool spec_shown;     /* the match specification of the line */
    bool completing;     /* words were asked for that are on their way */
    bool error_shown;    /* by Enter, even if it is at the end of the line */
    char why[256];       /* what the trace said of it, when that was not an error of the line */
    char history_node[LIMIT_NODE_NAME_BYTES + 1]; /* whose history is in the prompt; "" none */
    char *save_path;                              /* while it is asked whether to write over it */
};

/* ---- tui_trace.c */

const struct trace_state *tui_trace_state(const struct tui_trace *tr); /* NULL: no trace yet */
/* What options that a line does not give are. */
void tui_trace_defaults(const struct tui_trace *tr, struct trace_request *out);
/* Takes a line apart and starts it. *offset is the byte of the line that is wrong. */
int tui_trace_start(struct tui_trace *tr, const char *line, size_t *offset, struct error *err);

/* ---- tui_trace_pick.c */

void tui_trace_row(struct tui_trace *tr);     /* the prompt, from what is under the cursor */
void tui_trace_library(struct tui_trace *tr); /* recent and useful patterns, to choose from */

/* ---- tui_trace_act.c */

bool tui_trace_has(enum action action); /* OWNER_TRACE has a handler for it */
void tui_trace_act(struct tui *t, enum action action, const char *arg);
void tui_trace_tell_none(const struct tui_trace *tr); /* nothing was traced yet */

/* ---- tui_trace_save.c */

void tui_trace_save(struct tui_trace *tr, const char *path); /* "": choose a name */
/* The history of prompts on the node takes the place of another's. */
void tui_trace_history(void *own);
void tui_trace_save_history(const struct tui_trace *tr); /* at the end */

/* ---- tui_trace_prompt.c */

void tui_trace_assist_lost(void *own); /* the connection to the node is lost */

void tui_trace_prompt(struct tui_trace *tr, const char *initial);
/* The prompt with the line in it, which may be ours, and why it could not be traced. */
void tui_trace_error(struct tui_trace *tr, const char *line, const char *why);
void tui_trace_assist_known(void *tr); /* new answers are there */
/* Starts the line, or asks for the end of the trace that runs, or shows the error. */
void tui_trace_submit(void *tr, const char *line);

#endif
