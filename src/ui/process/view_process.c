/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "view_process.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/process_name.h"
#include "beamtop/model/related.h"

#define SPARK_WINDOW 300 /* samples: five minutes at a second each */

static void process_want(const void *state, int rows, struct want *want)
{
    const struct process *p = state;
    (void)rows;
    if (p->link.kind == TARGET_NONE)
        return;
    struct want mine = {.needs = NEED(PROCESS) | (p->is_suspended ? NEED(SUSPENDERS) : 0)};
    mine.process = view_process_ref(&p->link);
    want_merge(want, &mine);
}

static int process_open(void *state, const struct view_link *link, struct error *err)
{
    struct process *p = state;
    (void)err;
    p->link = *link;
    return 0;
}

/* ---- pieces of lines */

static void put_value_bytes(struct view_page *page, double n)
{
    char text[32];
    page_puts(page, STYLE_VALUE, text_bytes(text, sizeof text, n));
}

static double bytes_of_words(const struct proc_row *row, int64_t n)
{
    return n < 0 || row->word_bytes < 0 ? NAN : (double)n * (double)row->word_bytes;
}

static void put_related(struct view_page *page, const struct related *r)
{
    struct view_line *line = page_line(page);
    char text[40];
    if (r->is_pid)
        link_process(&line->link, &r->pid, r->name);
    else if (r->name.len)
        link_name(&line->link, TARGET_NAME, r->name);
    page_puts(page, STYLE_NORMAL, "  ");
    if (r->is_pid)
        page_puts(page, STYLE_PID, pid_text(text, sizeof text, &r->pid));
    else
        page_slice(page, STYLE_PID, r->text);
    page_tab(page, LABEL + 2);
    page_slice(page, STYLE_NAME, page_name(page, r->name));
}

/* ---- the panels */

static void put_identity(struct view_page *page, const struct process_detail *d)
{
    const struct proc_row *row = &d->row;
    char text[64];
    /* Where the cursor begins: what is done there is done to the process. */
    link_name(&page_line(page)->link, TARGET_VIEW, (struct slice){"", 0});
    page_puts(page, STYLE_PID, pid_text(text, sizeof text, &row->pid));
    page_tab(page, LABEL);
    page_slice(page, STYLE_NAME, page_name(page, proc_row_display_name(row)));
    if (row->stuck)
        page_puts(page, STYLE_ALARM, "   stuck: message queue grows, no reductions");
    page_label(page, "status", LABEL);
    page_slice(page, STYLE_STATUS_WAITING, row->status);
    page_puts(page, STYLE_DIM, ", priority ");
    page_slice(page, STYLE_NORMAL, row->priority);
    page_puts(page, STYLE_DIM, row->trap_exit ? ", traps exits" : "");
    if (row->suspending > 0)
        page_printf(page, STYLE_WARN, ", suspends %lld others", (long long)row->suspending);
    page_label(page, "initial call", LABEL);
    page_slice(page, STYLE_FUNCTION, page_name(page, row->initial_call));
    if (process_call_is_loop(row->initial_call)) {
        page_label(page, "module", LABEL);
        page_puts(page, STYLE_DIM,
                  "unknown: before OTP 26.2 a server shows it only while it works");
    }
    if (row->application.len) {
        page_label(page, "application", LABEL);
        page_slice(page, STYLE_NORMAL, row->application);
    }
    if (row->label.len) {
        page_label(page, "label", LABEL);
        page_slice(page, STYLE_NAME, row->label);
    }
    page_label(page, "observed for", LABEL);
    text_duration(text, sizeof text, floor(row->age_s));
    page_printf(page, STYLE_NORMAL, "%s%s", row->age_is_minimum ? "at least " : "", text);
}

struct change {
    const char *name;
    const char *now, *per_s;
    const struct ring *history;
    bool alarm;
};

static void change_line(struct view_page *page, const struct change *c, int spark)
{
    page_label(page, c->name, LABEL);
    page_right(page, c->alarm ? STYLE_ALARM : STYLE_VALUE, 14, c->now);
    page_right(page, STYLE_NORMAL, 16, c->per_s);
    page_puts(page, STYLE_NORMAL, "  ");
    page_spark(page, c->history, spark, SPARK_WINDOW, NAN);
}

static void per_second(char *out, size_t size, double v, bool is_bytes)
{
    char text[32];
    if (isnan(v)) {
        snprintf(out, size, "–");
        return;
    }
    if (is_bytes)
        text_bytes(text, sizeof text, v);
    else
        text_count(text, sizeof text, v);
    snprintf(out, size, "%s%s/s", v > 0 ? "+" : "", text);
}

