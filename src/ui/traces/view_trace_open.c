/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An event that is open: its terms whole, a level of brackets a step, as far as they were sent. */
#include "view_trace.h"

#include <math.h>
#include <stdio.h>

#include "beamtop/base/text.h"
#include "beamtop/trace/values.h"
#include "ui/widgets/pretty.h"

#define LABEL_AT 2
#define LABEL_WIDTH 6
#define TEXT_BYTES (2u * 1024 * 1024) /* a term of the largest size, as digits and commas */
#define MOST_LINES 2000               /* of one term */

struct open {
    const struct event_look *l;
    const struct trace_event *e;
    struct opened *opened;
    unsigned part, deepest, term;
    const char *label; /* before the next line; NULL once it is printed */
    enum style label_style, style;
    size_t lines;
};

static void begin_label(struct open *o)
{
    struct view_page *page = o->l->page;
    event_link(o->l, page_line(page), o->e, ++o->part);
    page_tab(page, LABEL_AT);
    if (o->label)
        page_puts(page, o->label_style, o->label);
    o->label = NULL;
}

static void begin_part(struct open *o)
{
    begin_label(o);
    page_tab(o->l->page, LABEL_AT + LABEL_WIDTH);
}

/* A term within the event: which of its terms, where in its text, in which spelling. */
static uint64_t fold_of(const struct open *o, size_t bracket)
{
    uint64_t term = (uint64_t)o->l->syntax << 16 | o->term;
    return term << 32 | (uint32_t)(bracket + 1);
}

static bool is_turned(void *arg, size_t bracket)
{
    const struct open *o = arg;
    uint64_t fold = fold_of(o, bracket);
    for (size_t i = 0; i < o->opened->n_turned; i++)
        if (o->opened->turned[i] == fold)
            return true;
    return false;
}

/* What Enter opens or closes has a mark before it. */
static void mark_bracket(const struct open *o, const struct pretty_line *line)
{
    struct view_page *page = o->l->page;
    if (line->bracket == PRETTY_NONE)
        return;
    page->lines[page->n_lines - 1].link.fold = fold_of(o, line->bracket);
    page_tab(page, LABEL_AT + LABEL_WIDTH - 2);
    if (page->ascii)
        page_puts(page, STYLE_DIM, line->folded ? "+" : "-");
    else
        page_puts(page, STYLE_DIM, line->folded ? "▸" : "▾");
}

static void put_open_line(void *arg, const struct pretty_line *line)
{
    struct open *o = arg;
    if (++o->lines > MOST_LINES)
        return;
    begin_label(o);
    mark_bracket(o, line);
    page_tab(o->l->page, LABEL_AT + LABEL_WIDTH);
    if (line->indent > 0)
        page_printf(o->l->page, STYLE_NORMAL, "%*s", line->indent, "");
    page_put(o->l->page, o->style, line->s, line->len);
}

static void more_lines(struct open *o)
{
    char n[32];
    if (o->lines <= MOST_LINES)
        return;
    begin_part(o);
    page_printf(o->l->page, STYLE_WARN, "%s lines more: save the trace to see them, or fold it",
                text_integer(n, sizeof n, (int64_t)(o->lines - MOST_LINES)));
}

static void put_size(struct open *o, uint64_t full_bytes)
{
    char whole[32], most[32];
    uint64_t cap = trace_log_state(o->l->log)->caps.value[CAP_TERM_BYTES];
    if (full_bytes == 0)
        return;
    begin_part(o);
    page_printf(o->l->page, STYLE_WARN, "%s", o->l->page->ascii ? "" : "✂ ");
    page_printf(o->l->page, STYLE_WARN, "truncated on the node: full size %s, cap %s",
                text_bytes(whole, sizeof whole, (double)full_bytes),
                text_bytes(most, sizeof most, (double)cap));
}

static void put_open_term(struct open *o, const char *label, const char *before,
                          enum style label_style, enum style style, const struct kept_term *term)
{
    struct event_look whole = *o->l;
    struct buf text;
    int columns = o->l->columns - LABEL_AT - LABEL_WIDTH;
    struct pretty setup = {columns, o->opened->levels, put_open_line, is_turned, o};
    if (!term->bytes.s)
        return;
    whole.term_bytes = TEXT_BYTES;
    buf_init(&text, 0);
    buf_puts(&text, before);
    event_term(&whole, term, &text);
    o->label = label;
    o->label_style = label_style;
    o->style = style;
    o->lines = 0;
    o->term++;
    unsigned deepest = pretty_print(&setup, (const char *)text.data, text.len);
    o->deepest = deepest > o->deepest ? deepest : o->deepest;
    more_lines(o);
    buf_clear(&text);
}

