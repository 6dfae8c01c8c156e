/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"

#define FIRST_SORT "reductions_per_s"

/* Left out first where a pane is too narrow, unless the columns were chosen. */
static const char *const spare[] = {
    "status", "reductions_share", "current_function", "application", "message_queue_len_per_s",
};

/* Come by themselves, in this order, where all others have the width that they prefer. They ask
   the node for nothing that the others do not. */
static const char *const extra[] = {"memory_bytes_per_s", "reductions", "initial_call"};

struct top {
    const struct field *columns[COLUMNS_MAX];
    int n_columns;
    bool chosen; /* by the user: all of them stay, however narrow the pane */
    const struct field *sort;
    bool ascending, other_mode; /* other_mode: delta where the column is a value, and back */
    bool own;
    bool following;
    struct etf_pid follow; /* follow_name empty: this one; else the last pid seen by that name */
    char follow_name[256];
    uint64_t follow_id; /* the row keeps its identity when the name gets a new process */
    bool follow_missing;
    struct view_column *titles; /* as the page needs them; made again when the columns change */
    int shown[COLUMNS_MAX];     /* titles' index to columns */
    int n_shown, fitted_to;
};

static void top_init(void *state)
{
    struct top *t = state;
    t->n_columns = proc_columns_default(t->columns);
    t->sort = proc_column_find(FIRST_SORT);
}

static void top_clear(void *state)
{
    struct top *t = state;
    free(t->titles);
    t->titles = NULL;
}

static bool by_delta(const struct top *t)
{
    return t->sort->sweep_by_delta != t->other_mode;
}

static void top_want(const void *state, int rows, struct want *want)
{
    const struct top *t = state;
    struct want mine = {.needs = NEED(SCAN) | NEED(ROWS)};
    mine.scan.sort_key = t->sort->key;
    mine.scan.by_delta = by_delta(t);
    mine.scan.ascending = t->ascending;
    mine.scan.rows = rows;
    mine.scan.own = t->own;
    mine.scan.items = proc_columns_items(t->columns, t->n_columns, t->sort) | ITEM_BIT(ID) |
                      ITEM_BIT(REDUCTIONS) | ITEM_BIT(MESSAGE_QUEUE_LEN);
    if (t->following && !t->follow_missing)
        want_add_pid(&mine.scan, &t->follow);
    if (t->following && t->follow_missing && t->follow_name[0]) {
        mine.needs |= NEED(PROCESS);
        snprintf(mine.process.name, sizeof mine.process.name, "%s", t->follow_name);
    }
    want_merge(want, &mine);
}

/* ---- columns */

static bool is_spare(const struct top *t, const struct field *column, size_t how_many)
{
    for (size_t i = 0; i < how_many && column != t->sort; i++)
        if (strcmp(column->key, spare[i]) == 0)
            return true;
    return false;
}

/* A long text column is worth its place from so many columns on; the name from more. */
#define LEAST_TEXT 16
#define LEAST_NAME 22

static int least_width(const struct field *column)
{
    int title = (int)strlen(column->title);
    int least = strcmp(column->key, "name") == 0 ? LEAST_NAME : LEAST_TEXT;
    bool long_text = column->type == COLUMN_TEXT && column->width > least;
    int width = long_text ? least : column->width;
    return (width > title ? width : title) + 1;
}

static int index_of(const struct top *t, const struct field *column)
{
    for (int i = 0; i < t->n_columns; i++)
        if (t->columns[i] == column)
            return i;
    return -1;
}

static void add_extra(struct top *t, int columns)
{
    int total = 1;
    t->n_columns = proc_columns_default(t->columns);
    for (int i = 0; i < t->n_columns; i++)
        total += t->columns[i]->width + 1;
    for (size_t i = 0; i < sizeof extra / sizeof extra[0]; i++) {
        const struct field *column = proc_column_find(extra[i]);
        total += column->width + 1;
        if (total > columns)
            return;
        t->columns[t->n_columns++] = column;
    }
}

/* What the list is sorted by is shown. */
static void add_sorted(struct top *t)
{
    if (index_of(t, t->sort) < 0 && t->n_columns < COLUMNS_MAX)
        t->columns[t->n_columns++] = t->sort;
}

