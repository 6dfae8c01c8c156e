#include "trace_line.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/etf/print.h"
#include "beamtop/trace/values.h"

/* A term of the largest size that the caps allow, as digits and commas. */
#define TERM_TEXT_BYTES (2u * 1024 * 1024)

static const char *const kind_names[LINE_KINDS] = {
    [LINE_CALL] = "call",       [LINE_RETURN] = "return", [LINE_EXCEPTION] = "exception",
    [LINE_SEND] = "send",       [LINE_RECEIVE] = "receive", [LINE_LOST] = "lost",
};

const char *trace_line_kind_name(enum trace_line_kind kind)
{
    return kind_names[kind];
}

/* Where texts are kept, and how they are spelled. */
struct speller {
    struct arena *arena;
    enum print_syntax syntax;
    bool cuts; /* the term has been cut */
};

static struct slice keep(struct arena *arena, struct buf *b)
{
    struct slice s = {arena_strndup(arena, (const char *)b->data, b->len), b->len};
    buf_clear(b);
    return s;
}

static struct slice term_text(const struct speller *s, struct slice term)
{
    const struct print_limits limits = {
        .bytes = TERM_TEXT_BYTES, .syntax = s->syntax, .cuts = s->cuts};
    struct buf b;
    if (term.s == NULL)
        return (struct slice){0};
    buf_init(&b, 0);
    print_term(&b, (const uint8_t *)term.s, term.len, &limits);
    return keep(s->arena, &b);
}

static struct slice mfa_text(const struct speller *s, const struct mfa *mfa)
{
    struct buf b;
    if (mfa->module.len == 0)
        return (struct slice){0};
    buf_init(&b, 0);
    print_mfa_as(&b, s->syntax, mfa->module, mfa->function, mfa->arity);
    return keep(s->arena, &b);
}

static struct slice pid_text(const struct speller *s, const struct etf_pid *pid)
{
    struct buf b;
    buf_init(&b, 0);
    print_pid(&b, pid);
    return keep(s->arena, &b);
}

static bool take_args(struct trace_line *out, const struct speller *s, struct slice list)
{
    struct trace_values v;
    struct slice term;
    if (!trace_values_init(&v, list))
        return false;
    struct slice *args = arena_alloc(s->arena, (v.left + 1) * sizeof *args);
    while (trace_values_next(&v, &term))
        args[out->n_args++] = term_text(s, term);
    out->args = args;
    return true;
}

static void add_args(struct trace_line *out, const struct speller *s, const struct trace_event *event)
{
    if (event->args.bytes.s == NULL)
        return;
    if (!take_args(out, s, event->args.bytes)) {
        struct slice *whole = arena_alloc(s->arena, sizeof *whole);
        *whole = term_text(s, event->args.bytes);
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

static void add_call(struct trace_line *out, const struct speller *s, const struct trace_event *event)
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
}

static void add_result(struct trace_line *out, const struct speller *s,
                       const struct trace_event *event)
{
    out->kind = event->outcome == OUTCOME_EXCEPTION ? LINE_EXCEPTION : LINE_RETURN;
    out->result = term_text(s, event->result.bytes);
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
    out->message = term_text(s, event->message.bytes);
    out->to = term_text(s, event->to.bytes);
    out->no_receiver = event->no_receiver;
    add_size(out, &event->message);
}

static void add_lost(struct trace_line *out, const struct trace_event *event)
{
    out->kind = LINE_LOST;
    out->lost = (int64_t)event->lost;
    out->at_most = event->at_most;
    out->duration_us = event->until_ns > event->mono_ns ? (event->until_ns - event->mono_ns) / 1000
                                                        : -1;
    out->why = (struct slice){event->why, strlen(event->why)};
}

void trace_line_make(struct trace_line *out, struct arena *arena, enum print_syntax syntax,
                     const struct trace_log *log, const struct trace_event *event, bool finished)
{
    const struct kept_term *term = event->kind != EVENT_CALL ? &event->message
                                   : finished ? &event->result : &event->args;
    const struct speller own = {arena, syntax, term->full_bytes > 0}, *s = &own;
    *out = (struct trace_line){.event = event, .full_bytes = -1, .duration_us = -1,
                               .latency_us = NAN};
    out->id = (int64_t)event->id;
    out->wall_us = event->wall_us;
    out->mono_ns = event->mono_ns;
    if (event->pattern < trace_log_patterns(log)) {
        out->pattern = trace_log_pattern(log, event->pattern)->pattern;
        out->pattern_text = out->pattern != NULL ? out->pattern->source : (struct slice){0};
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

/* ---- what it came to */

static void put_counts(struct trace_tally *out, const struct trace_counts *c)
{
    out->calls = c->calls_known ? (int64_t)c->calls : -1;
    out->seen = (int64_t)c->seen;
    out->shown = (int64_t)c->shown;
    out->filtered = (int64_t)c->filtered;
    out->cut = (int64_t)c->cut;
    out->over = (int64_t)c->over;
    out->lost = (int64_t)c->lost;
    out->missed = (int64_t)c->missed;
    out->missed_at_most = c->missed_at_most;
    out->open = (int64_t)c->open;
    out->time_us = (int64_t)c->time_us;
}

static double percentile_us(const struct histogram *h, double share)
{
    return h->total == 0 ? NAN : (double)histogram_at(h, share) / 1000;
}

void trace_tally_total(struct trace_tally *out, const struct trace_log *log)
{
    const struct trace_state *state = trace_log_state(log);
    *out = (struct trace_tally){.functions = (int64_t)state->preflight.functions,
                                .p50_us = NAN, .p90_us = NAN, .p99_us = NAN, .max_us = NAN};
    put_counts(out, &state->total);
}

void trace_tally_pattern(struct trace_tally *out, const struct trace_pattern_info *info)
{
    const struct histogram *h = &info->latency;
    *out = (struct trace_tally){.functions = (int64_t)info->functions};
    if (info->pattern != NULL)
        out->pattern = info->pattern->source;
    put_counts(out, &info->counts);
    out->p50_us = percentile_us(h, 0.5);
    out->p90_us = percentile_us(h, 0.9);
    out->p99_us = percentile_us(h, 0.99);
    out->max_us = h->total == 0 ? NAN : (double)h->max_ns / 1000;
}

void trace_counter_make(struct trace_counter *out, struct arena *arena,
                        enum print_syntax syntax, const struct trace_function *function)
{
    const struct speller s = {arena, syntax, false};
    out->mfa = mfa_text(&s, &function->mfa);
    out->calls = (int64_t)function->calls;
    out->time_us = (int64_t)function->time_us;
}

const char *trace_reason(const struct trace_state *state)
{
    if (state->phase == TRACE_FAILED)
        return "failed";
    return state->end == END_NONE ? "not_armed" : trace_end_name(state->end);
}
