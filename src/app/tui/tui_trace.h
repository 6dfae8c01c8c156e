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

#include "beamtop/ui/action.h"
#include "beamtop/ui/complete.h"

struct buf;
struct tui;
struct tui_trace;

struct tui_trace *tui_trace_new(struct tui *t);
void tui_trace_free(struct tui_trace *tr); /* when the live source is gone */

bool tui_trace_runs(const struct tui_trace *tr); /* it has not ended */
bool tui_trace_has(enum action action);          /* OWNER_TRACE has a handler for it */
void tui_trace_act(struct tui *t, enum action action, const char *arg);

/* The row of the picker that was opened for ACTION_TRACE_LIBRARY: its text is in the prompt. */
void tui_trace_chosen(struct tui_trace *tr, const char *text);

void tui_trace_assist_lost(struct tui_trace *tr); /* the connection to the node is lost */

/* ---- for the prompts of counted calls and of spans, which know as much of the target */
void tui_trace_names_begin(struct tui_trace *tr); /* it is about to open */
/* Names that are still to come complete the line again once they have. */
void tui_trace_names_complete(struct tui_trace *tr, const char *line, size_t point,
                              struct completion *out);
/* The line is another: they do not any more. What it matches goes to tui_calls_known(),
   tui_spans_known(). */
void tui_trace_names_typed(struct tui_trace *tr);

/* ---- news of the program */
/* The history of prompts on this node takes the place of another's. */
void tui_trace_history(struct tui_trace *tr, const char *node);
void tui_trace_save_history(struct tui_trace *tr); /* at the end */
void tui_trace_paused(struct tui_trace *tr);       /* the screen is held still, or goes on */
/* The program is about to stand still, or goes on: calls are skipped until then. */
void tui_trace_suspend(struct tui_trace *tr, bool stands);

/* "module:function/arity" of what is under the cursor, as far as it has one. */
void tui_trace_function(struct tui_trace *tr, struct buf *out);

#endif
