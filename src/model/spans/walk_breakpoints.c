/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A capture without payloads: breakpoints of gen_server and gen_statem in place of the token's
 * events. The caller's has no reference, as that is made later: the callback, which has it and the
 * caller, says which call it is. */
#include "walk.h"
#include "walk_stack.h"

static void take_ask(struct walk *w, const struct event *e)
{
    struct process *p = walk_note_event(w, e);
    if (p->top == SPAN_NONE)
        w->s->built.leaked++;
    else
        p->ask = (struct ask){.open = true, .span = p->top, .to = e->peer, .at = e->at};
}

/* A caller that got its token back with this request has no event of it: then it is not known when
   it was sent. */
static void take_serve(struct walk *w, const struct event *e)
{
    struct process *caller = &w->processes[e->peer];
    const struct ask ask = caller->ask;
    const struct message m = {.span = ask.open ? ask.span : caller->top,
                              .at = ask.open ? ask.at : e->at};
    if (e->peer == 0 || m.span == SPAN_NONE) {
        w->s->built.leaked++;
        return;
    }
    caller->ask.open = false;
    if (e->ref != 0) {
        w->calls[e->ref] = (struct call){.span = m.span,
                                         .process = e->peer,
                                         .to = ask.open ? ask.to : e->process,
                                         .callee = SPAN_NONE,
                                         .sent = m.at,
                                         .gen = true};
        caller->call = e->ref;
    }
    walk_open_request(w, e, &m);
    const struct process *p = walk_note_event(w, e);
    if (!ask.open && p->top != SPAN_NONE)
        w->s->spans[p->top].queued_ns = -1;
}

/* One that comes after its caller went on is late. */
static void take_reply(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    struct call *c = walk_call_of(w, e->ref);
    if (c) {
        c->answered_by = e->process;
        c->answered_in = p->top;
        c->gave_up = c->gave_up || c->ended;
    }
    walk_send_reply(w, p, e);
    walk_note_event(w, e);
}

/* The caller has its answer, or waits no longer. */
static void take_answered(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    struct call *c = walk_call_of(w, e->ref);
    if (c && !c->ended && c->process == e->process && c->replied) {
        struct event reply = *e;
        reply.peer = c->answered_by;
        walk_take_reply(w, c, c->answered_in, &reply);
    } else if (c && !c->ended && c->process == e->process) {
        walk_end_call(w, p, c, e->at, SPAN_UNKNOWN);
    } else if (!c) {
        walk_end_ask(w, p, e->at, SPAN_UNKNOWN);
    }
    walk_note_event(w, e);
}

void walk_end_ask(struct walk *w, struct process *p, int64_t at, enum span_outcome outcome)
{
    if (!p->ask.open)
        return;
    p->ask.open = false;
    struct span_wait *wait = walk_add_wait(w, p->ask.span, SPAN_WAIT_CALL, p->ask.at, at);
    wait->process = spans_process(w->s, p->ask.to);
    wait->outcome = outcome;
    wait->at_most = outcome != SPAN_OPEN;
}

void walk_take_breakpoint(struct walk *w, const struct event *e)
{
    switch ((enum span_event_kind)e->kind) {
    case SPAN_EVENT_ASK:
        take_ask(w, e);
        break;
    case SPAN_EVENT_SERVE:
        take_serve(w, e);
        break;
    case SPAN_EVENT_ANSWER:
        take_reply(w, e);
        break;
    default:
        take_answered(w, e);
        break;
    }
}
