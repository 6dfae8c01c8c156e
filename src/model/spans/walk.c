/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events by time to spans and waits. Each process has a stack of open spans. A message's edge is
 * the span that its sender was in; a dequeue opens a span below it, or ends a wait. */
#include <stdlib.h>
#include <string.h>

#include "walk.h"

/* ---- spans */

static void set_place(const struct spans *s, struct span *span, uint32_t index)
{
    span->root = span->parent == SPAN_NONE ? index : s->spans[span->parent].root;
    span->depth = span->parent == SPAN_NONE ? 0 : s->spans[span->parent].depth + 1;
}

/* SPAN_NONE: beyond a limit. */
static uint32_t open_span(struct walk *w, enum span_kind kind, uint32_t parent,
                          const struct event *e)
{
    struct spans *s = w->s;
    struct process *p = &w->processes[e->process];
    if (parent == SPAN_NONE ? s->n_roots >= LIMIT_SPAN_ROOTS
                            : s->spans[parent].depth + 1 >= LIMIT_SPAN_DEPTH) {
        s->built.deep++;
        return SPAN_NONE;
    }
    s->n_roots += parent == SPAN_NONE;
    uint32_t index = s->n_spans;
    if ((index & (index - 1)) == 0) {
        size_t room = index > 0 ? 2 * (size_t)index : 1;
        s->spans = alloc_resize(s->spans, room, sizeof *s->spans);
        w->extra = alloc_resize(w->extra, room, sizeof *w->extra);
    }
    s->n_spans++;
    s->spans[index] = (struct span){.kind = kind, .parent = parent, .started_ns = e->at};
    w->extra[index] =
        (struct extra){.below = p->top, .process = e->process, .text = e->text, .last = e->at};
    struct span *span = &s->spans[index];
    set_place(s, span, index);
    span->process = spans_process(s, e->process);
    span->operation = spans_text(s, e->text);
    span->words = e->words;
    span->queued_ns = -1;
    span->outcome = SPAN_UNKNOWN;
    if (p->top == SPAN_NONE) /* one that never returns, such as a loop */
        p->deep = 0;
    p->top = index;
    return index;
}

uint32_t walk_base(const struct walk *w, uint32_t span)
{
    while (span != SPAN_NONE && w->s->spans[span].kind == SPAN_FUNCTION)
        span = w->extra[span].below;
    return span;
}

void walk_close_top(struct walk *w, struct process *p, int64_t at, bool at_least,
                    enum span_outcome outcome, struct slice reason)
{
    uint32_t index = p->top;
    struct extra *x = &w->extra[index];
    struct span *span = &w->s->spans[index];
    span->ended_ns = at > span->started_ns ? at : span->started_ns;
    span->ended_at_least = at_least;
    span->outcome = outcome;
    span->reason = reason;
    x->ended = true;
    p->top = x->below;
    if (x->below == SPAN_NONE)
        return;
    struct span_wait *wait =
        walk_add_wait(w, x->below, SPAN_WAIT_NESTED, span->started_ns, span->ended_ns);
    wait->on = index;
    wait->process = span->process;
    wait->outcome = outcome;
}

/* A process is back in its loop, or takes its next request: what it was asked before is done. */
static void close_idle(struct walk *w, struct process *p, int64_t at)
{
    for (uint32_t base; (base = walk_base(w, p->top)) != SPAN_NONE &&
                        (w->s->spans[base].kind != SPAN_ROOT || w->extra[base].of_process);) {
        bool known = walk_is_known(w, p->top), call = w->s->spans[p->top].kind == SPAN_CALL;
        walk_close_top(w, p, known ? at : w->extra[p->top].last, !known,
                       known && !call ? SPAN_OK : SPAN_UNKNOWN, (struct slice){0});
    }
}

/* A process ended: all its spans, and the calls to it. */
static void close_all(struct walk *w, struct process *p, int64_t at, uint32_t why)
{
    struct slice reason = spans_text(w->s, why);
    bool normal = slice_is(reason, "normal") || slice_is(reason, "shutdown");
    while (p->top != SPAN_NONE) {
        struct call *c = walk_call_of(w, w->extra[p->top].call);
        struct process *caller = c ? &w->processes[c->process] : NULL;
        walk_close_top(w, p, at, false, normal ? SPAN_OK : SPAN_EXIT,
                       normal ? (struct slice){0} : reason);
        if (c && !c->ended && !c->replied && !caller->scheduled && caller->active <= c->sent)
            walk_end_call(w, caller, c, at, SPAN_EXIT)->at = reason;
    }
}

