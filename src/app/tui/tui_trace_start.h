/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one trace of the screen: from the line of its prompt to the proof that nothing of it is
 * left. Its log stays on the screen until the next one, whatever becomes of the link. Each file
 * uses those before it: tui_trace_start.c (a trace begins), tui_trace_save.c (files),
 * tui_trace_prompt.c (its prompt), tui_trace_pick.c (patterns to choose), tui_trace_act.c (what
 * the user does), tui_trace.c (its life). */
#ifndef BEAMTOP_APP_TUI_TUI_TRACE_START_H
#define BEAMTOP_APP_TUI_TUI_TRACE_START_H

#include "beamtop/trace/request.h"
#include "beamtop/trace/trace.h"
#include "tui_names.h"
#include "tui_session.h"

struct tui_trace {
    struct tui_session s; /* first */
    char *line;           /* its words */
    char *wanted;         /* words for which it may be asked to end */
    bool paused_by_us;    /* while the program stands still */

    /* of the line in its prompt */
    unsigned unanswered; /* questions for candidates */
    bool listed;         /* Tab lists the words that go on from the cursor */
    bool spec_shown;     /* its match specification */
    struct tui_names names;
    char mark[64];    /* before it, where: */
    bool is_several;  /* it is of several nodes … */
    char of[64];      /* … and what is known of the line is of this one */
    bool error_shown; /* by Enter, even if it is at the end of the line */
    char why[256];    /* what the trace said of it, when that was not an error of the line */

    char history_node[LIMIT_NODE_NAME_BYTES + 1]; /* whose history is in the prompt; "" none */
    char *save_path;                              /* while it is asked whether to write over it */
};

/* ---- tui_trace_start.c */

const struct trace_state *tui_trace_state(const struct tui_trace *tr); /* NULL: no trace yet */
/* Says that there is none, and which key starts it. */
void tui_trace_tell_none(const struct tui_trace *tr, const char *none, const char *it);
/* The action means a trace of several nodes. */
bool tui_trace_is_several(const struct tui_trace *tr, enum action action);
/* That a view's cursor is on; NULL: on none that is in the log. */
const struct trace_event *tui_trace_event(const struct tui_trace *tr, const struct view_link *link);
/* Takes a line apart and starts it. *offset is the byte of the line that is wrong. */
int tui_trace_start(struct tui_trace *tr, const char *line, size_t *offset, struct error *err);

/* ---- tui_trace_save.c */

void tui_trace_save(struct tui_trace *tr, const char *path); /* "": choose a name */
/* The history of prompts on the node takes the place of another's. */
void tui_trace_history(void *own);
void tui_trace_save_history(const struct tui_trace *tr); /* at the end */

/* ---- tui_trace_prompt.c */

void tui_trace_prompt(struct tui_trace *tr, const char *initial);
/* A connection is gone; of several nodes the prompt goes on with the names of another. */
void tui_trace_prompt_lost(struct tui_trace *tr);
/* The prompt with the line in it, which may be tr->line, and why it could not be traced. */
void tui_trace_error(struct tui_trace *tr, const char *line, const char *why);
/* Starts the line, or asks for the end of the trace that runs, or shows the error. */
void tui_trace_submit(void *tr, const char *line);
/* The same of a line that has waited: for the one node, whatever the view is by now. */
void tui_trace_begin(void *tr, const char *line);

/* ---- tui_trace_pick.c */

/* Handlers, without an argument: the prompt, from what is under the cursor; recent and useful
   patterns, to choose from. */
void tui_trace_row(struct tui_trace *tr, const char *unused);
void tui_trace_process(struct tui_trace *tr, const char *unused);
void tui_trace_library(struct tui_trace *tr, const char *unused);
/* "module:function/arity" of what is under the cursor, as far as it has one. */
void tui_trace_function(struct tui *t, struct buf *out);

/* ---- tui_trace_act.c */

bool tui_trace_has(enum action action); /* OWNER_TRACE has a handler for it */
void tui_trace_act(struct tui *t, enum action action, const char *arg);

#endif
