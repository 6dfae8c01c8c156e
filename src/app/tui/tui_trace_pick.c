/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Patterns to choose from: recent ones, useful ones, what is under the cursor. */
#include <stdio.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/finding.h"
#include "beamtop/trace/library.h"
#include "tui_trace_start.h"

#define RECENT 10 /* patterns typed before, above the library's */
#define LIBRARY_MOST 64

static enum syntax node_syntax(const struct tui_trace *tr)
{
    struct trace_request defaults;
    const struct node_info *node = model_node(tr->s.tui->model);
    settings_request(&tr->s.tui->settings, false, &defaults);
    if (defaults.syntax != SYNTAX_AUTO)
        return defaults.syntax;
    return node && node->elixir.len > 0 ? SYNTAX_ELIXIR : SYNTAX_ERLANG;
}

/* ---- the picker */

static bool is_new(const struct screen_choice *choices, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(choices[i].text, text) == 0)
            return false;
    return true;
}

void tui_trace_library(struct tui_trace *tr, const char *unused)
{
    (void)unused;
    struct screen_choice choices[RECENT + LIBRARY_MOST];
    enum syntax syntax = node_syntax(tr);
    const char *line;
    size_t n = 0;
    for (size_t age = 0; n < RECENT; age++) {
        line = prompt_history_line(tr->s.tui->prompt, PROMPT_TRACE, age);
        if (!line)
            break;
        if (is_new(choices, n, line))
            choices[n++] = (struct screen_choice){.title = "typed before", .text = line};
    }
    for (const struct library_row *row = library_table; row->title && n < ARRAY_LEN(choices); row++)
        choices[n++] =
            (struct screen_choice){.title = row->title, .text = library_text(row, syntax)};
    screen_choose(tr->s.tui->screen, "Trace", choices, n);
}

/* ---- what is under the cursor */

static void put_procs(struct buf *out, const struct etf_pid *pid)
{
    buf_puts(out, " --procs ");
    print_pid(out, pid);
}

static void put_event_pattern(struct tui_trace *tr, struct buf *out, const struct trace_event *e)
{
    enum print_syntax syntax = node_syntax(tr) == SYNTAX_ELIXIR ? PRINT_ELIXIR : PRINT_ERLANG;
    if (e->kind == EVENT_CALL) {
        print_mfa_as(out, syntax, e->mfa.module, e->mfa.function, e->mfa.arity);
        buf_puts(out, " -> return");
        return;
    }
    buf_puts(out, e->kind == EVENT_SEND ? "send(_, _)" : "receive(_)");
    put_procs(out, &e->pid);
}

static bool has_pid(const struct etf_pid *pid)
{
    return pid->id != 0 || pid->serial != 0;
}

/* A function by itself shows what it returns; one of a stack, of its process. */
static void put_whole_pattern(struct buf *out, const char *pattern, const struct etf_pid *pid)
{
    bool asks = strstr(pattern, " -> ") || strstr(pattern, " --");
    buf_printf(out, "%s%s", pattern, asks ? "" : " -> return");
    if (pid && has_pid(pid) && !strstr(pattern, " --procs"))
        put_procs(out, pid);
}

static const struct proc_row *find_process_row(const struct tui_trace *tr,
                                               const struct etf_pid *pid)
{
    const struct proc_scan *scan = model_scan(tr->s.tui->model);
    const struct proc_rows *newer = model_newer_rows(tr->s.tui->model);
    const struct process_detail *detail = model_process(tr->s.tui->model);
    for (size_t i = 0; scan && i < scan->n_rows; i++)
        if (pid_same(&scan->rows[i].pid, pid))
            return newer ? &newer->rows[i] : &scan->rows[i];
    return detail && pid_same(&detail->row.pid, pid) ? &detail->row : NULL;
}

/* Loops of OTP, in which servers wait: they do not return, and their arguments are large. */
static bool is_loop(struct slice function)
{
    static const char *const modules[] = {"gen_server:", "gen_statem:", "gen_event:", "gen:",
                                          "proc_lib:",   "erlang:",     "prim_inet:", "timer:"};
    for (size_t i = 0; i < ARRAY_LEN(modules); i++)
        if (slice_begins(function, modules[i]))
            return true;
    return false;
}

/* The function that says whose code a process runs: the first of its stack, or the one that it is
 * in, or began with, that is not a loop of OTP. */
static struct slice find_own_function(const struct tui_trace *tr, const struct etf_pid *pid)
{
    const struct process_detail *d = model_process(tr->s.tui->model);
    const struct proc_row *row = find_process_row(tr, pid);
    for (size_t i = 0; d && pid_same(&d->row.pid, pid) && i < d->n_stack; i++)
        if (!is_loop(d->stack[i].function))
            return d->stack[i].function;
    if (row && row->current_function.len > 0 && !is_loop(row->current_function))
        return row->current_function;
    if (row && row->initial_call.len > 0 && !is_loop(row->initial_call))
        return row->initial_call;
    return (struct slice){"", 0};
}

/* Of "'Elixir.Shop.Cart':add/2", "'Elixir.Shop.Cart'". */
static struct slice module_of_function(struct slice function)
{
    bool quoted = false;
    for (size_t i = 0; i < function.len; i++) {
        quoted = quoted != (function.s[i] == '\'');
        if (function.s[i] == ':' && !quoted)
            return (struct slice){function.s, i};
    }
    return (struct slice){"", 0};
}

#define PROCESS_CHOICES 6

struct process_menu {
    struct screen_choice choices[PROCESS_CHOICES];
    struct buf texts[PROCESS_CHOICES];
    size_t n;
    const struct etf_pid *pid;
};