static void fit_columns(struct top *t, int columns)
{
    size_t left_out = 0, most = sizeof spare / sizeof spare[0];
    if (t->fitted_to == columns && t->titles)
        return;
    t->fitted_to = columns;
    if (!t->chosen) {
        add_extra(t, columns);
        add_sorted(t);
    }
    for (int total = columns + 1; total > columns && left_out <= most; left_out++) {
        total = 1;
        t->n_shown = 0;
        for (int i = 0; i < t->n_columns; i++)
            if (t->chosen || !is_spare(t, t->columns[i], left_out)) {
                t->shown[t->n_shown++] = i;
                total += least_width(t->columns[i]);
            }
        if (t->chosen)
            break;
    }
    free(t->titles);
    t->titles = alloc_zero((size_t)t->n_shown, sizeof *t->titles);
    for (int i = 0; i < t->n_shown; i++) {
        const struct field *c = t->columns[t->shown[i]];
        bool grows = c->type == COLUMN_TEXT && c->width > 10;
        t->titles[i] = (struct view_column){c->key, c->title, c->width, field_is_number(c),
                                            grows,  true,     c->help};
    }
}

/* ---- rows */

/* NULL: the node's own order stands. */
static const struct field *ranked_by(const struct top *t)
{
    return proc_column_ranked(t->sort, by_delta(t));
}

static bool follows_process(const struct top *t, const struct proc_row *proc)
{
    if (!t->following)
        return false;
    if (!t->follow_name[0])
        return pid_same(&t->follow, &proc->pid);
    return slice_is(proc->name, t->follow_name);
}

/* A process that has exited since the scan says so in the sorted column, else in the first number;
   its other numbers are unknown. */
static void add_exited(const struct top *t, struct view_row *row, struct view_page *page)
{
    int at = page->sort_column;
    row->dim = true;
    for (int i = 0; i < t->n_shown && (at < 0 || !field_is_number(t->columns[t->shown[at]])); i++)
        at = field_is_number(t->columns[t->shown[i]]) ? i : -1;
    if (at >= 0)
        page_cell_printf(page, row, (size_t)at, STYLE_DIM, "exited");
}

/* now: what the row of the scan is by now, or the same one. */
static void add_top_row(struct top *t, const struct proc_row *proc, const struct proc_row *now,
                        const struct field *ranked, struct view_page *page)
{
    struct view_row *row = page_row(page);
    for (int i = 0; i < t->n_shown; i++)
        cell_of_column(page, row, (size_t)i, t->columns[t->shown[i]], now);
    if (now->gone)
        add_exited(t, row, page);
    link_process(&row->link, &proc->pid, proc->name);
    row->id = pid_identity(&proc->pid);
    row->key = ranked ? field_number(ranked, proc) : (double)NAN;
    if (now != proc && isnan(row->key)) /* the text is not what ranked it */
        row->key = page->sort_descending ? -INFINITY : INFINITY;
    if (follows_process(t, proc)) {
        row->marked = true;
        row->id = t->follow_id;
    }
}

/* Where the followed name is now: in the scan, or as the node answered when asked by name. */
static void find_followed(struct top *t, const struct model *m, const struct proc_scan *scan)
{
    t->follow_missing = t->following;
    for (size_t i = 0; t->following && i < scan->n_rows; i++)
        if (follows_process(t, &scan->rows[i])) {
            t->follow = scan->rows[i].pid;
            t->follow_missing = false;
            return;
        }
    const struct process_detail *p = model_process(m);
    if (t->following && p && !p->gone && t->follow_name[0] && follows_process(t, &p->row) &&
        !pid_same(&p->row.pid, &t->follow)) {
        t->follow = p->row.pid;
        t->follow_missing = false;
    }
}

/* Ranks older than this, and than the interval, say so. */
#define RANKED_LONG_AGO_S 2.0

static void say_age(const struct model *m, const struct proc_scan *scan, struct view_page *page)
{
    const struct system_sample *now = model_system(m);
    double age_s =
        now && now->mono_ns > scan->mono_ns ? (double)(now->mono_ns - scan->mono_ns) / 1e9 : 0;
    size_t used = strlen(page->summary);
    char age[32];
    if (age_s >= RANKED_LONG_AGO_S && age_s > model_interval(m).asked_s)
        snprintf(page->summary + used, sizeof page->summary - used, ", ranked %s ago",
                 text_duration(age, sizeof age, floor(age_s)));
}

static void say_older(const struct proc_row *rows, size_t n, struct view_page *page)
{
    struct older older = {0};
    for (size_t i = 0; i < n; i++)
        older_add(&older, rows[i].older, rows[i].older_s);
    older_say(&older, page);
}

