/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events by time to spans and waits. Each process has a stack of open spans. A message's edge is
 * the span that its sender was in; a dequeue opens a span below it, or ends a wait. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* A message that was sent, by token, sender and serial. */
struct message_key {
    uint64_t serial;
    uint32_t process, label[3];
};
struct message {
    struct message_key key;
    uint32_t span; /* that its sender was in; SPAN_NONE: none */
    int64_t at;
    UT_hash_handle hh;
};

/* A request with a reference: the caller's last one, by reference. */
struct call {
    uint32_t span; /* that it was sent from; SPAN_NONE: there was no such call */
    uint32_t process, to;
    uint32_t callee; /* span that handles it; SPAN_NONE: none is known */
    int64_t sent;
    bool gen;     /* the caller waits for the reply and does nothing else */
    bool ended;   /* the caller got its reply or gave up */
    int64_t next; /* when the caller did something else; 0: not yet */
    bool gave_up; /* it gave up */
    bool replied; /* a reply was sent, by anyone */
};

struct gap { /* a process does not run */
    bool open, resumed;
    int64_t since, until;
    uint32_t at; /* text: function */
};

struct process {
    uint32_t top;     /* open span; SPAN_NONE */
    uint32_t refused; /* roots within its roots, too deep: their returns come first */
    uint32_t call;    /* reference of the last request that it sent; 0: none */
    int64_t active;
    struct gap gap;
    bool scheduled;               /* events of running are there */
    uint32_t idle;                /* text: where it waits between requests; 0: not seen */
    uint32_t came_in;             /* text: its last event was in, there; 0: was another */
    uint32_t arrived, arrived_of; /* reply in the queue since it last ran: reference, process */
    uint32_t down, down_for;      /* monitor that went down since: reference, text */
};

/* What only the walk needs of a span. */
struct extra {
    uint32_t below; /* the open span under it on its process */
    uint32_t call;  /* reference of the request that opened it; 0 */
    uint32_t process;
    int64_t last;      /* last event that it caused */
    bool ended, waits; /* waits: it did when the capture ended */
    bool of_process;   /* a root that no function call began: its end is a reply, or not seen */
};

struct walk {
    struct spans *s;
    struct process *processes;
    struct call *calls; /* by reference */
    struct extra *extra;
    struct message *by_key, *messages;
    bool *receives; /* by text: a function that was seen to wait for messages */
    uint32_t n_messages;
    int64_t end; /* of all events */
};

static bool in_function(const struct spans *s, uint32_t text, const char *function)
{
    return slice_begins(spans_text(s, text), function);
}

/* Where OTP's behaviours wait for their next message. */
static bool is_idle(const struct walk *w, const struct process *p, uint32_t at)
{
    static const char *const loops[] = {"gen_server:loop/", "gen_statem:loop_receive/",
                                        "gen_statem:loop/", "gen_event:fetch_msg/",
                                        "erlang:hibernate/"};
    if (at != 0 && at == p->idle)
        return true;
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        if (in_function(w->s, at, loops[i]))
            return true;
    return false;
}

static bool in_gen(const struct walk *w, uint32_t at)
{
    return in_function(w->s, at, "gen:");
}

