/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/output/trace_line.h"

#include <math.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/values.h"
#include "shape.h"

/* A term of the largest size that the caps allow, as digits and commas. */
#define TERM_TEXT_BYTES (2u * 1024 * 1024)

static const char *const kind_names[LINE_KINDS] = {
    [LINE_CALL] = "call", [LINE_RETURN] = "return",   [LINE_EXCEPTION] = "exception",
    [LINE_SEND] = "send", [LINE_RECEIVE] = "receive", [LINE_LOST] = "lost",
};

const char *trace_line_kind_name(enum trace_line_kind kind)
{
    return kind_names[kind];
}

/* Where texts are kept, and how they are spelled. */
struct speller {
    struct arena *arena;
    enum print_syntax syntax;
    enum trace_values_kept values;
    bool cuts; /* the term has been cut */
};

static struct slice term_text(const struct speller *s, struct slice term)
{
    const struct print_limits limits = {
        .bytes = TERM_TEXT_BYTES, .syntax = s->syntax, .cuts = s->cuts};
    struct slice text = {0};
    struct cursor c;
    struct buf b;
    if (!term.s)
        return text;
    if (s->values == VALUES_TEXTS) {
        cursor_init(&c, (const uint8_t *)term.s, term.len);
        return cursor_binary(&c, &text) ? slice_keep(s->arena, text) : text;
    }
    buf_init(&b, 0);
    print_term(&b, (const uint8_t *)term.s, term.len, &limits);
    return slice_take(s->arena, &b);
}

/* An argument, a result or a message: as much of it as is kept. */
static struct slice value_text(const struct speller *s, struct slice term)
{
    struct buf b;
    if (s->values == VALUES_WHOLE || s->values == VALUES_TEXTS || !term.s)
        return term_text(s, term);
    if (s->values == VALUES_NONE)
        return (struct slice){0};
    buf_init(&b, 0);
    shape_put(&b, term, s->cuts);
    return slice_take(s->arena, &b);
}

static struct slice mfa_text(const struct speller *s, const struct mfa *mfa)
{
    struct buf b;
    if (mfa->module.len == 0)
        return (struct slice){0};
    buf_init(&b, 0);
    print_mfa_as(&b, s->syntax, mfa->module, mfa->function, mfa->arity);
    return slice_take(s->arena, &b);
}

static struct slice pid_text(const struct speller *s, const struct etf_pid *pid)
{
    struct buf b;
    buf_init(&b, 0);
    print_pid(&b, pid);
    return slice_take(s->arena, &b);
}

static bool take_args(struct trace_line *out, const struct speller *s, struct slice list)
{
    struct trace_values v;
    struct slice term;
    if (!trace_values_init(&v, list))
        return false;
    struct slice *args = arena_alloc(s->arena, (v.left + 1) * sizeof *args);
    while (trace_values_next(&v, &term))
        args[out->n_args++] = value_text(s, term);
    out->args = args;
    return true;
}

static void add_args(struct trace_line *out, const struct speller *s,
                     const struct trace_event *event)
{
    if (!event->args.bytes.s || s->values == VALUES_NONE)
        return;
    if (!take_args(out, s, event->args.bytes)) {
        struct slice *whole = arena_alloc(s->arena, sizeof *whole);
        *whole = value_text(s, event->args.bytes);
        out->args = whole;
        out->n_args = 1;
    }
    /* A pattern that shows no arguments has none sent: the list is empty then. */
    out->has_args = event->shown_only || out->n_args > 0 || event->mfa.arity == 0;
    out->shown_only = event->shown_only;
}

static void add_size(struct trace_line *out, const struct kept_term *term)
{
    out->cut = term->full_bytes > 0;
    out->full_bytes = out->cut ? (int64_t)term->full_bytes : -1;
}

static void add_call(struct trace_line *out, const struct speller *s,
                     const struct trace_event *event)
{
    out->kind = LINE_CALL;
    out->depth = event->depth;
    out->caller = mfa_text(s, &event->caller);
    add_args(out, s, event);
    add_size(out, &event->args);
    if (event->n_stack == 0)
        return;
    struct slice *stack = arena_alloc(s->arena, event->n_stack * sizeof *stack);
    for (size_t i = 0; i < event->n_stack; i++)
        stack[i] = mfa_text(s, &event->stack[i]);
    out->stack = stack;
    out->n_stack = event->n_stack;
}

static void add_result(struct trace_line *out, const struct speller *s,
                       const struct trace_event *event)
{
    out->kind = event->outcome == OUTCOME_EXCEPTION ? LINE_EXCEPTION : LINE_RETURN;
    out->result = value_text(s, event->result.bytes);
    out->class = event->class;
    out->latency_us = (double)event->latency_ns / 1000;
    out->mono_ns += (int64_t)event->latency_ns;
    out->wall_us += (int64_t)(event->latency_ns / 1000);
    add_size(out, &event->result);
}

static void add_message(struct trace_line *out, const struct speller *s,
                        const struct trace_event *event)
{
    out->kind = event->kind == EVENT_SEND ? LINE_SEND : LINE_RECEIVE;
    out->message = value_text(s, event->message.bytes);
    out->to = term_text(s, event->to.bytes);
    out->no_receiver = event->no_receiver;
    add_size(out, &event->message);
}

static void add_lost(struct trace_line *out, const struct trace_event *event)
{
    out->kind = LINE_LOST;
    out->lost = (int64_t)event->lost;
    out->at_most = event->at_most;
    out->duration_us =
        event->until_ns > event->mono_ns ? (event->until_ns - event->mono_ns) / 1000 : -1;
    out->why = slice_of(event->why);
}