static void summarise_top(const struct top *t, const struct proc_scan *scan, size_t shown,
                          struct view_page *page)
{
    char n[32], matching[32], total[96];
    text_integer(n, sizeof n, (int64_t)shown);
    text_integer(matching, sizeof matching, scan->matching);
    text_integer(total, sizeof total, scan->total);
    if (scan->recorded >= 0 && scan->recorded < scan->total) {
        char recorded[32];
        snprintf(total, sizeof total, "%s recorded, %lld",
                 text_integer(recorded, sizeof recorded, scan->recorded), (long long)scan->total);
    }
    int used = scan->filtered ? snprintf(page->summary, sizeof page->summary,
                                         "%s of %s matching, %s scanned", n, matching, total)
                              : snprintf(page->summary, sizeof page->summary, "%s of %s", n, total);
    if (t->following && used > 0 && (size_t)used < sizeof page->summary) {
        char pid[40];
        snprintf(page->summary + used, sizeof page->summary - (size_t)used, ", following %.120s%s",
                 t->follow_name[0] ? t->follow_name : pid_text(pid, sizeof pid, &t->follow),
                 t->follow_missing ? ": ended" : "");
    }
    snprintf(page->empty, sizeof page->empty,
             scan->filtered ? "No process matches the filter." : "No processes.");
}

static void describe_order(const struct top *t, const struct proc_scan *scan,
                           struct view_page *page)
{
    const struct field *by = ranked_by(t);
    bool first = scan && by_delta(t) && isnan(scan->interval_s);
    snprintf(page->order, sizeof page->order, "%s%s", (by ? by : t->sort)->key,
             by ? (first && by->sweep ? " (first sweep: totals)" : "") : ", change");
    if (scan && scan->sorted_among >= 0) {
        char among[32];
        size_t used = strlen(page->order);
        snprintf(page->order + used, sizeof page->order - used, " of the top %s",
                 text_integer(among, sizeof among, scan->sorted_among));
    }
}

static void top_page(void *state, const struct model *m, struct view_page *page)
{
    struct top *t = state;
    fit_columns(t, page->pane_columns);
    page_columns(page, t->titles, (size_t)t->n_shown);
    page->sort_descending = field_is_number(t->sort) != t->ascending;
    for (int i = 0; i < t->n_shown; i++)
        if (t->columns[t->shown[i]] == t->sort)
            page->sort_column = i;
    const struct proc_scan *scan = model_scan(m);
    describe_order(t, scan, page);
    if (!scan) {
        view_missing_scan(page, m);
        return;
    }
    find_followed(t, m, scan);
    const struct field *ranked = ranked_by(t);
    const struct proc_rows *newer = model_newer_rows(m);
    for (size_t i = 0; i < scan->n_rows; i++)
        if (t->own || !scan->rows[i].own)
            add_top_row(t, &scan->rows[i], newer ? &newer->rows[i] : &scan->rows[i], ranked, page);
    if (page->sort_column >= 0 && ranked && ranked->sweep)
        page_sort(page);
    summarise_top(t, scan, page->n_rows, page);
    say_age(m, scan, page);
    say_older(newer ? newer->rows : scan->rows, scan->n_rows, page);
}

/* ---- the pickers */

static void top_words(word_put *put, void *out)
{
    for (int i = 0; i < proc_columns_len; i++)
        put(out, proc_columns[i].key, proc_columns[i].help);
}

static struct view_row *picker_row(struct view_page *page, const struct field *column)
{
    struct view_row *row = page_row(page);
    struct slice key = {column->key, strlen(column->key)};
    row->id = text_identity(key.s, key.len);
    link_name(&row->link, TARGET_NAME, key);
    page_cell(page, row, 2, STYLE_NORMAL, column->help, strlen(column->help));
    return row;
}

static void top_orders(const void *state, struct view_page *page)
{
    const struct top *t = state;
    for (int i = 0; i < proc_columns_len; i++) {
        const struct field *column = &proc_columns[i];
        struct view_row *row = picker_row(page, column);
        row->marked = column == t->sort;
        page_cell(page, row, 0, STYLE_NAME, column->key, strlen(column->key));
        page_cell_printf(page, row, 1, column->expensive ? STYLE_WARN : STYLE_DIM, "%s",
                         column->expensive ? "all, expensive"
                         : column->sweep   ? "all processes"
                                           : "shown rows only");
    }
}

