/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits of processes: since when, for which process, with which outcome. */
#include "walk.h"
#include "walk_stack.h"

static bool in_function(const struct spans *s, uint32_t text, const char *function)
{
    return slice_begins(spans_text(s, text), function);
}

bool walk_is_loop(const struct walk *w, uint32_t at)
{
    static const char *const loops[] = {"gen_server:loop/", "gen_statem:loop_receive/",
                                        "gen_statem:loop/", "gen_event:fetch_msg/",
                                        "erlang:hibernate/"};
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
        if (in_function(w->s, at, loops[i]))
            return true;
    return false;
}

bool walk_is_sleep(const struct walk *w, uint32_t at)
{
    return in_function(w->s, at, "timer:sleep/") || in_function(w->s, at, "Elixir.Process:sleep/");
}

/* Where one was seen to take a request counts only in a process that has no such loop: a server
   whose NIF ends as the next request comes has not waited there. */
bool walk_is_idle(const struct walk *w, const struct process *p, uint32_t at)
{
    return walk_is_loop(w, at) || (at != 0 && at == p->idle && !p->loops);
}

bool walk_is_erpc(const struct walk *w, uint32_t at)
{
    return in_function(w->s, at, "erpc:");
}

/* True when the process waits only for the answer to its request. */
static bool in_request(const struct walk *w, uint32_t at)
{
    return in_function(w->s, at, "gen:") || walk_is_erpc(w, at);
}