static bool waits_at(const struct walk *w, const struct process *p, uint32_t at)
{
    static const char *const functions[] = {"timer:sleep/",
                                            "prim_inet:",
                                            "proc_lib:sync_start",
                                            "Elixir.Process:sleep/",
                                            "Elixir.Task:await",
                                            "Elixir.Task:yield",
                                            "Elixir.Task:shutdown",
                                            "Elixir.Task.Supervised:",
                                            "Elixir.DBConnection.Holder:"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (in_function(w->s, at, functions[i]))
            return true;
    return w->receives[at] || is_idle(w, p, at) || in_gen(w, at);
}

/* Events say when this span's process runs and waits. */
static bool is_known(const struct walk *w, uint32_t span)
{
    const struct spans *s = w->s;
    return s->options.full &&
           (s->spans[span].kind == SPAN_ROOT || w->processes[w->extra[span].process].scheduled);
}

/* ---- waits */

static struct span_wait *add_wait(struct walk *w, uint32_t span, enum span_wait_kind kind,
                                  int64_t from, int64_t to)
{
    struct spans *s = w->s;
    SPANS_GROW(s->waits, s->n_waits);
    struct span_wait *wait = &s->waits[s->n_waits++];
    *wait = (struct span_wait){.span = span, .kind = kind, .from_ns = from, .to_ns = to};
    wait->on = SPAN_NONE;
    wait->outcome = SPAN_OK;
    return wait;
}

static struct call *call_of(struct walk *w, uint32_t ref)
{
    return ref != 0 && w->calls[ref].span != SPAN_NONE ? &w->calls[ref] : NULL;
}

/* The request that this process sent last, from this span, and still waits for. */
static struct call *open_call(struct walk *w, const struct process *p, uint32_t span)
{
    struct call *c = call_of(w, p->call);
    return c != NULL && !c->ended && c->span == span ? c : NULL;
}

/* Since when the sender of a request waits for its reply. */
static int64_t waits_since(const struct process *p, const struct call *c, int64_t now)
{
    if (p->scheduled)
        return p->gap.open ? p->gap.since : now;
    return p->active > c->sent ? p->active : c->sent;
}

static struct slice waited_in(const struct walk *w, const struct process *p)
{
    return p->gap.open ? spans_text(w->s, p->gap.at) : (struct slice){0};
}

static struct span_wait *end_call(struct walk *w, const struct process *p, struct call *c,
                                  int64_t now, enum span_outcome outcome)
{
    int64_t since = waits_since(p, c, now);
    struct span_wait *wait = add_wait(w, c->span, SPAN_WAIT_CALL, since, now);
    wait->on = c->callee;
    wait->process = spans_process(w->s, c->to);
    wait->outcome = outcome;
    wait->at_most = !p->scheduled && since != c->sent;
    wait->in = waited_in(w, p);
    c->ended = true;
    c->gave_up = outcome == SPAN_TIMEOUT;
    c->replied = c->replied || outcome == SPAN_ELSEWHERE;
    return wait;
}

/* How a request ended of which no reply with a token was dequeued; UNKNOWN: it still goes on. Only
   gen waits for that one reply; other code may take it later. */
static enum span_outcome ended_as(struct walk *w, const struct process *p, const struct call *c)
{
    bool gen = in_gen(w, p->gap.at);
    if (c == NULL)
        return SPAN_UNKNOWN;
    if (p->down == p->call && (gen || !c->replied))
        return slice_is(spans_text(w->s, p->down_for), "noproc") ? SPAN_NOPROC : SPAN_EXIT;
    return !gen ? SPAN_UNKNOWN : p->arrived == p->call ? SPAN_ELSEWHERE : SPAN_TIMEOUT;
}

/* The gap of a process ended (`now`: at the latest) without a message that explains it. */
static void settle(struct walk *w, struct process *p, int64_t now)
{
    const struct gap gap = p->gap;
    int64_t until = gap.resumed ? gap.until : now;
    if (!gap.open)
        return;
    struct call *c = p->top != SPAN_NONE ? open_call(w, p, p->top) : NULL;
    enum span_outcome outcome = ended_as(w, p, c);
    if (outcome != SPAN_UNKNOWN) {
        struct span_wait *wait = end_call(w, p, c, until, outcome);
        if (outcome == SPAN_ELSEWHERE)
            wait->process = spans_process(w->s, p->arrived_of);
        else if (outcome != SPAN_TIMEOUT)
            wait->at = spans_text(w->s, p->down_for);
    } else if (p->top != SPAN_NONE) {
        bool waited = p->arrived != 0 || p->down != 0 || waits_at(w, p, gap.at);
        enum span_wait_kind kind = waited ? SPAN_WAIT_OTHER : SPAN_WAIT_OFF_CPU;
        struct span_wait *wait = add_wait(w, p->top, kind, gap.since, until);
        wait->at = spans_text(w->s, gap.at);
        wait->outcome = SPAN_UNKNOWN;
    }
    p->gap.open = false;
}

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
    w->extra[index] = (struct extra){.below = p->top, .process = e->process, .last = e->at};
    struct span *span = &s->spans[index];
    set_place(s, span, index);
    span->process = spans_process(s, e->process);
    span->operation = spans_text(s, e->text);
    span->words = e->words;
    span->queued_ns = -1;
    span->outcome = SPAN_UNKNOWN;
    p->top = index;
    return index;
}