void trace_line_make(struct trace_line *out, const struct trace_layout *layout,
                     const struct trace_log *log, const struct trace_event *event, bool finished)
{
    const struct kept_term *term = event->kind != EVENT_CALL ? &event->message
                                   : finished                ? &event->result
                                                             : &event->args;
    const struct speller own = {layout->arena, layout->syntax, layout->values,
                                term->full_bytes > 0};
    const struct speller *s = &own;
    const struct pattern *pattern = NULL;
    *out = (struct trace_line){
        .full_bytes = -1, .duration_us = -1, .latency_us = NAN, .since_us = NAN};
    out->id = (int64_t)event->id;
    out->wall_us = event->wall_us;
    out->mono_ns = event->mono_ns;
    if (log && event->pattern < trace_log_patterns(log))
        pattern = trace_log_pattern(log, event->pattern)->pattern;
    if (pattern) {
        out->pattern_text = pattern->typed;
        out->shows_caller = (pattern->actions & TRACE_CALLER) != 0;
    }
    if (event->kind == EVENT_LOST) {
        add_lost(out, event);
        return;
    }
    out->pid = pid_text(s, &event->pid);
    out->name = event->name;
    if (event->kind != EVENT_CALL) {
        add_message(out, s, event);
        return;
    }
    out->mfa = mfa_text(s, &event->mfa);
    if (finished)
        add_result(out, s, event);
    else
        add_call(out, s, event);
}

void trace_line_keep(struct trace_line *line, struct arena *arena)
{
    struct slice *const borrowed[] = {&line->name, &line->class, &line->why, &line->pattern_text};
    for (size_t i = 0; i < ARRAY_LEN(borrowed); i++)
        if (borrowed[i]->len > 0)
            *borrowed[i] = slice_keep(arena, *borrowed[i]);
}

/* ---- what it came to */

static struct trace_counts counts_of(struct trace_counts c)
{
    c.calls = c.calls_known ? c.calls : UINT64_MAX;
    return c;
}

static double percentile_us(const struct histogram *h, double share)
{
    return h->total == 0 ? NAN : (double)histogram_at(h, share) / 1000;
}

static void make_total(struct trace_tally *out, const struct trace_log *log)
{
    const struct trace_state *state = trace_log_state(log);
    *out = (struct trace_tally){.functions = (int64_t)state->preflight.functions,
                                .counts = counts_of(state->total),
                                .p50_us = NAN,
                                .p90_us = NAN,
                                .p99_us = NAN,
                                .max_us = NAN};
}

static void make_tally(struct trace_tally *out, const struct trace_pattern_info *info)
{
    const struct histogram *h = &info->latency;
    *out = (struct trace_tally){.functions = (int64_t)info->functions,
                                .counts = counts_of(info->counts)};
    if (info->pattern)
        out->pattern = info->pattern->typed;
    out->p50_us = percentile_us(h, 0.5);
    out->p90_us = percentile_us(h, 0.9);
    out->p99_us = percentile_us(h, 0.99);
    out->max_us = h->total == 0 ? NAN : (double)h->max_ns / 1000;
}

static void make_counter(struct trace_counter *out, const struct speller *s,
                         const struct trace_log *log, const struct trace_function *f)
{
    *out = (struct trace_counter){
        .mfa = mfa_text(s, &f->mfa), .calls = (int64_t)f->calls, .time_us = (int64_t)f->time_us};
    const struct pattern *pattern =
        f->pattern < trace_log_patterns(log) ? trace_log_pattern(log, f->pattern)->pattern : NULL;
    if (pattern) {
        out->pattern = pattern->typed;
        out->actions = pattern->actions;
    }
}

static const char *ending_reason(const struct trace_state *state)
{
    if (state->status.phase == SESSION_FAILED)
        return "failed";
    return state->end == END_NONE || state->status.check.unarmed ? "not_started"
                                                                 : trace_end_name(state->end);
}

bool trace_ending_armed(const struct trace_ending *e)
{
    return !slice_is(e->reason, "failed") && !slice_is(e->reason, "not_started");
}

void trace_ending_make(struct trace_ending *out, const struct trace_layout *layout,
                       const struct trace_log *log)
{
    const struct trace_state *state = trace_log_state(log);
    const struct speller s = {layout->arena, layout->syntax, layout->values, false};
    *out = (struct trace_ending){.reason = slice_of(ending_reason(state)),
                                 .reason_text = slice_of(state->status.phase == SESSION_FAILED
                                                             ? state->status.error.text
                                                             : state->end_text),
                                 .note = slice_of(state->note),
                                 .procs = slice_of(state->status.procs),
                                 .elapsed_ms = (int64_t)state->used[CAP_TIME_MS],
                                 .bytes = (int64_t)state->used[CAP_BYTES],
                                 .isolated = state->isolated,
                                 .caps = state->caps,
                                 .preflight = state->preflight,
                                 .check = state->status.check,
                                 .n_patterns = trace_log_patterns(log),
                                 .n_functions = trace_log_functions(log)};
    make_total(&out->total, log);
    out->patterns = arena_alloc(s.arena, (out->n_patterns + 1) * sizeof *out->patterns);
    out->functions = arena_alloc(s.arena, (out->n_functions + 1) * sizeof *out->functions);
    for (size_t i = 0; i < out->n_patterns; i++)
        make_tally(&out->patterns[i], trace_log_pattern(log, i));
    for (size_t i = 0; i < out->n_functions; i++)
        make_counter(&out->functions[i], &s, log, trace_log_function(log, i));
}