static void put_open_args(struct open *o)
{
    struct trace_values v;
    struct slice term;
    char label[16];
    const struct kept_term *args = &o->e->args;
    if (!trace_values_init(&v, args->bytes)) {
        put_open_term(o, "args", "", STYLE_LABEL, STYLE_NORMAL, args);
    } else {
        for (unsigned i = 1; trace_values_next(&v, &term); i++) {
            struct kept_term one = {term, args->full_bytes};
            snprintf(label, sizeof label, "%u", i);
            put_open_term(o, label, "", STYLE_LABEL, STYLE_NORMAL, &one);
        }
    }
    put_size(o, args->full_bytes);
}

static void put_open_result(struct open *o)
{
    const struct trace_event *e = o->e;
    char class[64];
    if (e->outcome == OUTCOME_RETURN) {
        put_open_term(o, "->", "", STYLE_OK, STYLE_VALUE, &e->result);
    } else if (e->outcome == OUTCOME_EXCEPTION) {
        snprintf(class, sizeof class, "%.*s:", (int)e->class.len, e->class.s ? e->class.s : "");
        put_open_term(o, "!!", class, STYLE_ALARM, STYLE_ERROR, &e->result);
    } else if (e->outcome == OUTCOME_OPEN) {
        o->label = "";
        begin_part(o);
        page_puts(o->l->page, STYLE_WARN,
                  o->l->ended ? "not returned when the trace ended" : "not returned yet");
    }
    put_size(o, e->result.full_bytes);
}

static void put_frame(struct open *o, const char *label, const struct mfa *mfa)
{
    struct buf text;
    buf_init(&text, 0);
    event_mfa(o->l, mfa, &text);
    o->label = label;
    o->label_style = STYLE_LABEL;
    begin_part(o);
    page_put(o->l->page, STYLE_FUNCTION, (const char *)text.data, text.len);
    buf_clear(&text);
}

/* Of several nodes: how much its time may be wrong, and what follows from that. */
static void put_clock(struct open *o)
{
    const struct trace_event *e = o->e;
    char bound[32] = "";
    o->label = "clock";
    o->label_style = STYLE_LABEL;
    begin_part(o);
    if (isnan(e->bound_us))
        page_puts(o->l->page, STYLE_WARN, "not compared: the time is when the event came");
    else
        page_printf(o->l->page, STYLE_NORMAL, "%s%s", o->l->page->ascii ? "+/-" : "±",
                    page_duration(o->l->page, bound, sizeof bound, e->bound_us / 1e6));
    if (e->late || e->same_time)
        page_puts(o->l->page, STYLE_WARN,
                  e->late ? ", came late: it belongs above"
                          : ", the same time as an event of another node above: order unknown");
}

/* Of several patterns the one that it is of; and how deep in calls of the same trace. */
static void put_rest(struct open *o)
{
    const struct pattern *p = event_pattern(o->l, o->e);
    if (o->e->depth > 0) {
        o->label = "within";
        o->label_style = STYLE_LABEL;
        begin_part(o);
        page_printf(o->l->page, STYLE_NORMAL, "%u call%s of this process not returned yet",
                    o->e->depth, o->e->depth == 1 ? "" : "s");
    }
    if (o->e->node.len > 0)
        put_clock(o);
    if (p && trace_log_patterns(o->l->log) > 1) {
        o->label = "of";
        o->label_style = STYLE_LABEL;
        begin_part(o);
        page_slice(o->l->page, STYLE_DIM, p->typed);
    }
}

void event_open(const struct event_look *l, const struct trace_event *e, struct opened *opened)
{
    struct open o = {.l = l, .e = e, .opened = opened};
    if (e->kind == EVENT_CALL) {
        put_open_args(&o);
        put_open_result(&o);
    } else {
        put_open_term(&o, "", "", STYLE_LABEL, STYLE_NORMAL, &e->message);
        put_size(&o, e->message.full_bytes);
    }
    if (e->caller.module.len > 0)
        put_frame(&o, "from", &e->caller);
    for (size_t i = 0; i < e->n_stack; i++)
        put_frame(&o, i == 0 ? "stack" : "", &e->stack[i]);
    put_rest(&o);
    opened->deepest = o.deepest;
}