static void add_choice(struct process_menu *m, const char *title, struct slice what,
                       const char *rest)
{
    struct buf *text = &m->texts[m->n];
    buf_init(text, 0);
    buf_put(text, what.s, what.len);
    buf_puts(text, rest);
    put_procs(text, m->pid);
    m->choices[m->n++] = (struct screen_choice){title, buf_cstr(text)};
}

/* What can be traced of a process, to choose from: its calls, its messages, who calls it. */
static void choose_of_process(struct tui_trace *tr, const struct etf_pid *pid)
{
    struct process_menu m = {.pid = pid};
    const struct slice function = find_own_function(tr, pid), module = module_of_function(function);
    const struct slice none = {"", 0};
    const bool elixir = node_syntax(tr) == SYNTAX_ELIXIR;
    if (module.len > 0) {
        add_choice(&m, "calls of its module", module, " -> return");
        add_choice(&m, "calls of its function", function, " -> return");
    }
    add_choice(&m, "messages it receives", none, "receive(_)");
    add_choice(&m, "messages it sends", none, "send(_, _)");
    add_choice(&m, "its callers", none,
               elixir ? "receive({:\"$gen_call\", _, _})" : "receive({'$gen_call', _, _})");
    screen_choose(tr->s.tui->screen, "Trace", m.choices, m.n);
    for (size_t i = 0; i < m.n; i++)
        buf_clear(&m.texts[i]);
}

static bool is_of_span(const struct view_link *link)
{
    return link->kind == TARGET_REQUEST || link->kind == TARGET_SPAN;
}

static const struct finding *finding_of(const struct tui_trace *tr, const struct view_link *link)
{
    return link->id && !is_of_span(link) ? findings_find(model_findings(tr->s.tui->model), link->id)
                                         : NULL;
}

/* Of a pattern, its function. */
static void put_pattern_function(struct buf *out, const char *pattern)
{
    buf_put(out, pattern, strcspn(pattern, " ("));
}

/* The process that a view is of goes before its relations, on which its cursor is; a function of
 * its stack goes before that. */
static struct view_link meant_link(const struct tui_trace *tr)
{
    struct view_link link = screen_link(tr->s.tui->screen);
    if (link.kind == TARGET_FUNCTION || link.kind == TARGET_TABLE)
        return link;
    return screen_process(tr->s.tui->screen, tr->s.tui->model, &link)
               ? link
               : screen_link(tr->s.tui->screen);
}

void tui_trace_function(struct tui *t, struct buf *out)
{
    const struct tui_trace *tr = t->own[OWNER_TRACE];
    const struct view_link link = meant_link(tr);
    const struct finding *found = finding_of(tr, &link);
    const struct trace_event *e = tui_trace_event(tr, &link);
    if (e && e->kind == EVENT_CALL) {
        print_mfa_as(out, PRINT_ERLANG, e->mfa.module, e->mfa.function, e->mfa.arity);
    } else if (found && *found->trace) {
        put_pattern_function(out, found->trace);
    } else if (link.kind == TARGET_FUNCTION || (is_of_span(&link) && *link.name)) {
        put_pattern_function(out, link.name);
    } else if (link.kind == TARGET_PROCESS) {
        const struct proc_row *row = find_process_row(tr, &link.pid);
        if (row)
            buf_put(out, row->current_function.s, row->current_function.len);
    }
}

/* Who writes to it: what has no name is known by its owner only. */
static void put_table_pattern(struct buf *out, const struct view_link *table)
{
    const bool is_named = *table->name && *table->name != '#';
    struct buf pattern;
    buf_init(&pattern, 0);
    buf_printf(&pattern, "ets:insert(%s, _) -> caller", is_named ? table->name : "_");
    put_whole_pattern(out, buf_cstr(&pattern), is_named ? NULL : &table->pid);
    buf_clear(&pattern);
}

void tui_trace_row(struct tui_trace *tr, const char *unused)
{
    (void)unused;
    const struct view_link link = meant_link(tr);
    const bool of_span = is_of_span(&link);
    const struct finding *found = finding_of(tr, &link);
    const struct trace_event *e = tui_trace_event(tr, &link);
    struct buf text;
    buf_init(&text, 0);
    if (e && e->kind != EVENT_LOST)
        put_event_pattern(tr, &text, e);
    else if (found && *found->trace)
        put_whole_pattern(&text, found->trace, NULL);
    else if (link.kind == TARGET_FUNCTION || (of_span && *link.name))
        put_whole_pattern(&text, link.name, link.kind == TARGET_FUNCTION ? &link.pid : NULL);
    else if (link.kind == TARGET_TABLE)
        put_table_pattern(&text, &link);
    else if (link.kind == TARGET_PROCESS || (of_span && has_pid(&link.pid)))
        choose_of_process(tr, &link.pid);
    else
        tui_message(tr->s.tui, STYLE_MESSAGE,
                    found ? "this finding names no process or function"
                          : "put the cursor on a process, a function or an event");
    if (text.len > 0)
        tui_trace_prompt(tr, buf_cstr(&text));
    buf_clear(&text);
}

void tui_trace_process(struct tui_trace *tr, const char *unused)
{
    (void)unused;
    struct view_link link = screen_link(tr->s.tui->screen);
    if (!screen_process(tr->s.tui->screen, tr->s.tui->model, &link))
        tui_message(tr->s.tui, STYLE_MESSAGE, "choose a process: Enter on a row opens it");
    else if (link.kind != TARGET_PROCESS)
        tui_message(tr->s.tui, STYLE_MESSAGE,
                    "the process is not known yet: press again when it is shown");
    else
        choose_of_process(tr, &link.pid);
}