static void top_choices(const void *state, struct view_page *page)
{
    for (int i = 0; i < proc_columns_len; i++) {
        const struct field *column = &proc_columns[i];
        struct view_row *row = picker_row(page, column);
        bool shown = index_of(state, column) >= 0;
        page_cell_printf(page, row, 0, shown ? STYLE_OK : STYLE_DIM, "%s", shown ? "[x]" : "[ ]");
        page_cell(page, row, 1, STYLE_NAME, column->key, strlen(column->key));
    }
}

static void top_toggle(void *state, const char *key)
{
    struct top *t = state;
    const struct field *column = proc_column_find(key);
    int at = column ? index_of(t, column) : -1;
    if (column && at < 0 && t->n_columns < COLUMNS_MAX)
        t->columns[t->n_columns++] = column;
    else if (at >= 0 && t->n_columns > 1)
        memmove(&t->columns[at], &t->columns[at + 1],
                (size_t)(--t->n_columns - at) * sizeof t->columns[0]);
    t->chosen = true;
    t->fitted_to = 0;
}

static void top_reverse(void *state)
{
    struct top *t = state;
    t->ascending = !t->ascending;
}

static const struct view_chooser top_chooser = {
    .words = top_words,
    .orders = top_orders,
    .columns = top_choices,
    .toggle = top_toggle,
    .reverse = top_reverse,
};

/* ---- what the user does to it */

static void top_sort(void *state, const char *key, int direction)
{
    struct top *t = state;
    const struct field *column = proc_column_find(key);
    if (!column)
        return;
    if (direction != 0)
        t->ascending = direction < 0;
    else
        t->ascending = column == t->sort && !t->ascending;
    if (column != t->sort)
        t->other_mode = false;
    t->sort = column;
    t->fitted_to = 0;
}

static int top_open(void *state, const struct view_link *link, struct error *err)
{
    struct top *t = state;
    (void)err;
    bool same = t->following && (t->follow_name[0] ? strcmp(t->follow_name, link->name) == 0
                                                   : pid_same(&t->follow, &link->pid));
    t->following = !same && (link->kind == TARGET_PROCESS || link->name[0]);
    t->follow = link->pid;
    t->follow_id = link->kind == TARGET_PROCESS ? pid_identity(&link->pid)
                                                : text_identity(link->name, strlen(link->name));
    t->follow_missing = link->kind != TARGET_PROCESS;
    snprintf(t->follow_name, sizeof t->follow_name, "%s", link->name);
    return 0;
}

static int top_columns(void *state, const struct view_call *call)
{
    struct top *t = state;
    const struct field *columns[COLUMNS_MAX];
    int n = 0;
    t->fitted_to = 0;
    if (!*call->arg || strcmp(call->arg, "default") == 0) {
        t->n_columns = proc_columns_default(t->columns);
        t->chosen = false;
        return 0;
    }
    int status = proc_columns_parse(call->arg, columns, &n, call->err);
    if (status < 0 || n == 0)
        return status;
    memcpy(t->columns, columns, sizeof columns[0] * (size_t)n);
    t->n_columns = n;
    t->chosen = true;
    return 0;
}

static int top_delta(void *state, const struct view_call *call)
{
    struct top *t = state;
    (void)call;
    t->other_mode = !t->other_mode;
    return 0;
}

static int top_sort_word(void *state, const char *word, struct error *err)
{
    const struct field *column = proc_column_find(word);
    if (!column)
        return error_set(err, ERR_USAGE, "no column \"%s\": `columns` lists them", word);
    top_sort(state, column->key, 1); /* as in top: the same key again does not reverse it */
    return 0;
}

static void top_own(void *state, bool shown)
{
    ((struct top *)state)->own = shown;
}

static const struct view_act top_acts[] = {
    {ACTION_COLUMNS, .run = top_columns},
    {ACTION_SORT_DELTA, .run = top_delta},
    {.run = NULL},
};

const struct view_ops view_top = {
    .name = "processes",
    .title = "Processes",
    .alias = "top",
    .key = '1',
    .help = "Top processes by reductions, memory, message queue or another column.",
    .kind = VIEW_TABLE,
    .context = CONTEXT_PROCESSES,
    .shown_by = ACTION_FOLLOW,
    .filters_on_target = true,
    .state_bytes = sizeof(struct top),
    .init = top_init,
    .clear = top_clear,
    .want = top_want,
    .page = top_page,
    .sort = top_sort,
    .open = top_open,
    .acts = top_acts,
    .chooser = &top_chooser,
    .sort_word = top_sort_word,
    .own = top_own,
};