/* Ends the upper span of a process. */
static void close_top(struct walk *w, struct process *p, int64_t at, bool at_least,
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
        add_wait(w, x->below, SPAN_WAIT_NESTED, span->started_ns, span->ended_ns);
    wait->on = index;
    wait->process = span->process;
    wait->outcome = outcome;
}

/* A process is back in its loop, or takes its next request: what it was asked before is done. */
static void close_idle(struct walk *w, struct process *p, int64_t at)
{
    while (p->top != SPAN_NONE &&
           (w->s->spans[p->top].kind != SPAN_ROOT || w->extra[p->top].of_process)) {
        bool known = is_known(w, p->top), call = w->s->spans[p->top].kind == SPAN_CALL;
        close_top(w, p, known ? at : w->extra[p->top].last, !known,
                  known && !call ? SPAN_OK : SPAN_UNKNOWN, (struct slice){0});
    }
}

/* A process ended: all its spans, and the calls to it. */
static void close_all(struct walk *w, struct process *p, int64_t at, uint32_t why)
{
    struct slice reason = spans_text(w->s, why);
    bool normal = slice_is(reason, "normal") || slice_is(reason, "shutdown");
    while (p->top != SPAN_NONE) {
        struct call *c = call_of(w, w->extra[p->top].call);
        struct process *caller = c != NULL ? &w->processes[c->process] : NULL;
        close_top(w, p, at, false, normal ? SPAN_OK : SPAN_EXIT,
                  normal ? (struct slice){0} : reason);
        if (c != NULL && !c->ended && !c->replied && !caller->scheduled &&
            caller->active <= c->sent)
            end_call(w, caller, c, at, SPAN_EXIT)->at = reason;
    }
}

static uint32_t find_on_stack(const struct walk *w, const struct process *p, uint32_t call)
{
    uint32_t at = p->top;
    while (at != SPAN_NONE && w->extra[at].call != call)
        at = w->extra[at].below;
    return at;
}

static uint32_t root_on_stack(const struct walk *w, const struct process *p)
{
    uint32_t at = p->top;
    while (at != SPAN_NONE && w->s->spans[at].kind != SPAN_ROOT)
        at = w->extra[at].below;
    return at;
}

/* ---- events */

static struct message_key key_of(const struct event *e, uint32_t sender)
{
    struct message_key key = {.serial = e->serial, .process = sender};
    memcpy(key.label, e->label, sizeof key.label);
    return key;
}

/* A request of a process as root: it ends the one before, whose end was not seen. */
static void take_request(struct walk *w, struct process *p, const struct event *e)
{
    while (p->top != SPAN_NONE)
        close_top(w, p, w->extra[p->top].last, true, SPAN_UNKNOWN, (struct slice){0});
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
    bool nested = root_on_stack(w, p) != SPAN_NONE;
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
    enum span_outcome outcome = e->class == SPAN_CLASS_NONE ? SPAN_OK : SPAN_EXCEPTION;
    uint32_t root = root_on_stack(w, p);
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
    struct call *c = open_call(w, p, root);
    if (outcome == SPAN_TIMEOUT && c != NULL && p->active <= c->sent)
        end_call(w, p, c, e->at, SPAN_TIMEOUT);
    while (p->top != root)
        close_top(w, p, e->at, false, SPAN_UNKNOWN, (struct slice){0});
    close_top(w, p, e->at, false, outcome, outcome == SPAN_OK ? (struct slice){0} : reason);
    p->call = 0;
}