static void put_activity(struct view_page *page, const struct process_detail *d, int columns)
{
    const struct proc_row *row = &d->row;
    int spark = columns - LABEL - 34;
    spark = spark > 60 ? 60 : spark < 0 ? 0 : spark;
    char now[48], per_s[48];
    page_heading(page, "Activity");
    text_integer(now, sizeof now, row->reductions);
    per_second(per_s, sizeof per_s, row->reductions_per_s, false);
    change_line(page, &(struct change){"reductions", now, per_s, d->reductions_history, false},
                spark);
    char memory[32];
    const bool is_older = (row->older >> ITEM_MEMORY) & 1;
    snprintf(now, sizeof now, "%s%s", older_sign(is_older, row->older_s),
             text_bytes(memory, sizeof memory, known_or_nan(row->memory_bytes)));
    if (is_older)
        older_ago(per_s, sizeof per_s, row->older_s); /* its change is unknown then */
    else
        per_second(per_s, sizeof per_s, row->memory_per_s, true);
    change_line(page, &(struct change){"memory", now, per_s, d->memory_history, false}, spark);
    text_integer(now, sizeof now, row->message_queue_len);
    per_second(per_s, sizeof per_s, row->message_queue_per_s, false);
    change_line(page,
                &(struct change){"message queue", now, per_s, d->message_queue_history, row->stuck},
                spark);
}

static void put_heap(struct view_page *page, const struct process_detail *d)
{
    const struct proc_row *row = &d->row;
    page_heading(page, "Heap");
    page_label(page, "heaps", LABEL);
    page_puts(page, STYLE_VALUE,
              older_sign((row->older >> ITEM_TOTAL_HEAP_SIZE) & 1, row->older_s));
    put_value_bytes(page, bytes_of_words(row, row->total_heap_words));
    page_puts(page, STYLE_DIM, ", youngest ");
    put_value_bytes(page, bytes_of_words(row, row->heap_words));
    page_puts(page, STYLE_DIM, ", stack ");
    put_value_bytes(page, bytes_of_words(row, row->stack_words));
    page_puts(page, STYLE_DIM, ", fragments ");
    put_value_bytes(page, bytes_of_words(row, d->heap_fragment_words));
    page_label(page, "messages kept", LABEL);
    page_slice(page, STYLE_NORMAL, row->message_queue_data);
    for (size_t i = 0; i < d->n_gc; i++) {
        if (i % 3 == 0) {
            page_label(page, i == 0 ? "gc" : "", LABEL);
        }
        char text[32];
        page_slice(page, STYLE_DIM, d->gc[i].key);
        page_printf(page, STYLE_VALUE, " %s   ", text_integer(text, sizeof text, d->gc[i].value));
    }
}

static void put_stack(struct view_page *page, const struct process_detail *d)
{
    page_heading(page, "Stack");
    for (size_t i = 0; i < d->n_stack; i++) {
        const struct frame_location *f = &d->stack[i];
        struct view_line *line = page_line(page);
        link_name(&line->link, TARGET_FUNCTION, f->function);
        line->link.pid = d->row.pid;
        page_printf(page, STYLE_DIM, "  %2zu  ", i);
        page_slice(page, STYLE_FUNCTION, page_name(page, f->function));
        if (!f->file.len)
            continue;
        page_tab(page, 50);
        page_slice(page, STYLE_NORMAL, f->file);
        if (f->line > 0)
            page_printf(page, STYLE_NORMAL, ":%lld", (long long)f->line);
    }
    if (d->n_stack == 0) {
        page_text(page, STYLE_DIM, "  empty: it has not run yet, or is exiting");
    }
}

/* ---- many are grouped */

/* What they were started with is known of the first ones only. */
static void group_related(struct view_page *page, const struct related_group *groups, size_t n)
{
    char text[32];
    page_line(page);
    page_printf(page, STYLE_DIM, "  of the first %d:", RELATED_NAMED);
    for (size_t i = 0; i < n; i++) {
        const struct slice name = groups[i].name;
        page_line(page);
        page_right(page, STYLE_VALUE, LABEL, text_integer(text, sizeof text, groups[i].n));
        page_puts(page, STYLE_NORMAL, "  ");
        page_slice(page, STYLE_NAME, name.len > 0 ? page_name(page, name) : slice_of("unknown"));
    }
}

static void list_related(struct view_page *page, const char *title, const struct related_list *list)
{
    struct related_group groups[RELATED_NAMED];
    const size_t n_groups = related_groups(list, groups);
    const size_t listed = n_groups > 0 ? RELATED_LISTED : list->n;
    char text[64], n[32];
    if (list->count == 0 && list->n == 0)
        return;
    snprintf(text, sizeof text, "%s  %s", title,
             list->count < 0 ? "too many to list" : text_integer(n, sizeof n, list->count));
    page_heading(page, text);
    if (n_groups > 0)
        group_related(page, groups, n_groups);
    for (size_t i = 0; i < listed; i++)
        put_related(page, &list->items[i]);
    if (list->count > (int64_t)listed) {
        page_line(page);
        page_printf(page, STYLE_DIM, "  and %s more",
                    text_integer(n, sizeof n, list->count - (int64_t)listed));
    }
}

