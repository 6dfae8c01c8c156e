/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The open spans of a process, which end in reverse order. */
#ifndef BEAMTOP_MODEL_SPANS_WALK_STACK_H
#define BEAMTOP_MODEL_SPANS_WALK_STACK_H

#include "walk.h"

/* Opens a span on the process of an event. SPAN_NONE: beyond a limit. */
uint32_t walk_open_span(struct walk *w, enum span_kind kind, uint32_t parent,
                        const struct event *e);
/* The process of an event is active, in the span that it is in. */
struct process *walk_note_event(struct walk *w, const struct event *e);
/* The span below functions that its process is in; SPAN_NONE: there is none. */
uint32_t walk_base(const struct walk *w, uint32_t span);
/* The root that it is in, the same. */
uint32_t walk_root(const struct walk *w, const struct process *p);
bool walk_is_below(const struct spans *s, uint32_t span, uint32_t above); /* or is the same */
/* The open span of a request; SPAN_NONE. */
uint32_t walk_find_on_stack(const struct walk *w, const struct process *p, uint32_t call);
/* Ends the upper span of a process. */
void walk_close_top(struct walk *w, struct process *p, int64_t at, bool at_least,
                    enum span_outcome outcome, struct slice reason);
/* A process is back in its loop, or takes its next request: what it was asked before is done. */
void walk_close_idle(struct walk *w, struct process *p, int64_t at);
/* How a process ended, by its reason (a text). */
enum span_outcome walk_ended_for(const struct walk *w, uint32_t why);
/* A process ended, for that reason (a text): all its spans, and the calls to it. */
void walk_close_all(struct walk *w, struct process *p, int64_t at, uint32_t why);

#endif