/* The process that replies ends its span of that call, or shows itself to be a task. */
static void send_reply(struct walk *w, struct process *p, const struct event *e)
{
    struct call *c = call_of(w, e->ref);
    if (p->top != SPAN_NONE && w->s->spans[p->top].kind == SPAN_SPAWN)
        w->s->spans[p->top].kind = SPAN_TASK;
    if (c == NULL)
        return;
    c->replied = true;
    uint32_t callee = find_on_stack(w, p, e->ref);
    if (callee == SPAN_NONE)
        return;
    while (p->top != callee)
        close_top(w, p, e->at, false, SPAN_UNKNOWN, (struct slice){0});
    close_top(w, p, e->at, false, c->gave_up ? SPAN_LATE : SPAN_OK, (struct slice){0});
}

static void take_send(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    const struct message_key key = key_of(e, e->process);
    struct message *m;
    HASH_FIND(hh, w->by_key, &key, sizeof key, m);
    if (m == NULL) {
        m = &w->messages[w->n_messages++];
        *m = (struct message){.key = key, .span = p->top, .at = e->at};
        HASH_ADD(hh, w->by_key, key, sizeof key, m);
    }
    if (p->top != SPAN_NONE)
        w->extra[p->top].last = e->at;
    p->active = e->at;
    if (e->tag == SPAN_TAG_REPLY)
        send_reply(w, p, e);
    else if (e->tag == SPAN_TAG_EXIT)
        close_all(w, p, e->at, e->text);
    else if (e->ref != 0 && p->top != SPAN_NONE &&
             (call_of(w, e->ref) == NULL || w->calls[e->ref].ended)) {
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

/* The reply of an open call is dequeued; `answered`: in that span. */
static void take_reply(struct walk *w, struct call *c, uint32_t answered, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    c->replied = true;
    if (c->callee == SPAN_NONE && answered == SPAN_NONE)
        c->callee = add_leaf(w, c, e);
    struct span_wait *wait = end_call(w, p, c, e->at, SPAN_OK);
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
    struct call *request = call_of(w, e->ref);
    if (request != NULL && request->callee == SPAN_NONE)
        request->callee = p->top;
    if (!p->gap.open && (p->scheduled || !awaited || !is_below(w->s, from, p->top)))
        return;
    struct span_wait *wait = add_wait(w, p->top, SPAN_WAIT_MESSAGE, since, e->at);
    wait->on = from;
    wait->process = spans_process(w->s, e->peer);
    wait->at_most = !p->gap.open;
    wait->in = waited_in(w, p);
    p->gap.open = false;
}

/* Whether a message belongs to the span that its receiver is in, and is not its next work. */
static bool belongs_inside(struct walk *w, const struct process *p)
{
    if (p->top == SPAN_NONE)
        return false;
    const struct span *top = &w->s->spans[p->top];
    const struct call *c = call_of(w, w->extra[p->top].call);
    return is_known(w, p->top) || top->kind == SPAN_ROOT || top->kind == SPAN_SPAWN ||
           top->kind == SPAN_TASK || (top->kind == SPAN_CALL && c != NULL && !c->replied);
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
    if (p->top == SPAN_NONE)
        p->idle = p->came_in;
}

static void open_request(struct walk *w, const struct event *e, const struct message *m)
{
    static const enum span_kind kinds[SPAN_TAGS] = {[SPAN_TAG_MESSAGE] = SPAN_MESSAGE,
                                                    [SPAN_TAG_CALL] = SPAN_CALL,
                                                    [SPAN_TAG_CAST] = SPAN_CAST,
                                                    [SPAN_TAG_REPLY] = SPAN_MESSAGE,
                                                    [SPAN_TAG_SPAWN] = SPAN_SPAWN};
    struct process *p = &w->processes[e->process];
    close_idle(w, p, p->gap.open ? p->gap.since : e->at);
    if (p->top == SPAN_NONE)
        p->gap.open = false; /* it was idle */
    settle(w, p, e->at);
    struct call *c = call_of(w, e->ref);
    bool handed_on = e->tag == SPAN_TAG_CALL && c != NULL && c->process != e->peer;
    uint32_t index = open_span(w, handed_on ? SPAN_MESSAGE : kinds[e->tag], m->span, e);
    if (index == SPAN_NONE)
        return;
    w->s->spans[index].queued_ns = e->at - m->at;
    if (c != NULL && e->tag != SPAN_TAG_REPLY && c->callee == SPAN_NONE) {
        c->callee = index;
        w->extra[index].call = e->ref;
    }
}

static void take_receive(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    const struct message_key key = key_of(e, e->peer);
    struct message *m;
    HASH_FIND(hh, w->by_key, &key, sizeof key, m);
    struct call *c = e->tag == SPAN_TAG_REPLY ? call_of(w, e->ref) : NULL;
    if (m != NULL)
        learn(w, p, e, m->at);
    if (c != NULL && !c->ended && c->process == e->process)
        take_reply(w, c, m != NULL ? m->span : SPAN_NONE, e);
    else if (m == NULL || m->span == SPAN_NONE)
        w->s->built.leaked++;
    else if (e->tag == SPAN_TAG_SPAWNED)
        ;
    else if (e->tag != SPAN_TAG_CALL && e->tag != SPAN_TAG_CAST && e->tag != SPAN_TAG_SPAWN &&
             belongs_inside(w, p))
        take_inside(w, e, m->span);
    else if (e->tag != SPAN_TAG_EXIT)
        open_request(w, e, m);
    settle(w, p, e->at);
    p->active = e->at;
    if (p->top != SPAN_NONE)
        w->extra[p->top].last = e->at;
}

/* A process woke up for a message that it does not take now, and waits on. */
static bool waits_on(struct walk *w, const struct process *p, uint32_t at)
{
    struct call *c = p->top != SPAN_NONE ? open_call(w, p, p->top) : NULL;
    enum span_outcome outcome = ended_as(w, p, c);
    if (!p->gap.open || !p->gap.resumed || p->gap.at != at ||
        (outcome != SPAN_UNKNOWN && outcome != SPAN_TIMEOUT))
        return false;
    w->receives[at] = w->receives[at] || p->arrived != 0 || p->down != 0;
    return waits_at(w, p, at);
}

static void take_out(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    if (waits_on(w, p, e->text)) {
        p->gap.resumed = false;
        return;
    }
    settle(w, p, e->at);
    p->gap = (struct gap){.open = true, .since = e->at, .at = e->text};
    p->arrived = p->down = 0;
    if (is_idle(w, p, e->text))
        close_idle(w, p, e->at);
}

static void take_in(struct process *p, const struct event *e)
{
    p->gap.resumed = true;
    p->gap.until = p->active = e->at;
    p->came_in = e->text;
}

/* A caller that does something else does not wait any more. */
static void note_next(struct walk *w, const struct process *p, int64_t now)
{
    struct call *c = call_of(w, p->call);
    if (c != NULL && c->next == 0 && now > c->sent)
        c->next = now;
}

static void take(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    enum span_event_kind kind = (enum span_event_kind)e->kind;
    bool arrives = kind == SPAN_EVENT_ARRIVAL || kind == SPAN_EVENT_DOWN;
    bool runs = kind == SPAN_EVENT_IN || kind == SPAN_EVENT_OUT;
    if (!w->s->options.full && (arrives || runs))
        return;
    p->scheduled = p->scheduled || runs;
    if (!arrives && !runs)
        note_next(w, p, e->at);
    if (!arrives && !runs && kind != SPAN_EVENT_RECEIVE)
        settle(w, p, e->at);
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
        p->arrived = e->ref;
        p->arrived_of = e->peer;
        break;
    case SPAN_EVENT_DOWN:
        p->down = e->ref;
        p->down_for = e->text;
        break;
    case SPAN_EVENT_EXIT:
        close_all(w, p, e->at, e->text);
        break;
    case SPAN_EVENT_PRINT:
        if (p->top != SPAN_NONE)
            w->extra[p->top].last = e->at;
        break;
    case SPAN_EVENTS:
        break;
    }
    if (!arrives && kind != SPAN_EVENT_IN)
        p->came_in = 0;
}

/* ---- the end of the capture */

/* What a process still waits for: a request without an answer, while its root is open. */
static void end_waiting(struct walk *w, struct process *p)
{
    struct call *c = open_call(w, p, p->top);
    bool resumed = !p->gap.open || p->gap.resumed;
    uint32_t root = w->s->spans[p->top].root;
    if (c != NULL && !w->extra[root].ended &&
        (p->scheduled ? !resumed : c->gen && p->active <= c->sent)) {
        end_call(w, p, c, w->end, SPAN_OPEN);
        w->extra[p->top].waits = true;
        p->gap.open = false;
    }
    settle(w, p, w->end);
}

/* Light mode sees no end of a call without a reply: it was there when the caller went on. */
static void end_unanswered(struct walk *w)
{
    for (uint32_t i = 0; i < w->s->refs.n; i++) {
        const struct call *c = call_of(w, i);
        if (c == NULL || !c->gen || c->ended || c->next == 0 || w->processes[c->process].scheduled)
            continue;
        struct span_wait *wait = add_wait(w, c->span, SPAN_WAIT_CALL, c->sent, c->next);
        wait->process = spans_process(w->s, c->to);
        wait->on = c->callee;
        wait->outcome = SPAN_UNKNOWN;
        wait->at_most = true;
    }
}

static void end_all(struct walk *w)
{
    struct spans *s = w->s;
    end_unanswered(w);
    for (uint32_t i = 0; i < s->processes.n; i++) {
        struct process *p = &w->processes[i];
        if (p->top != SPAN_NONE)
            end_waiting(w, p);
    }
    for (uint32_t i = s->n_spans; i-- > 0;) { /* the upper ones of each process come first */
        struct process *p = &w->processes[w->extra[i].process];
        if (w->extra[i].ended || p->top != i)
            continue;
        bool open = w->extra[i].waits ||
                    (!w->extra[i].of_process && (is_known(w, i) || s->spans[i].kind == SPAN_ROOT));
        close_top(w, p, open ? w->end : w->extra[i].last, !open, open ? SPAN_OPEN : SPAN_UNKNOWN,
                  (struct slice){0});
    }
    for (uint32_t i = 0; i < s->n_spans; i++) {
        const struct call *c = call_of(w, w->extra[i].call);
        if (c == NULL || s->spans[i].outcome != SPAN_UNKNOWN)
            continue;
        if (c->gave_up)
            s->spans[i].outcome = SPAN_LATE;
        else if (c->replied)
            s->spans[i].outcome = SPAN_ELSEWHERE;
    }
}

static void mark_unknown(struct walk *w)
{
    for (uint32_t i = 0; i < w->s->n_spans; i++)
        if (w->s->spans[i].leaf || !is_known(w, i))
            w->s->spans[i].unattributed_ns = w->s->spans[i].off_cpu_ns = -1;
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
        w.end = s->events[i].at;
        take(&w, &s->events[i]);
    }
    end_all(&w);
    mark_unknown(&w);
    HASH_CLEAR(hh, w.by_key);
    free(w.processes);
    free(w.calls);
    free(w.messages);
    free(w.receives);
    free(w.extra);
}