static void put_relations(struct view_page *page, const struct process_detail *d)
{
    page_heading(page, "Relations");
    if (d->parent.is_pid || d->parent.text.len) {
        put_related(page, &d->parent);
        page_puts(page, STYLE_DIM, "  parent");
    }
    if (d->group_leader.is_pid || d->group_leader.text.len) {
        put_related(page, &d->group_leader);
        page_puts(page, STYLE_DIM, "  group leader");
    }
    list_related(page, "Ancestors", &d->ancestors);
    list_related(page, "Links", &d->links);
    list_related(page, "Monitors", &d->monitors);
    list_related(page, "Monitored by", &d->monitored_by);
}

static void put_dictionary(struct view_page *page, const struct process_detail *d)
{
    char text[64], n[32];
    if (d->dictionary_count == 0)
        return;
    if (d->dictionary_count < 0) {
        page_heading(page, "Dictionary");
        page_text(page, STYLE_DIM, "  not read: the copy can be much larger than the process");
        return;
    }
    snprintf(text, sizeof text, "Dictionary  %s keys",
             text_integer(n, sizeof n, d->dictionary_count));
    page_heading(page, text);
    for (size_t i = 0; i < d->n_dictionary; i++) {
        page_line(page);
        page_right(page, STYLE_VALUE, 14,
                   text_bytes(n, sizeof n, (double)d->dictionary[i].value_bytes));
        page_puts(page, STYLE_NORMAL, "  ");
        page_slice(page, STYLE_NORMAL, d->dictionary[i].key);
    }
}

static void put_binaries(struct view_page *page, const struct process_detail *d)
{
    char text[96], n[32], size[32];
    if (d->binary_count == 0)
        return;
    if (d->binary_count < 0) {
        page_heading(page, "Binaries  too many to list");
        return;
    }
    snprintf(text, sizeof text, "Binaries  %s references, %s",
             text_integer(n, sizeof n, d->binary_count),
             text_bytes(size, sizeof size, known_or_nan(d->binary_bytes)));
    page_heading(page, text);
    for (size_t i = 0; i < d->n_binaries; i++) {
        page_line(page);
        page_right(page, STYLE_VALUE, 14, text_bytes(n, sizeof n, (double)d->binaries[i].bytes));
        page_printf(page, STYLE_DIM, "  %lld references in the node",
                    (long long)d->binaries[i].refs);
    }
}

static void put_end(struct view_page *page, const struct process *p, const struct process_detail *d,
                    const struct model *m)
{
    const struct system_sample *now = model_system(m);
    const double ago_s =
        now && now->mono_ns > d->mono_ns ? (double)(now->mono_ns - d->mono_ns) / 1e9 : 0;
    char ago[32];
    page_line(page);
    page_printf(page, STYLE_WARN, "  %s. What follows was read %s ago.",
                p->link.kind == TARGET_NAME ? "No process has this name any more" : "It has ended",
                text_duration(ago, sizeof ago, floor(ago_s)));
}

static void process_page(void *state, const struct model *m, struct view_page *page)
{
    struct process *p = state;
    const struct process_detail *d = view_process_detail(&p->link, m);
    char pid[40];
    process_forget_lost(p, m);
    pid_text(pid, sizeof pid, &p->link.pid);
    snprintf(page->summary, sizeof page->summary, "%s",
             p->link.kind == TARGET_NONE   ? ""
             : p->link.kind == TARGET_NAME ? p->link.name
                                           : pid);
    if (p->link.kind == TARGET_NONE) {
        snprintf(page->empty, sizeof page->empty, "No process chosen: Enter on a row opens it.");
        return;
    }
    if (d && d->gone && !d->kept) {
        snprintf(page->empty, sizeof page->empty,
                 p->link.kind == TARGET_NAME ? "No process is registered as %.200s."
                                             : "%.200s has ended.",
                 page->summary);
        return;
    }
    if (!d) {
        page_missing_one(page, m, "details of a process", "process", model_process(m));
        return;
    }
    if (p->link.kind == TARGET_PROCESS)
        p->link.pid = d->row.pid; /* one that was typed has no creation: a later life has another */
    p->is_suspended = !d->gone && slice_is(d->row.status, "suspended");
    if (d->gone)
        put_end(page, p, d, m);
    put_identity(page, d);
    put_activity(page, d, page->pane_columns);
    process_timers(page, m);
    process_near(page, m, &d->row.pid);
    process_copies(page, p, m, page->pane_columns);
    put_stack(page, d);
    put_heap(page, d);
    put_relations(page, d);
    put_dictionary(page, d);
    put_binaries(page, d);
}

static const struct view_hint process_hints[] = {
    {ACTION_ENTER, "open"},  {ACTION_BACK, "back"},           {ACTION_MAILBOX, "mailbox"},
    {ACTION_STATE, "state"}, {ACTION_TRACE_PROCESS, "trace"}, {.does = NULL},
};

const struct view_ops view_process = {
    .name = "process",
    .title = "Process",
    .key = '2',
    .help = "One process in detail.",
    .kind = VIEW_DOC,
    .opens = 1u << TARGET_PROCESS | 1u << TARGET_NAME,
    .state_bytes = sizeof(struct process),
    .want = process_want,
    .page = process_page,
    .ask = process_ask,
    .hints = process_hints,
    .open = process_open,
};
