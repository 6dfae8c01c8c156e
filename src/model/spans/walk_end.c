/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is open when the capture ends, and what was read of roots beside their events. */
#include <string.h>

#include "walk.h"
#include "walk_stack.h"

/* Spans that wait at the end are not over. */
static void mark_waiting(struct walk *w, const struct process *p)
{
    for (uint32_t i = p->top; i != SPAN_NONE; i = w->extra[i].below) {
        w->extra[i].waits = true;
        if (w->s->spans[i].kind != SPAN_FUNCTION)
            break;
    }
}

/* What a process still waits for: a request without an answer, while its root is open. */
static void end_waiting(struct walk *w, struct process *p)
{
    if (p->ask.open) {
        walk_end_ask(w, p, w->end, SPAN_OPEN);
        mark_waiting(w, p);
    }
    struct call *c = walk_open_call(w, p, p->top);
    bool resumed = !p->gap.open || p->gap.resumed;
    uint32_t root = w->s->spans[p->top].root;
    if (c && !w->extra[root].ended && (p->scheduled ? !resumed : c->gen && p->active <= c->sent)) {
        walk_end_call(w, p, c, w->end, SPAN_OPEN);
        mark_waiting(w, p);
        p->gap.open = false;
    }
    walk_settle(w, p, w->end);
}

/* Light mode sees no end of a call without a reply: it was there when the caller went on. */
static void end_unanswered(struct walk *w)
{
    for (uint32_t i = 0; i < w->s->refs.n; i++) {
        const struct call *c = walk_call_of(w, i);
        if (!c || !c->gen || c->ended || c->next == 0 || w->processes[c->process].scheduled)
            continue;
        struct span_wait *wait = walk_add_wait(w, c->span, SPAN_WAIT_CALL, c->sent, c->next);
        wait->process = spans_process(w->s, c->to);
        wait->on = c->callee;
        wait->outcome = SPAN_UNKNOWN;
        wait->at_most = true;
    }
}

void walk_end_all(struct walk *w)
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
        uint32_t base = walk_base(w, i);
        bool root = base != SPAN_NONE && s->spans[base].kind == SPAN_ROOT;
        bool open = w->extra[i].waits || (!w->extra[i].of_process && (walk_is_known(w, i) || root));
        walk_close_top(w, p, open ? w->end : w->extra[i].last, !open,
                       open ? SPAN_OPEN : SPAN_UNKNOWN, (struct slice){0});
    }
    for (uint32_t i = 0; i < s->n_spans; i++) {
        const struct call *c = walk_call_of(w, w->extra[i].call);
        const enum span_outcome outcome = s->spans[i].outcome;
        if (!c || (outcome != SPAN_UNKNOWN && outcome != SPAN_OK))
            continue;
        if (c->gave_up) /* which may have shown only after the reply */
            s->spans[i].outcome = SPAN_LATE;
        else if (c->replied && outcome == SPAN_UNKNOWN)
            s->spans[i].outcome = SPAN_ELSEWHERE;
    }
}

static bool is_hex(struct slice text)
{
    size_t n = 0;
    while (n < text.len && strchr("0123456789abcdef", text.s[n]) && text.s[n] != '\0')
        n++;
    return n == text.len;
}

void walk_take_context(struct walk *w, const struct event *e)
{
    enum { TRACE_DIGITS = 32, SPAN_DIGITS = 16 };
    uint32_t root = walk_root(w, &w->processes[e->process]);
    const struct slice ids = spans_text(w->s, e->text);
    if (root == SPAN_NONE || w->s->spans[root].started_ns != e->at || e->words < 0)
        return;
    struct span *span = &w->s->spans[root];
    span->context_read = true;
    w->extra[root].read = e->at > INT64_MAX - e->words ? INT64_MAX : e->at + e->words;
    if (e->kind == SPAN_EVENT_CALLER && e->peer != 0 && span->n_callers < SPAN_CALLERS)
        span->caller_ids[span->n_callers++] = e->peer;
    if (e->kind != SPAN_EVENT_CONTEXT || ids.len != TRACE_DIGITS + 1 + SPAN_DIGITS ||
        ids.s[TRACE_DIGITS] != '-')
        return;
    const struct slice trace = {ids.s, TRACE_DIGITS}, at = {ids.s + TRACE_DIGITS + 1, SPAN_DIGITS};
    if (is_hex(trace) && is_hex(at)) {
        span->otel_trace = trace;
        span->otel_span = at;
    }
}

void walk_check_context(struct walk *w)
{
    for (uint32_t i = 0; i < w->s->n_spans; i++) {
        struct span *span = &w->s->spans[i];
        if (!span->context_read || span->outcome == SPAN_OPEN || w->extra[i].read <= span->ended_ns)
            continue;
        span->context_read = false;
        span->n_callers = 0;
        span->otel_trace = span->otel_span = (struct slice){0};
    }
}

void walk_mark_unknown(struct walk *w)
{
    for (uint32_t i = 0; i < w->s->n_spans; i++)
        if (w->s->spans[i].leaf || !walk_is_known(w, i))
            w->s->spans[i].unattributed_ns = w->s->spans[i].off_cpu_ns = -1;
}