static uint32_t find_on_stack(const struct walk *w, const struct process *p, uint32_t call)
{
    uint32_t at = p->top;
    while (at != SPAN_NONE && w->extra[at].call != call)
        at = w->extra[at].below;
    return at;
}

uint32_t walk_root(const struct walk *w, const struct process *p)
{
    uint32_t at = p->top;
    while (at != SPAN_NONE && w->s->spans[at].kind != SPAN_ROOT)
        at = w->extra[at].below;
    return at;
}

/* ---- events */

static struct message_key key_of(const struct event *e, uint32_t sender, uint32_t receiver)
{
    struct message_key key = {.serial = e->serial, .sender = sender, .receiver = receiver};
    memcpy(key.label, e->label, sizeof key.label);
    return key;
}

/* The message that a process dequeues; NULL: it was not seen to be sent. */
static struct message *message_of(struct walk *w, const struct event *e)
{
    struct message *m = NULL;
    for (unsigned to_name = 0; !m && to_name < 2; to_name++) {
        const struct message_key key = key_of(e, e->peer, to_name ? 0 : e->process);
        HASH_FIND(hh, w->by_key, &key, sizeof key, m);
    }
    return m;
}

/* A request of a process as root: it ends the one before, whose end was not seen. */
static void take_request(struct walk *w, struct process *p, const struct event *e)
{
    while (p->top != SPAN_NONE)
        walk_close_top(w, p, w->extra[p->top].last, true, SPAN_UNKNOWN, (struct slice){0});
    uint32_t index = open_span(w, SPAN_ROOT, SPAN_NONE, e);
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
    else if (open_span(w, SPAN_ROOT, nested ? p->top : SPAN_NONE, e) == SPAN_NONE && nested)
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
    struct process *p = &w->processes[e->process];
    p->active = e->at;
    if (p->top == SPAN_NONE) {
        w->s->built.leaked++;
        return;
    }
    w->extra[p->top].last = e->at;
    if (p->deep > 0 || open_span(w, SPAN_FUNCTION, p->top, e) == SPAN_NONE)
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

/* ---- messages */

void walk_send_reply(struct walk *w, struct process *p, const struct event *e)
{
    struct call *c = walk_call_of(w, e->ref);
    uint32_t base = walk_base(w, p->top);
    if (base != SPAN_NONE && w->s->spans[base].kind == SPAN_SPAWN)
        w->s->spans[base].kind = SPAN_TASK;
    if (!c)
        return;
    c->replied = true;
    uint32_t callee = find_on_stack(w, p, e->ref);
    if (callee == SPAN_NONE)
        return;
    while (p->top != callee)
        walk_close_top(w, p, e->at, false, SPAN_UNKNOWN, (struct slice){0});
    walk_close_top(w, p, e->at, false, c->gave_up ? SPAN_LATE : SPAN_OK, (struct slice){0});
}

static void take_send(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    const bool to_pid = spans_process(w->s, e->peer).pid.id != 0;
    const struct message_key key = key_of(e, e->process, to_pid ? e->peer : 0);
    struct message *m;
    HASH_FIND(hh, w->by_key, &key, sizeof key, m);
    if (!m) {
        m = &w->messages[w->n_messages++];
        m->key = key;
        HASH_ADD(hh, w->by_key, key, sizeof key, m);
    }
    m->span = p->top;
    m->at = e->at;
    if (p->top != SPAN_NONE)
        w->extra[p->top].last = e->at;
    p->active = e->at;
    if (e->tag == SPAN_TAG_REPLY)
        walk_send_reply(w, p, e);
    else if (e->tag == SPAN_TAG_EXIT)
        close_all(w, p, e->at, e->text);
    else if (e->ref != 0 && p->top != SPAN_NONE &&
             (!walk_call_of(w, e->ref) || w->calls[e->ref].ended)) {
        w->calls[e->ref] = (struct call){.span = p->top,
                                         .process = e->process,
                                         .to = e->peer,
                                         .callee = SPAN_NONE,
                                         .sent = e->at,
                                         .gen = e->tag == SPAN_TAG_CALL};
        p->call = e->ref;
    }
}

/* The one that replied, with the name that it was called by. */
static struct span_process callee_of(const struct walk *w, const struct call *c,
                                     const struct event *e)
{
    struct span_process by = spans_process(w->s, e->peer), to = spans_process(w->s, c->to);
    if (to.pid.id != 0)
        return to;
    if (by.name.len == 0)
        by.name = to.name;
    return by;
}

/* A callee without events: what the caller knows of it. */
static uint32_t add_leaf(struct walk *w, const struct call *c, const struct event *e)
{
    struct process *p = &w->processes[e->peer];
    struct event at = *e;
    at.process = e->peer;
    at.at = c->sent;
    at.words = -1;
    at.text = 0;
    uint32_t before = p->top, leaf = open_span(w, SPAN_CALL, c->span, &at);
    p->top = before;
    if (leaf == SPAN_NONE)
        return leaf;
    struct span *span = &w->s->spans[leaf];
    span->process = callee_of(w, c, e);
    span->leaf = w->extra[leaf].ended = true;
    span->ended_ns = e->at;
    span->outcome = SPAN_OK;
    return leaf;
}

void walk_take_reply(struct walk *w, struct call *c, uint32_t answered, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    c->replied = true;
    if (c->callee == SPAN_NONE && answered == SPAN_NONE)
        c->callee = add_leaf(w, c, e);
    struct span_wait *wait = walk_end_call(w, p, c, e->at, SPAN_OK);
    if (answered != SPAN_NONE)
        wait->on = answered;
    wait->process = callee_of(w, c, e);
    p->gap.open = false;
}

static bool is_below(const struct spans *s, uint32_t span, uint32_t above)
{
    while (span != SPAN_NONE && span > above)
        span = s->spans[span].parent;
    return span == above;
}

/* A message other than a request ended what its process waited for. */
static void take_inside(struct walk *w, const struct event *e, uint32_t from)
{
    struct process *p = &w->processes[e->process];
    bool awaited = e->tag == SPAN_TAG_REPLY || slice_is(spans_text(w->s, e->text), "ack");
    int64_t since = p->gap.open ? p->gap.since : p->active;
    struct call *request = walk_call_of(w, e->ref);
    if (request && request->callee == SPAN_NONE)
        request->callee = p->top;
    if (!p->gap.open && (p->scheduled || !awaited || !is_below(w->s, from, walk_base(w, p->top))))
        return;
    struct span_wait *wait = walk_add_wait(w, p->top, SPAN_WAIT_MESSAGE, since, e->at);
    wait->on = from;
    wait->process = spans_process(w->s, e->peer);
    wait->at_most = !p->gap.open;
    wait->in = walk_waited_in(w, p);
    p->gap.open = false;
}

/* Whether a message belongs to the span that its receiver is in, and is not its next work. */
static bool belongs_inside(struct walk *w, const struct process *p)
{
    uint32_t base = walk_base(w, p->top);
    if (base == SPAN_NONE)
        return false;
    const struct span *top = &w->s->spans[base];
    const struct call *c = walk_call_of(w, w->extra[base].call);
    return walk_is_known(w, base) || top->kind == SPAN_ROOT || top->kind == SPAN_SPAWN ||
           top->kind == SPAN_TASK || (top->kind == SPAN_CALL && c && !c->replied);
}

/* The function in which a message was awaited is one that waits, and the loop of a process that
   had nothing to do. */
static void learn(struct walk *w, struct process *p, const struct event *e, int64_t sent)
{
    enum { AT_ONCE_NS = 50000 };
    bool before = p->gap.open && sent < p->gap.since;
    if (p->came_in == 0 || before || e->at - p->gap.until > AT_ONCE_NS)
        return;
    w->receives[p->came_in] = true;
    if (p->top == SPAN_NONE && !walk_is_sleep(w, p->came_in))
        p->idle = p->came_in;
}

void walk_open_request(struct walk *w, const struct event *e, const struct message *m)
{
    static const enum span_kind kinds[SPAN_TAGS] = {[SPAN_TAG_MESSAGE] = SPAN_MESSAGE,
                                                    [SPAN_TAG_CALL] = SPAN_CALL,
                                                    [SPAN_TAG_CAST] = SPAN_CAST,
                                                    [SPAN_TAG_REPLY] = SPAN_MESSAGE,
                                                    [SPAN_TAG_SPAWN] = SPAN_SPAWN};
    struct process *p = &w->processes[e->process];
    /* It may come to its next request without having waited for it: that it slept, or waited within
       the one before, is part of that. */
    bool worked =
        p->gap.open && (p->loops ? !walk_is_loop(w, p->gap.at) : walk_is_sleep(w, p->gap.at));
    if (worked)
        walk_settle(w, p, e->at);
    close_idle(w, p, p->gap.open ? p->gap.since : e->at);
    if (p->top == SPAN_NONE)
        p->gap.open = false; /* it was idle */
    walk_settle(w, p, e->at);
    struct call *c = walk_call_of(w, e->ref);
    bool handed_on = e->tag == SPAN_TAG_CALL && c && c->process != e->peer;
    uint32_t index = open_span(w, handed_on ? SPAN_MESSAGE : kinds[e->tag], m->span, e);
    if (index == SPAN_NONE)
        return;
    w->s->spans[index].queued_ns = e->at - m->at;
    if (c && e->tag != SPAN_TAG_REPLY && c->callee == SPAN_NONE) {
        c->callee = index;
        w->extra[index].call = e->ref;
    }
}

static void take_receive(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    const struct message *m = message_of(w, e);
    struct call *c = e->tag == SPAN_TAG_REPLY ? walk_call_of(w, e->ref) : NULL;
    if (m)
        learn(w, p, e, m->at);
    if (c && !c->ended && c->process == e->process)
        walk_take_reply(w, c, m ? m->span : SPAN_NONE, e);
    else if (!m || m->span == SPAN_NONE)
        w->s->built.leaked++;
    else if (e->tag == SPAN_TAG_SPAWNED)
        ;
    else if (e->tag != SPAN_TAG_CALL && e->tag != SPAN_TAG_CAST && e->tag != SPAN_TAG_SPAWN &&
             belongs_inside(w, p))
        take_inside(w, e, m->span);
    else if (e->tag != SPAN_TAG_EXIT)
        walk_open_request(w, e, m);
    walk_settle(w, p, e->at);
    p->active = e->at;
    if (p->top != SPAN_NONE)
        w->extra[p->top].last = e->at;
}

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
        return;
    }
    walk_settle(w, p, e->at);
    p->gap = (struct gap){.open = true, .waits = e->words > 0, .since = e->at, .at = e->text};
    p->arrived = p->down = 0;
    if (walk_is_idle(w, p, e->text))
        close_idle(w, p, e->at);
}

