/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events by time to spans and waits. Each process has a stack of open spans. A message's edge is
 * the span that its sender was in; a dequeue opens a span below it, or ends a wait. */
#include <stdlib.h>

#include "walk.h"
#include "walk_stack.h"

/* ---- roots */

/* A request of a process as root: it ends the one before, whose end was not seen. */
static void take_request(struct walk *w, struct process *p, const struct event *e)
{
    while (p->top != SPAN_NONE)
        walk_close_top(w, p, w->extra[p->top].last, true, SPAN_UNKNOWN, (struct slice){0});
    uint32_t index = walk_open_span(w, SPAN_ROOT, SPAN_NONE, e);
    if (index != SPAN_NONE)
        w->extra[index].of_process = true;
}

static void take_root(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    if (e->tag == SPAN_TAG_CALL || e->tag == SPAN_TAG_CAST) {
        take_request(w, p, e);
        return;
    }
    bool nested = walk_root(w, p) != SPAN_NONE;
    p->call = 0;
    if (nested && p->refused > 0)
        p->refused++;
    else if (walk_open_span(w, SPAN_ROOT, nested ? p->top : SPAN_NONE, e) == SPAN_NONE && nested)
        p->refused = 1;
}

static void take_return(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    struct slice reason = spans_text(w->s, e->text);
    enum span_outcome outcome = e->class == SPAN_CLASS_NONE      ? SPAN_OK
                                : e->class == SPAN_CLASS_UNKNOWN ? SPAN_UNKNOWN
                                                                 : SPAN_EXCEPTION;
    uint32_t root = walk_root(w, p);
    if (root == SPAN_NONE) {
        p->refused = 0;
        return;
    }
    if (p->refused > 0) {
        p->refused--;
        return;
    }
    if (e->class == SPAN_CLASS_EXIT && slice_is(reason, "timeout"))
        outcome = SPAN_TIMEOUT;
    if (e->class == SPAN_CLASS_EXIT && slice_is(reason, "noproc"))
        outcome = SPAN_NOPROC;
    struct call *c = walk_open_call(w, p, root);
    if (outcome == SPAN_TIMEOUT && c && p->active <= c->sent)
        walk_end_call(w, p, c, e->at, SPAN_TIMEOUT);
    while (p->top != root)
        walk_close_top(w, p, e->at, false, SPAN_UNKNOWN, (struct slice){0});
    walk_close_top(w, p, e->at, false, outcome, outcome == SPAN_OK ? (struct slice){0} : reason);
    p->call = 0;
}

/* ---- functions within a span */

static void take_enter(struct walk *w, const struct event *e)
{
    struct process *p = walk_note_event(w, e);
    if (p->top == SPAN_NONE)
        w->s->built.leaked++;
    else if (p->deep > 0 || walk_open_span(w, SPAN_FUNCTION, p->top, e) == SPAN_NONE)
        p->deep++;
}

/* Of what was called in it nothing goes on. A function that has no span is not on the stack: it was
   called in none, or its span ended with that of a request. */
static void take_leave(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    uint32_t at = p->top;
    p->active = e->at;
    if (p->deep > 0) {
        p->deep--;
        return;
    }
    while (at != SPAN_NONE &&
           (w->s->spans[at].kind != SPAN_FUNCTION || w->extra[at].text != e->text))
        at = w->extra[at].below;
    if (at == SPAN_NONE)
        return;
    while (p->top != at)
        walk_close_top(w, p, e->at, false, SPAN_UNKNOWN, (struct slice){0});
    walk_close_top(w, p, e->at, false, e->class == SPAN_CLASS_NONE ? SPAN_OK : SPAN_EXCEPTION,
                   (struct slice){0});
    if (p->top != SPAN_NONE)
        w->extra[p->top].last = e->at;
}

/* ---- running */

/* A process woke up for a message that it does not take now, and waits on. In more time it has
   worked. */
static bool waits_on(struct walk *w, const struct process *p, uint32_t at, int64_t now)
{
    enum { LOOK_NS = 1000000 };
    struct call *c = p->top != SPAN_NONE ? walk_open_call(w, p, p->top) : NULL;
    enum span_outcome outcome = walk_ended_as(w, p, c);
    if (!p->gap.open || !p->gap.resumed || p->gap.at != at || now - p->gap.until > LOOK_NS ||
        (outcome != SPAN_UNKNOWN && outcome != SPAN_TIMEOUT))
        return false;
    w->receives[at] = w->receives[at] || p->arrived != 0 || p->down != 0;
    return walk_waits_at(w, p, at);
}

static void take_out(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    if (waits_on(w, p, e->text, e->at)) {
        p->gap.resumed = false;
        p->arrived = p->down = 0; /* not what it waits for */
        return;
    }
    walk_settle(w, p, e->at);
    p->gap = (struct gap){.open = true, .waits = e->words > 0, .since = e->at, .at = e->text};
    p->arrived = p->down = 0;
    if (walk_is_idle(w, p, e->text))
        walk_close_idle(w, p, e->at);
}