bool walk_waits_at(const struct walk *w, const struct process *p, uint32_t at)
{
    static const char *const functions[] = {"prim_inet:",
                                            "proc_lib:sync_start",
                                            "Elixir.Task:await",
                                            "Elixir.Task:yield",
                                            "Elixir.Task:shutdown",
                                            "Elixir.Task.Supervised:",
                                            "Elixir.DBConnection.Holder:"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (in_function(w->s, at, functions[i]))
            return true;
    return w->receives[at] || walk_is_sleep(w, at) || walk_is_idle(w, p, at) || in_request(w, at);
}

bool walk_is_known(const struct walk *w, uint32_t span)
{
    const struct spans *s = w->s;
    uint32_t base = walk_base(w, span);
    return s->options.full && ((base != SPAN_NONE && s->spans[base].kind == SPAN_ROOT) ||
                               w->processes[w->extra[span].process].scheduled);
}

struct span_wait *walk_add_wait(struct walk *w, uint32_t span, enum span_wait_kind kind,
                                int64_t from, int64_t to)
{
    struct spans *s = w->s;
    s->waits = alloc_grow(s->waits, s->n_waits, sizeof *s->waits);
    struct span_wait *wait = &s->waits[s->n_waits++];
    *wait = (struct span_wait){.span = span, .kind = kind, .from_ns = from, .to_ns = to};
    wait->on = SPAN_NONE;
    wait->outcome = SPAN_OK;
    return wait;
}

struct call *walk_call_of(struct walk *w, uint32_t ref)
{
    return ref != 0 && w->calls[ref].span != SPAN_NONE ? &w->calls[ref] : NULL;
}

struct call *walk_open_call(struct walk *w, const struct process *p, uint32_t span)
{
    struct call *c = walk_call_of(w, p->call);
    return c && !c->ended && walk_base(w, c->span) == walk_base(w, span) ? c : NULL;
}

/* Since when the sender of a request waits for its reply. */
static int64_t waits_since(const struct process *p, const struct call *c, int64_t now)
{
    if (p->scheduled)
        return p->gap.open ? p->gap.since : now;
    return p->active > c->sent ? p->active : c->sent;
}

struct slice walk_waited_in(const struct walk *w, const struct process *p)
{
    return p->gap.open ? spans_text(w->s, p->gap.at) : (struct slice){0};
}

struct span_wait *walk_end_call(struct walk *w, const struct process *p, struct call *c,
                                int64_t now, enum span_outcome outcome)
{
    int64_t since = waits_since(p, c, now);
    /* In the function where it is, not in the one that sent the request. */
    bool there = p->top != SPAN_NONE && walk_base(w, p->top) == walk_base(w, c->span);
    struct span_wait *wait = walk_add_wait(w, there ? p->top : c->span, SPAN_WAIT_CALL, since, now);
    wait->on = c->callee;
    wait->process = spans_process(w->s, c->to);
    wait->outcome = outcome;
    wait->at_most = !p->scheduled && since != c->sent;
    wait->in = walk_waited_in(w, p);
    c->ended = true;
    c->gave_up = outcome == SPAN_TIMEOUT;
    c->replied = c->replied || outcome == SPAN_ELSEWHERE;
    return wait;
}

/* How a request ended of which no reply with a token was dequeued; UNKNOWN: it still goes on. Only
   gen waits for that one reply; other code may take it later. */
enum span_outcome walk_ended_as(struct walk *w, const struct process *p, const struct call *c)
{
    bool gen = in_request(w, p->gap.at);
    if (!c)
        return SPAN_UNKNOWN;
    if (p->down == p->call && (gen || !c->replied))
        return c->spawn                                            ? walk_ended_for(w, p->down_for)
               : slice_is(spans_text(w->s, p->down_for), "noproc") ? SPAN_NOPROC
                                                                   : SPAN_EXIT;
    return !gen ? SPAN_UNKNOWN : p->arrived == p->call ? SPAN_ELSEWHERE : SPAN_TIMEOUT;
}

/* The span of a process that ended, which worked for the one that waited for its end; SPAN_NONE. */
static uint32_t gone_span(const struct walk *w, const struct process *p)
{
    const uint32_t last = p->down_of != 0 ? w->processes[p->down_of].last : SPAN_NONE;
    return p->down != 0 && last != SPAN_NONE && walk_is_below(w->s, last, walk_base(w, p->top))
               ? last
               : SPAN_NONE;
}

/* Adds the wait of a gap that no request explains. */
static void add_gap(struct walk *w, struct process *p, int64_t until)
{
    const struct gap gap = p->gap;
    const uint32_t on = gone_span(w, p);
    bool waited = gap.waits || p->arrived != 0 || p->down != 0 || walk_waits_at(w, p, gap.at);
    enum span_wait_kind kind = on != SPAN_NONE ? SPAN_WAIT_MESSAGE
                               : waited        ? SPAN_WAIT_OTHER
                                               : SPAN_WAIT_OFF_CPU;
    struct span_wait *wait = walk_add_wait(w, p->top, kind, gap.since, until);
    wait->outcome = SPAN_UNKNOWN;
    wait->at = spans_text(w->s, gap.at);
    if (on == SPAN_NONE)
        return;
    wait->on = on;
    wait->process = spans_process(w->s, p->down_of);
    wait->in = wait->at;
    wait->outcome = walk_ended_for(w, p->down_for);
    wait->at = wait->outcome == SPAN_EXIT ? spans_text(w->s, p->down_for) : (struct slice){0};
}

/* A request ended without a reply that was taken. */
static void end_request(struct walk *w, const struct process *p, struct call *c, int64_t until,
                        enum span_outcome outcome)
{
    const bool ended = outcome != SPAN_ELSEWHERE && outcome != SPAN_TIMEOUT;
    const struct event end = {.at = until, .peer = p->down_of};
    if (c->spawn && ended && c->callee == SPAN_NONE)
        c->callee = walk_add_leaf(w, c, &end);
    struct span_wait *wait = walk_end_call(w, p, c, until, outcome);
    if (outcome == SPAN_ELSEWHERE)
        wait->process = spans_process(w->s, p->arrived_of);
    else if (c->spawn && ended)
        wait->process = spans_process(w->s, p->down_of);
    if (ended && outcome != SPAN_OK)
        wait->at = spans_text(w->s, p->down_for);
}

void walk_settle(struct walk *w, struct process *p, int64_t now)
{
    const struct gap gap = p->gap;
    int64_t until = gap.resumed ? gap.until : now;
    if (!gap.open)
        return;
    struct call *c = p->top != SPAN_NONE ? walk_open_call(w, p, p->top) : NULL;
    enum span_outcome outcome = walk_ended_as(w, p, c);
    if (outcome != SPAN_UNKNOWN)
        end_request(w, p, c, until, outcome);
    else if (p->top != SPAN_NONE)
        add_gap(w, p, until);
    p->gap.open = false;
}
