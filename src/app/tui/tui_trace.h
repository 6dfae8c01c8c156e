/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one trace of the screen: from the line of its prompt to the proof that nothing of it is
 * left. Its log stays on the screen until the next one, whatever becomes of
 * the link. */
#ifndef BEAMTOP_APP_TUI_TUI_TRACE_H
#define BEAMTOP_APP_TUI_TUI_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/trace/assist.h"
#include "beamtop/ui/action.h"
#include "beamtop/ui/complete.h"
#include "beamtop/ui/prompt.h"

struct buf;
struct tui;
struct tui_trace;

bool tui_trace_runs(const struct tui_trace *tr); /* it has not ended */

/* The row of the picker that was opened for ACTION_TRACE_LIBRARY: its text is in the prompt. */
void tui_trace_chosen(struct tui_trace *tr, const char *text);

/* ---- prompts for functions, which know as much of the target as the trace's */
struct tui_names {
    enum prompt_kind kind;
    const char *mark;
    const char *syntax; /* first line of its hint */
    bool lists;         /* the line is patterns; else one, and then options */
    bool (*complete)(struct completion *out, struct assist *a, enum syntax syntax, const char *line,
                     size_t point);
    bool (*held)(void *arg); /* nothing may be asked of the node now; NULL: never */
    /* What follows what is known of a line, where it is not that the cost is measured first; NULL:
       it always is. */
    void (*cost)(void *arg, char *out, size_t size);
    void (*accepted)(void *arg, const char *line);
};
/* Opens one with a line in it; names stays. Looked at is the line after the next key or look. */
void tui_trace_names_open(struct tui_trace *tr, const struct tui_names *names, void *arg,
                          const char *line);
void tui_trace_names_look(struct tui_trace *tr);

/* "module:function/arity" of what is under the cursor, as far as it has one. */
void tui_trace_function(struct tui *t, struct buf *out);

#endif