static void take_in(struct process *p, const struct event *e)
{
    p->gap.resumed = true;
    p->gap.until = p->active = e->at;
    p->came_in = e->text;
}

static void take_arrival(struct process *p, const struct event *e)
{
    p->arrived = e->ref;
    p->arrived_of = e->peer;
}

/* It also says when a process ended whose own end is not seen. */
static void take_down(struct walk *w, struct process *p, const struct event *e)
{
    struct process *of = &w->processes[e->peer];
    p->down = e->ref;
    p->down_of = e->peer;
    p->down_for = e->text;
    if (!of->scheduled && !slice_is(spans_text(w->s, e->text), "noproc"))
        walk_close_all(w, of, e->at, e->text);
}

/* A caller that does something else does not wait any more. */
static void note_next(struct walk *w, const struct process *p, int64_t now)
{
    struct call *c = walk_call_of(w, p->call);
    if (c && c->next == 0 && now > c->sent)
        c->next = now;
}

/* The part of an event that is the same for every kind. */
static void take_before(struct walk *w, struct process *p, const struct event *e, bool itself)
{
    if (itself)
        note_next(w, p, e->at);
    if (itself && e->kind != SPAN_EVENT_RECEIVE)
        walk_settle(w, p, e->at);
    if (e->kind != SPAN_EVENT_ANSWERED)
        walk_end_ask(w, p, e->at, SPAN_UNKNOWN);
}

static void walk_event(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    enum span_event_kind kind = (enum span_event_kind)e->kind;
    bool arrives = kind == SPAN_EVENT_ARRIVAL || kind == SPAN_EVENT_DOWN;
    bool runs = kind == SPAN_EVENT_IN || kind == SPAN_EVENT_OUT;
    if (kind == SPAN_EVENT_CALLER || kind == SPAN_EVENT_CONTEXT) {
        walk_take_context(w, e);
        return;
    }
    if (!w->s->options.full && (arrives || runs))
        return;
    p->scheduled = p->scheduled || runs;
    take_before(w, p, e, !arrives && !runs);
    switch (kind) {
    case SPAN_EVENT_ROOT:
        take_root(w, e);
        break;
    case SPAN_EVENT_RETURN:
        take_return(w, e);
        break;
    case SPAN_EVENT_SEND:
        walk_take_send(w, e);
        break;
    case SPAN_EVENT_RECEIVE:
        walk_take_receive(w, e);
        break;
    case SPAN_EVENT_IN:
        take_in(p, e);
        break;
    case SPAN_EVENT_OUT:
        take_out(w, e);
        break;
    case SPAN_EVENT_ARRIVAL:
        take_arrival(p, e);
        break;
    case SPAN_EVENT_DOWN:
        take_down(w, p, e);
        break;
    case SPAN_EVENT_EXIT:
        walk_close_all(w, p, e->at, e->text);
        break;
    case SPAN_EVENT_ENTER:
        take_enter(w, e);
        break;
    case SPAN_EVENT_LEAVE:
        take_leave(w, e);
        break;
    case SPAN_EVENT_ASK:
    case SPAN_EVENT_SERVE:
    case SPAN_EVENT_ANSWER:
    case SPAN_EVENT_ANSWERED:
        walk_take_breakpoint(w, e);
        break;
    case SPAN_EVENT_PRINT:
        if (p->top != SPAN_NONE)
            w->extra[p->top].last = e->at;
        break;
    case SPAN_EVENT_CALLER:
    case SPAN_EVENT_CONTEXT:
    case SPAN_EVENTS:
        break;
    }
    if (!arrives && kind != SPAN_EVENT_IN)
        p->came_in = 0;
}

void spans_walk(struct spans *s)
{
    struct walk w = {.s = s};
    w.processes = alloc_zero(s->processes.n, sizeof *w.processes);
    w.calls = alloc_zero(s->refs.n, sizeof *w.calls);
    w.messages = alloc_zero(s->n_events + 1, sizeof *w.messages);
    w.receives = alloc_zero(s->texts.n, sizeof *w.receives);
    for (uint32_t i = 0; i < s->processes.n; i++)
        w.processes[i].top = w.processes[i].last = SPAN_NONE;
    for (uint32_t i = 0; i < s->refs.n; i++)
        w.calls[i].span = SPAN_NONE;
    for (size_t i = 0; i < s->n_events; i++) {
        const struct event *e = &s->events[i];
        if (e->kind == SPAN_EVENT_OUT && walk_is_loop(&w, e->text))
            w.processes[e->process].loops = true;
        if (e->kind == SPAN_EVENT_OUT && e->words > 0)
            w.receives[e->text] = true;
    }
    for (size_t i = 0; i < s->n_events; i++) {
        w.end = s->events[i].at;
        walk_event(&w, &s->events[i]);
    }
    walk_end_all(&w);
    walk_check_context(&w);
    walk_mark_unknown(&w);
    HASH_CLEAR(hh, w.by_key);
    free(w.processes);
    free(w.calls);
    free(w.messages);
    free(w.receives);
    free(w.extra);
}
