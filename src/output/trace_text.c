/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines much like redbug's: each event after an empty line, every line behind a percent sign. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "beamtop/base/text.h"
#include "beamtop/output/trace_line.h"

static void put_safe(struct buf *out, struct slice text, bool ascii)
{
    text_put_safe(out, text.s, text.len, ascii);
}

static void put_duration(struct buf *out, double seconds, bool ascii)
{
    char text[32];
    buf_puts(out, text_duration_as(text, sizeof text, seconds, ascii));
}

/* "18:32:54.123456", UTC as redbug has it. */
static void put_line_time(struct buf *out, int64_t wall_us)
{
    char text[16];
    buf_puts(out, text_time(text, sizeof text, wall_us, 0, 6) ? text : "--:--:--");
}

/* "=" before the bound: its order to a line of another node above is not known. */
static void put_place(struct buf *out, const struct trace_place *p, bool ascii)
{
    buf_puts(out, p->late ? " late " : p->same_time ? " = " : " ");
    if (!isnan(p->bound_us)) {
        buf_puts(out, ascii ? "+/-" : "±");
        put_duration(out, p->bound_us / 1e6, ascii);
        buf_put_u8(out, ' ');
    }
    put_safe(out, p->node, ascii);
}

static void put_line_head(struct buf *out, const struct trace_line *line, bool ascii)
{
    buf_puts(out, "\n% ");
    put_line_time(out, line->place ? line->place->here_us : line->wall_us);
    if (line->place)
        put_place(out, line->place, ascii);
    if (line->kind == LINE_LOST)
        return;
    buf_put_u8(out, ' ');
    put_safe(out, line->pid, ascii);
    buf_put_u8(out, '(');
    put_safe(out, line->name, ascii);
    buf_put_u8(out, ')');
    if (!isnan(line->latency_us)) {
        buf_puts(out, " after ");
        put_duration(out, line->latency_us / 1e6, ascii);
    }
    buf_puts(out, "\n% ");
}

/* An argument, a result, a message. */
static void put_redbug_value(struct buf *out, struct slice value, bool ascii)
{
    if (value.len > 0)
        put_safe(out, value, ascii);
    else
        buf_puts(out, "(not recorded)");
}

static void put_redbug_args(struct buf *out, const struct trace_line *line, bool ascii)
{
    for (size_t i = 0; i < line->n_args; i++) {
        if (i > 0)
            buf_puts(out, ", ");
        put_safe(out, line->args[i], ascii);
    }
}

/* The function's name without its arity. */
static struct slice bare_name(const struct trace_line *line)
{
    struct slice name = line->mfa;
    while (name.len > 0 && name.s[name.len - 1] != '/')
        name.len--;
    if (name.len > 0)
        name.len--;
    return name;
}

static void put_redbug_call(struct buf *out, const struct trace_line *line, bool ascii)
{
    if (!line->has_args || line->shown_only) {
        put_safe(out, line->mfa, ascii);
    } else {
        put_safe(out, bare_name(line), ascii);
        buf_put_u8(out, '(');
        put_redbug_args(out, line, ascii);
        buf_put_u8(out, ')');
    }
    if (line->shown_only) {
        buf_puts(out, " show(");
        put_redbug_args(out, line, ascii);
        buf_put_u8(out, ')');
    }
    if (line->depth > 0)
        buf_printf(out, "\n%%   within %" PRId64 " call%s not returned yet", line->depth,
                   line->depth == 1 ? "" : "s");
    if (line->caller.len > 0 && line->shows_caller) {
        buf_puts(out, "\n%   from ");
        put_safe(out, line->caller, ascii);
    }
    for (size_t i = 0; i < line->n_stack; i++) {
        buf_puts(out, "\n%   ");
        put_safe(out, line->stack[i], ascii);
    }
}

static void put_redbug_result(struct buf *out, const struct trace_line *line, bool ascii)
{
    put_safe(out, line->mfa, ascii);
    if (line->kind == LINE_EXCEPTION) {
        buf_puts(out, " !! ");
        put_safe(out, line->class, ascii);
        buf_put_u8(out, ':');
    } else {
        buf_puts(out, " -> ");
    }
    put_redbug_value(out, line->result, ascii);
}

static void put_redbug_message(struct buf *out, const struct trace_line *line, bool ascii)
{
    if (line->kind == LINE_SEND) {
        put_safe(out, line->to, ascii);
        buf_put_u8(out, ' ');
    }
    buf_puts(out, "<<< ");
    put_redbug_value(out, line->message, ascii);
    if (line->no_receiver)
        buf_puts(out, "\n%   no receiver");
}

static void put_lost(struct buf *out, const struct trace_line *line, bool ascii)
{
    buf_printf(out, " lost: %s%" PRId64 " not shown (", line->at_most ? "at most " : "",
               line->lost);
    put_safe(out, line->why, ascii);
    if (line->duration_us >= 0) {
        buf_puts(out, ", for ");
        put_duration(out, (double)line->duration_us / 1e6, ascii);
    }
    buf_put_u8(out, ')');
}

