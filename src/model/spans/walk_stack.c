/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The open spans of each process: a stack. */
#include "walk_stack.h"

static void set_place(const struct spans *s, struct span *span, uint32_t index)
{
    span->root = span->parent == SPAN_NONE ? index : s->spans[span->parent].root;
    span->depth = span->parent == SPAN_NONE ? 0 : s->spans[span->parent].depth + 1;
}

uint32_t walk_open_span(struct walk *w, enum span_kind kind, uint32_t parent, const struct event *e)
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
    s->spans = alloc_grow(s->spans, index, sizeof *s->spans);
    w->extra = alloc_grow(w->extra, index, sizeof *w->extra);
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
    p->top = p->last = index;
    return index;
}

struct process *walk_note_event(struct walk *w, const struct event *e)
{
    struct process *p = &w->processes[e->process];
    p->active = e->at;
    if (p->top != SPAN_NONE)
        w->extra[p->top].last = e->at;
    return p;
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

void walk_close_idle(struct walk *w, struct process *p, int64_t at)
{
    for (uint32_t base; (base = walk_base(w, p->top)) != SPAN_NONE &&
                        (w->s->spans[base].kind != SPAN_ROOT || w->extra[base].of_process);) {
        bool known = walk_is_known(w, p->top), call = w->s->spans[p->top].kind == SPAN_CALL;
        walk_close_top(w, p, known ? at : w->extra[p->top].last, !known,
                       known && !call ? SPAN_OK : SPAN_UNKNOWN, (struct slice){0});
    }
}

enum span_outcome walk_ended_for(const struct walk *w, uint32_t why)
{
    struct slice reason = spans_text(w->s, why);
    return slice_is(reason, "normal") || slice_is(reason, "shutdown") ? SPAN_OK
           : slice_is(reason, "noproc")                               ? SPAN_NOPROC
                                                                      : SPAN_EXIT;
}

void walk_close_all(struct walk *w, struct process *p, int64_t at, uint32_t why)
{
    struct slice reason = spans_text(w->s, why);
    bool normal = walk_ended_for(w, why) == SPAN_OK;
    while (p->top != SPAN_NONE) {
        struct call *c = walk_call_of(w, w->extra[p->top].call);
        struct process *caller = c ? &w->processes[c->process] : NULL;
        walk_close_top(w, p, at, false, normal ? SPAN_OK : SPAN_EXIT,
                       normal ? (struct slice){0} : reason);
        if (c && !c->spawn && !c->ended && !c->replied && !caller->scheduled &&
            caller->active <= c->sent)
            walk_end_call(w, caller, c, at, SPAN_EXIT)->at = reason;
    }
}

uint32_t walk_find_on_stack(const struct walk *w, const struct process *p, uint32_t call)
{
    uint32_t at = p->top;
    while (at != SPAN_NONE && w->extra[at].call != call)
        at = w->extra[at].below;
    return at;
}

bool walk_is_below(const struct spans *s, uint32_t span, uint32_t above)
{
    while (span != SPAN_NONE && span > above)
        span = s->spans[span].parent;
    return span == above;
}

uint32_t walk_root(const struct walk *w, const struct process *p)
{
    uint32_t at = p->top;
    while (at != SPAN_NONE && w->s->spans[at].kind != SPAN_ROOT)
        at = w->extra[at].below;
    return at;
}
