/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages: the span that one was sent from, and what taking it opens or ends. */
#include <string.h>

#include "walk.h"
#include "walk_stack.h"

static struct message_key key_of_message(const struct event *e, uint32_t sender, uint32_t receiver)
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
        const struct message_key key = key_of_message(e, e->peer, to_name ? 0 : e->process);
        HASH_FIND(hh, w->by_key, &key, sizeof key, m);
    }
    return m;
}

void walk_send_reply(struct walk *w, struct process *p, const struct event *e)
{
    struct call *c = walk_call_of(w, e->ref);
    uint32_t base = walk_base(w, p->top);
    if (base != SPAN_NONE && w->s->spans[base].kind == SPAN_SPAWN)
        w->s->spans[base].kind = SPAN_TASK;
    if (!c)
        return;
    c->replied = true;
    uint32_t callee = walk_find_on_stack(w, p, e->ref);
    if (callee == SPAN_NONE)
        return;
    while (p->top != callee)
        walk_close_top(w, p, e->at, false, SPAN_UNKNOWN, (struct slice){0});
    walk_close_top(w, p, e->at, false, c->gave_up ? SPAN_LATE : SPAN_OK, (struct slice){0});
}

void walk_take_send(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    const bool to_pid = spans_process(w->s, e->peer).pid.id != 0;
    const struct message_key key = key_of_message(e, e->process, to_pid ? e->peer : 0);
    struct message *m;
    HASH_FIND(hh, w->by_key, &key, sizeof key, m);
    if (!m) {
        m = &w->messages[w->n_messages++];
        m->key = key;
        HASH_ADD(hh, w->by_key, key, sizeof key, m);
    }
    m->span = p->top;
    m->at = e->at;
    walk_note_event(w, e);
    if (e->tag == SPAN_TAG_REPLY)
        walk_send_reply(w, p, e);
    else if (e->tag == SPAN_TAG_EXIT)
        walk_close_all(w, p, e->at, e->text);
    else if (e->ref != 0 && p->top != SPAN_NONE &&
             (!walk_call_of(w, e->ref) || w->calls[e->ref].ended)) {
        w->calls[e->ref] = (struct call){.span = p->top,
                                         .process = e->process,
                                         .to = e->peer,
                                         .callee = SPAN_NONE,
                                         .sent = e->at,
                                         .gen = e->tag == SPAN_TAG_CALL,
                                         .spawn = e->tag == SPAN_TAG_SPAWN};
        if (e->tag != SPAN_TAG_SPAWN || walk_is_erpc(w, e->text))
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
uint32_t walk_add_leaf(struct walk *w, const struct call *c, const struct event *e)
{
    struct process *p = &w->processes[e->peer];
    struct event at = *e;
    at.process = e->peer;
    at.at = c->sent;
    at.words = -1;
    at.text = 0;
    uint32_t before = p->top,
             leaf = walk_open_span(w, c->spawn ? SPAN_SPAWN : SPAN_CALL, c->span, &at);
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
        c->callee = walk_add_leaf(w, c, e);
    struct span_wait *wait = walk_end_call(w, p, c, e->at, SPAN_OK);
    if (answered != SPAN_NONE)
        wait->on = answered;
    wait->process = callee_of(w, c, e);
    p->gap.open = false;
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
    if (!p->gap.open &&
        (p->scheduled || !awaited || !walk_is_below(w->s, from, walk_base(w, p->top))))
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
static void learn_waiting(struct walk *w, struct process *p, const struct event *e, int64_t sent)
{
    enum { AT_ONCE_NS = 50000 };
    bool before = p->gap.open && sent < p->gap.since;
    if (p->came_in == 0 || before || e->at - p->gap.until > AT_ONCE_NS)
        return;
    w->receives[p->came_in] = true;
    if (p->top == SPAN_NONE && !walk_is_sleep(w, p->came_in))
        p->idle = p->came_in;
}

/* A process takes its next work: what it did before is over. It may come to it without having
   waited for it: that it slept, or waited within the one before, is part of that. */
static void end_before(struct walk *w, struct process *p, const struct event *e)
{
    bool worked =
        p->gap.open && (p->loops ? !walk_is_loop(w, p->gap.at) : walk_is_sleep(w, p->gap.at));
    if (worked)
        walk_settle(w, p, e->at);
    walk_close_idle(w, p, p->gap.open ? p->gap.since : e->at);
    if (p->top == SPAN_NONE)
        p->gap.open = false; /* it was idle */
    walk_settle(w, p, e->at);
}

void walk_open_request(struct walk *w, const struct event *e, const struct message *m)
{
    static const enum span_kind kinds[SPAN_TAGS] = {[SPAN_TAG_MESSAGE] = SPAN_MESSAGE,
                                                    [SPAN_TAG_CALL] = SPAN_CALL,
                                                    [SPAN_TAG_CAST] = SPAN_CAST,
                                                    [SPAN_TAG_REPLY] = SPAN_MESSAGE,
                                                    [SPAN_TAG_SPAWN] = SPAN_SPAWN};
    struct process *p = &w->processes[e->process];
    end_before(w, p, e);
    struct call *c = walk_call_of(w, e->ref);
    bool handed_on = e->tag == SPAN_TAG_CALL && c && c->process != e->peer;
    uint32_t index = walk_open_span(w, handed_on ? SPAN_MESSAGE : kinds[e->tag], m->span, e);
    if (index == SPAN_NONE)
        return;
    w->s->spans[index].queued_ns = e->at - m->at;
    if (c && e->tag != SPAN_TAG_REPLY && c->callee == SPAN_NONE) {
        c->callee = index;
        w->extra[index].call = e->ref;
    }
}

void walk_take_receive(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    const struct message *m = message_of(w, e);
    struct call *c = e->tag == SPAN_TAG_REPLY ? walk_call_of(w, e->ref) : NULL;
    const bool asks =
        e->tag == SPAN_TAG_CALL || e->tag == SPAN_TAG_CAST || e->tag == SPAN_TAG_SPAWN;
    if (m)
        learn_waiting(w, p, e, m->at);
    if (c && !c->ended && c->process == e->process) {
        walk_take_reply(w, c, m ? m->span : SPAN_NONE, e);
    } else if (!m || m->span == SPAN_NONE) {
        w->s->built.leaked++;
        if (asks)
            end_before(w, p, e);
    } else if (e->tag == SPAN_TAG_SPAWNED) {
        ;
    } else if (!asks && belongs_inside(w, p)) {
        take_inside(w, e, m->span);
    } else if (e->tag != SPAN_TAG_EXIT) {
        walk_open_request(w, e, m);
    }
    walk_settle(w, p, e->at);
    walk_note_event(w, e);
}