void trace_text_put(struct buf *out, const struct trace_line *line, bool ascii)
{
    put_line_head(out, line, ascii);
    switch (line->kind) {
    case LINE_CALL:
        put_redbug_call(out, line, ascii);
        break;
    case LINE_RETURN:
    case LINE_EXCEPTION:
        put_redbug_result(out, line, ascii);
        break;
    case LINE_SEND:
    case LINE_RECEIVE:
        put_redbug_message(out, line, ascii);
        break;
    case LINE_LOST:
    case LINE_KINDS:
        put_lost(out, line, ascii);
        break;
    }
    if (line->cut) {
        char text[32];
        buf_printf(out, "\n%%   truncated: full size %s",
                   text_bytes(text, sizeof text, (double)line->full_bytes));
    }
    buf_put_u8(out, '\n');
}

/* ---- the end */

static void put_tally(struct buf *out, const struct trace_tally *tally)
{
    const struct field_list *list = &trace_tally_fields;
    const char *between = "";
    for (size_t i = 0; i < list->n; i++) {
        const struct value v = field_value(&list->fields[i], tally);
        const char *title = list->fields[i].title, *key = list->fields[i].key;
        char number[32];
        if (!title || v.kind != VALUE_NUMBER || (v.integer == 0 && strcmp(key, "shown") != 0))
            continue;
        bool bound = tally->counts.missed_at_most && strcmp(key, "missed") == 0;
        bool one = v.integer == 1 && title[strlen(title) - 1] == 's';
        buf_printf(out, "%s%s%s %.*s", between, bound ? "at most " : "",
                   text_integer(number, sizeof number, v.integer),
                   (int)(strlen(title) - (one ? 1 : 0)), title);
        between = ", ";
    }
    buf_put_u8(out, '\n');
}

static void put_latency(struct buf *out, const struct trace_tally *tally, bool ascii)
{
    const struct {
        const char *title;
        double us;
    } rows[] = {{"p50", tally->p50_us},
                {"p90", tally->p90_us},
                {"p99", tally->p99_us},
                {"max", tally->max_us}};
    if (isnan(tally->max_us))
        return;
    buf_put_u8(out, '%');
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_printf(out, "%s%s ", i == 0 ? "   " : ", ", rows[i].title);
        put_duration(out, rows[i].us / 1e6, ascii);
    }
    buf_put_u8(out, '\n');
}

static void put_patterns(struct buf *out, const struct trace_ending *e, bool ascii)
{
    for (size_t i = 0; i < e->n_patterns; i++) {
        if (e->n_patterns > 1) {
            buf_puts(out, "% ");
            put_safe(out, e->patterns[i].pattern, ascii);
            buf_puts(out, ": ");
            put_tally(out, &e->patterns[i]);
        }
        put_latency(out, &e->patterns[i], ascii);
    }
}

/* As redbug prints them: count, total, mean, function. */
static void put_redbug_counts(struct buf *out, const struct trace_ending *e, bool ascii)
{
    for (size_t i = 0; i < e->n_functions; i++) {
        const struct trace_counter *f = &e->functions[i];
        char number[32];
        if (!(f->actions & (TRACE_COUNT | TRACE_TIME)) || f->calls <= 0)
            continue;
        buf_printf(out, "%% %12s : ", text_integer(number, sizeof number, f->calls));
        if (f->actions & TRACE_TIME)
            buf_printf(out, "%12.6f : %9.6f : ", (double)f->time_us / 1e6,
                       (double)f->time_us / 1e6 / (double)f->calls);
        put_safe(out, f->mfa, ascii);
        buf_put_u8(out, '\n');
    }
}

static void put_check(struct buf *out, const struct session_check *check, bool ascii)
{
    buf_puts(out, "% ");
    if (check->done && check->clean) {
        buf_puts(out, "verified after ");
        put_duration(out, (double)check->after_us / 1e6, ascii);
        buf_puts(out, ": nothing left on the node");
    } else if (check->done) {
        buf_printf(out,
                   "LEFT ON THE NODE: %" PRIu64 " breakpoints, %" PRIu64 " flags, %" PRIu64
                   " processes, %" PRIu64 " sessions, control word %" PRIu64 "%s",
                   check->breakpoints, check->flags, check->processes, check->sessions,
                   check->control_word, check->system_tracer ? ", the system tracer" : "");
    } else {
        buf_puts(out, "not verified: ");
    }
    text_put_safe(out, check->text, strlen(check->text), ascii);
    buf_put_u8(out, '\n');
}

void trace_text_end(struct buf *out, const struct trace_ending *e, bool ascii)
{
    struct slice why = e->reason_text;
    if (why.len == 0)
        why = trace_ending_armed(e) ? e->reason : (struct slice){"nothing was set", 15};
    buf_puts(out, "\n% done, ");
    put_safe(out, why, ascii);
    buf_put_u8(out, '\n');
    if (!trace_ending_armed(e))
        return;
    buf_puts(out, "% ");
    put_tally(out, &e->total);
    if (e->note.len > 0) {
        buf_puts(out, "% ");
        put_safe(out, e->note, ascii);
        buf_put_u8(out, '\n');
    }
    put_patterns(out, e, ascii);
    put_redbug_counts(out, e, ascii);
    put_check(out, &e->check, ascii);
}