static void take_in(struct process *p, const struct event *e)
{
    p->gap.resumed = true;
    p->gap.until = p->active = e->at;
    p->came_in = e->text;
}

static void take_arrival(struct process *p, const struct event *e)
{
    if (e->kind == SPAN_EVENT_ARRIVAL) {
        p->arrived = e->ref;
        p->arrived_of = e->peer;
    } else {
        p->down = e->ref;
        p->down_for = e->text;
    }
}

/* A caller that does something else does not wait any more. */
static void note_next(struct walk *w, const struct process *p, int64_t now)
{
    struct call *c = walk_call_of(w, p->call);
    if (c && c->next == 0 && now > c->sent)
        c->next = now;
}

/* What an event says of its process whatever it is. */
static void take_before(struct walk *w, struct process *p, const struct event *e, bool itself)
{
    if (itself)
        note_next(w, p, e->at);
    if (itself && e->kind != SPAN_EVENT_RECEIVE)
        walk_settle(w, p, e->at);
    if (e->kind != SPAN_EVENT_ANSWERED)
        walk_end_ask(w, p, e->at, SPAN_UNKNOWN);
}

static void take(struct walk *w, const struct event *e)
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
        take_send(w, e);
        break;
    case SPAN_EVENT_RECEIVE:
        take_receive(w, e);
        break;
    case SPAN_EVENT_IN:
        take_in(p, e);
        break;
    case SPAN_EVENT_OUT:
        take_out(w, e);
        break;
    case SPAN_EVENT_ARRIVAL:
    case SPAN_EVENT_DOWN:
        take_arrival(p, e);
        break;
    case SPAN_EVENT_EXIT:
        close_all(w, p, e->at, e->text);
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
        w.processes[i].top = SPAN_NONE;
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
        take(&w, &s->events[i]);
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
