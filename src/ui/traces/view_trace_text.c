/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of an event of a trace. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/trace/values.h"
#include "view_trace.h"

const struct pattern *event_pattern(const struct event_look *l, const struct trace_event *e)
{
    return e->pattern < trace_log_patterns(l->log) ? trace_log_pattern(l->log, e->pattern)->pattern
                                                   : NULL;
}

/* The text that a recording without values has instead of a term, as much of it as terms may
 * have. */
static void put_term_text(const struct event_look *l, struct slice term, struct buf *out)
{
    struct cursor c;
    struct slice text;
    cursor_init(&c, (const uint8_t *)term.s, term.len);
    if (!cursor_binary(&c, &text))
        return;
    size_t len = text.len < l->term_bytes ? text.len : l->term_bytes;
    while (len < text.len && len > 0 && ((unsigned char)text.s[len] & 0xc0) == 0x80)
        len--;
    text_put_safe(out, text.s, len, l->page->ascii);
    buf_puts(out, len < text.len ? "..." : "");
}

static void put_bytes(const struct event_look *l, struct slice term, bool cuts, struct buf *out)
{
    if (term.s && trace_log_state(l->log)->texts) {
        put_term_text(l, term, out);
        return;
    }
    const struct print_limits limits = {.bytes = l->term_bytes, .syntax = l->syntax, .cuts = cuts};
    if (term.s)
        print_term(out, (const uint8_t *)term.s, term.len, &limits);
}

void event_term(const struct event_look *l, const struct kept_term *term, struct buf *out)
{
    put_bytes(l, term->bytes, term->full_bytes > 0, out);
}

void event_mfa(const struct event_look *l, const struct mfa *mfa, struct buf *out)
{
    if (mfa->module.len > 0)
        print_mfa_as(out, l->syntax, mfa->module, mfa->function, mfa->arity);
    else /* of a recording, and not understood */
        text_put_safe(out, mfa->function.s, mfa->function.len, l->page->ascii);
}

/* The values between commas; returns how many. */
static size_t put_values(const struct event_look *l, const struct trace_event *e, struct buf *out)
{
    struct trace_values v;
    struct slice term;
    size_t n = 0;
    if (!trace_values_init(&v, e->args.bytes)) {
        event_term(l, &e->args, out);
        return e->args.bytes.s != NULL;
    }
    while (trace_values_next(&v, &term)) {
        if (n++ > 0)
            buf_puts(out, ", ");
        put_bytes(l, term, e->args.full_bytes > 0, out);
    }
    return n;
}

/* "m:f" and "(1, 2)"; "m:f/2" and " show(1)"; "m:f/2" where no arguments were sent. */
static void put_call_text(const struct event_look *l, const struct trace_event *e, struct buf *name,
                          struct buf *args)
{
    event_mfa(l, &e->mfa, name);
    buf_puts(args, e->shown_only ? " show(" : "(");
    size_t n = put_values(l, e, args);
    buf_puts(args, ")");
    bool sent = n > 0 || e->shown_only || e->mfa.arity == 0;
    if (!sent)
        args->len = 0;
    while (sent && !e->shown_only && name->len > 0 && name->data[--name->len] != '/')
        ;
}

static void put_message_text(const struct event_look *l, const struct trace_event *e,
                             struct buf *name, struct buf *args)
{
    buf_puts(name, e->kind == EVENT_SEND ? "sent to " : "received");
    if (e->kind == EVENT_SEND)
        event_term(l, &e->to, name);
    buf_puts(args, ": ");
    event_term(l, &e->message, args);
}

static const struct {
    const char *why, *says;
} reasons[] = {
    {"rate", "rate cap"},
    {"window", "window full"},
    {"bytes", "byte cap"},
    {"credit", "terminal or connection too slow"},
};

void event_lost(const struct trace_event *e, struct buf *out)
{
    char n[32], all[32], took[32];
    const char *says = e->why;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        says = strcmp(reasons[i].why, e->why) == 0 ? reasons[i].says : says;
    if (e->lost > 0)
        buf_printf(out, "showing %s of %s%s calls", text_integer(n, sizeof n, (int64_t)e->shown),
                   e->at_most ? "at most " : "",
                   text_integer(all, sizeof all, (int64_t)(e->shown + e->lost)));
    else
        buf_puts(out, "messages may be missing");
    took[0] = '\0';
    if (e->until_ns > e->mono_ns)
        text_duration(took, sizeof took, (double)(e->until_ns - e->mono_ns) / 1e9);
    if (*says || *took)
        buf_printf(out, " (%s%s%s)", says, *says && *took ? ", " : "", took);
}

static void put_took(const struct event_look *l, const struct trace_event *e, char *out,
                     size_t size)
{
    bool back = e->outcome == OUTCOME_RETURN || e->outcome == OUTCOME_EXCEPTION;
    out[0] = '\0';
    if (back)
        page_duration(l->page, out, size, (double)e->latency_ns / 1e9);
}

static void put_result_text(const struct event_look *l, const struct trace_event *e,
                            struct buf *mark, struct buf *value)
{
    if (e->outcome == OUTCOME_RETURN) {
        buf_puts(mark, "-> ");
        event_term(l, &e->result, value);
    } else if (e->outcome == OUTCOME_EXCEPTION) {
        buf_puts(mark, "!! ");
        buf_put(mark, e->class.s, e->class.len);
        buf_puts(mark, ":");
        event_term(l, &e->result, value);
    } else if (e->outcome == OUTCOME_OPEN) {
        buf_puts(mark, l->ended ? "not returned when the trace ended" : "not returned yet");
    }
}

static void put_cut_term(const struct event_look *l, const struct kept_term *term, char *out,
                         size_t size)
{
    char whole[32];
    out[0] = '\0';
    if (term->full_bytes > 0)
        snprintf(out, size, l->page->ascii ? " (of %s)" : " ✂ of %s",
                 text_bytes(whole, sizeof whole, (double)term->full_bytes));
}

void event_parts_make(struct event_parts *p, const struct event_look *l,
                      const struct trace_event *e)
{
    const struct pattern *pattern = event_pattern(l, e);
    struct buf *all[] = {&p->name, &p->args, &p->mark, &p->value, &p->caller};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        buf_init(all[i], 0);
    if (e->kind == EVENT_CALL)
        put_call_text(l, e, &p->name, &p->args);
    else if (e->kind != EVENT_LOST)
        put_message_text(l, e, &p->name, &p->args);
    put_result_text(l, e, &p->mark, &p->value);
    put_took(l, e, p->took, sizeof p->took);
    put_cut_term(l, e->kind == EVENT_CALL ? &e->args : &e->message, p->cut, sizeof p->cut);
    put_cut_term(l, &e->result, p->result_cut, sizeof p->result_cut);
    if (e->caller.module.len > 0 && pattern && pattern->actions & TRACE_CALLER) {
        buf_puts(&p->caller, l->page->ascii ? "<- " : "← ");
        event_mfa(l, &e->caller, &p->caller);
    } else if (e->kind == EVENT_SEND && e->no_receiver) {
        buf_puts(&p->caller, "no receiver");
    }
    bool raised = e->outcome == OUTCOME_EXCEPTION;
    p->mark_style = raised ? STYLE_ALARM : e->outcome == OUTCOME_OPEN ? STYLE_WARN : STYLE_OK;
    p->value_style = raised ? STYLE_ERROR : STYLE_VALUE;
}

void event_parts_clear(struct event_parts *p)
{
    struct buf *all[] = {&p->name, &p->args, &p->mark, &p->value, &p->caller};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        buf_clear(all[i]);
}

bool event_matches(const struct event_look *l, const struct trace_event *e, struct regex *re)
{
    struct event_parts p;
    struct buf all;
    char pid[48];
    event_parts_make(&p, l, e);
    buf_init(&all, 0);
    if (e->kind == EVENT_LOST)
        event_lost(e, &all);
    else
        buf_printf(&all, "%s ", pid_text(pid, sizeof pid, &e->pid));
    buf_put(&all, e->name.s, e->name.len);
    if (e->node.len > 0)
        buf_printf(&all, " %.*s ", (int)e->node.len, e->node.s);
    const struct buf *in[] = {&p.name, &p.args, &p.mark, &p.value, &p.caller};
    for (size_t i = 0; i < sizeof in / sizeof in[0]; i++) {
        if (i != 1 && i != 3) /* those go on where the one before ends */
            buf_puts(&all, " ");
        buf_put(&all, in[i]->data, in[i]->len);
    }
    bool matches = regex_match(re, (const char *)all.data, all.len);
    buf_clear(&all);
    event_parts_clear(&p);
    return matches;
}
