/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which process waits for which: below each process that is waited for, those that wait for it. */
#include "beamtop/model/waits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "views.h"

#define DEEPEST 40 /* levels that are indented */

enum { PROCESS, PID, WAITERS, BEHIND, KIND, SEEN, MESSAGES, DOES };

static const struct view_column waits_columns[] = {
    [PROCESS] = {"name", "PROCESS", 28, false, true, false,
                 "name, label or initial call; below it those that wait for it"},
    [PID] = {"pid", "PID", 12, false, false, false, "process"},
    [WAITERS] = {"waiters", "WAITERS", 7, true, false, false, "processes that wait for it"},
    [BEHIND] = {"behind", "BEHIND", 6, true, false, false,
                "processes that wait for it, for these, and so on"},
    [KIND] = {"kind", "WAITS IN", 10, false, false, false,
              "kind of call that it waits in, or a deadlock"},
    [SEEN] = {"seen_s", "SEEN FOR", 8, true, false, false, "how long it has been seen so"},
    [MESSAGES] = {"message_queue_len", "MSGQ", 7, true, false, false, "messages waiting"},
    [DOES] = {"function", "DOES", 30, false, true, false,
              "what holds it; the function that calls, or its current one"},
};

struct place {
    size_t row;
    int depth;
};

struct drawing {
    struct view_page *page;
    const struct waits_graph *graph;
    bool *drawn;
    struct place *stack; /* each row comes once, and a root a second time */
};

/* ---- one process */

static void put_does(struct drawing *d, struct view_row *row, const struct waits_row *w, size_t to)
{
    const struct waits_row *rows = d->graph->rows;
    if (w->suspended) {
        page_cell_printf(d->page, row, DOES, STYLE_WARN, "suspended by sys:suspend/1");
    } else if (w->kind.len == 0 && slice_is(w->status, "suspended")) {
        page_cell_printf(d->page, row, DOES, STYLE_WARN, "suspended");
    } else if (w->deadlock > 0 && to < d->graph->n) {
        const struct slice name = waits_name(&d->page->arena, &rows[to], true);
        page_cell_printf(d->page, row, DOES, STYLE_WARN, "waits for %.*s", (int)name.len, name.s);
    } else if (w->among > 1) {
        page_cell_printf(d->page, row, DOES, STYLE_DIM, "waits for one of %lld",
                         (long long)w->among);
    } else {
        const struct slice does = w->caller.len > 0 ? w->caller : w->function;
        page_cell(d->page, row, DOES, STYLE_FUNCTION, does.s, does.len);
    }
}

static void put_numbers(struct view_page *page, struct view_row *row, const struct waits_row *w)
{
    char text[40];
    if (w->waiters > 0) {
        page_cell_printf(page, row, WAITERS, STYLE_NORMAL, "%s",
                         text_integer(text, sizeof text, w->waiters));
        page_cell_printf(page, row, BEHIND, STYLE_NORMAL, "%s",
                         text_integer(text, sizeof text, w->behind));
    }
    page_cell_printf(page, row, MESSAGES, w->message_queue_len > 0 ? STYLE_NORMAL : STYLE_DIM, "%s",
                     text_count(text, sizeof text, known_or_nan(w->message_queue_len)));
    if (!isnan(w->seen_s))
        page_cell_printf(page, row, SEEN, STYLE_NORMAL, "%s",
                         page_duration(page, text, sizeof text, w->seen_s));
}

static void add_process(struct drawing *d, size_t i, int depth)
{
    const struct waits_row *w = &d->graph->rows[i];
    struct view_page *page = d->page;
    struct view_row *row = page_row(page);
    const struct slice name = waits_name(&page->arena, w, false);
    char text[40];
    row->indent = 2 * (depth > DEEPEST ? DEEPEST : depth);
    page_cell(page, row, PROCESS, w->deadlock > 0 || w->suspended ? STYLE_WARN : STYLE_NAME, name.s,
              name.len);
    page_cell_printf(page, row, PID, STYLE_PID, "%s", pid_text(text, sizeof text, &w->pid));
    if (w->deadlock > 0) /* here it is never cut */
        page_cell_printf(page, row, KIND, STYLE_WARN, "deadlock");
    else
        page_cell(page, row, KIND, STYLE_MARK, w->kind.s, w->kind.len);
    put_numbers(page, row, w);
    put_does(d, row, w, d->graph->to[i]);
    row->id = pid_identity(&w->pid);
    link_process(&row->link, &w->pid, w->name);
}

/* Who waits for it, the first on top of the stack. */
static size_t push_waiters(const struct waits_graph *g, struct place of, struct place *stack,
                           size_t n)
{
    size_t low = n, high;
    for (size_t k = g->first[of.row]; k < g->n; k = g->next[k])
        stack[n++] = (struct place){k, of.depth + 1};
    for (high = n; low + 1 < high; low++) {
        const struct place last = stack[--high];
        stack[high] = stack[low];
        stack[low] = last;
    }
    return n;
}

/* A process, and below it those that wait for it; none a second time, as a cycle would. */
static void add_tree(struct drawing *d, size_t root, int depth)
{
    size_t n = 0;
    d->stack[n++] = (struct place){root, depth};
    while (n > 0) {
        const struct place at = d->stack[--n];
        if (d->drawn[at.row])
            continue;
        d->drawn[at.row] = true;
        add_process(d, at.row, at.depth);
        n = push_waiters(d->graph, at, d->stack, n);
    }
}

/* ---- others than processes of the node */

struct elsewhere {
    struct slice key;
    size_t row;
};

static struct slice elsewhere_of(struct view_page *page, const struct waits_row *w)
{
    if (w->node.len > 0)
        return w->node;
    if (w->for_name.len > 0)
        return w->for_name;
    if (w->has_for)
        return slice_of(arena_printf(&page->arena, PID_FORMAT, PID_NUMBERS(&w->for_pid)));
    return slice_of("(unknown)");
}

static int order_elsewhere(const void *a, const void *b)
{
    const struct elsewhere *x = a, *y = b;
    const int order = slice_order(x->key, y->key);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static void add_group(struct drawing *d, const struct elsewhere *of, size_t n)
{
    struct view_page *page = d->page;
    struct view_row *row = page_row(page);
    char text[32];
    size_t behind = n;
    for (size_t i = 0; i < n; i++)
        behind += (size_t)d->graph->rows[of[i].row].behind;
    page_cell(page, row, PROCESS, STYLE_NAME, of->key.s, of->key.len);
    page_cell_printf(page, row, WAITERS, STYLE_NORMAL, "%s",
                     text_integer(text, sizeof text, (int64_t)n));
    page_cell_printf(page, row, BEHIND, STYLE_NORMAL, "%s",
                     text_integer(text, sizeof text, (int64_t)behind));
    if (d->graph->rows[of->row].node.len > 0)
        page_cell_printf(page, row, DOES, STYLE_DIM, "another node");
    row->id = text_identity(of->key.s, of->key.len);
    for (size_t i = 0; i < n; i++)
        add_tree(d, of[i].row, 1);
}

static void add_elsewhere(struct drawing *d)
{
    const struct waits_graph *g = d->graph;
    struct elsewhere *all = arena_alloc(&d->page->arena, (g->n + 1) * sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->rows[i].kind.len > 0 && !g->rows[i].suspended && g->to[i] == g->n)
            all[n++] = (struct elsewhere){elsewhere_of(d->page, &g->rows[i]), i};
    qsort(all, n, sizeof *all, order_elsewhere);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && slice_equal(all[i].key, all[end].key);)
            end++;
        add_group(d, &all[i], end - i);
    }
}

/* ---- all */

/* Without a deadlock that was found. */
static void note_others(struct view_page *page, const struct waits_sums *s)
{
    char n[32], unknown[100] = "";
    if (s->unknown > 0)
        snprintf(unknown, sizeof unknown,
                 "%s waiting for an unknown process: there may be a deadlock%s",
                 text_integer(n, sizeof n, s->unknown), s->chain.len > 0 ? ". " : "");
    snprintf(page->note, sizeof page->note, "%s%s%.*s", unknown,
             s->chain.len > 0 ? "Longest chain: " : "", (int)s->chain.len, s->chain.s);
}

static void summarise_waits(struct view_page *page, const struct table_detail *table)
{
    const struct waits_sums *s = table->sums;
    char n[32];
    const char *const more = s->deadlocks > 1 ? "Deadlocks, the first: " : "Deadlock: ";
    snprintf(page->summary, sizeof page->summary, "%s waiting%s",
             text_integer(n, sizeof n, s->waiting), table->partial ? ", some left out" : "");
    if (s->deadlock.len > 0)
        snprintf(page->note, sizeof page->note, "%s%.*s", more, (int)s->deadlock.len,
                 s->deadlock.s);
    else
        note_others(page, s);
    snprintf(page->empty, sizeof page->empty, "No process waits in a call.");
}

static void waits_page(void *state, const struct model *m, struct view_page *page)
{
    const struct table_detail *table = model_answer(m, QUESTION_WAITS);
    struct waits_graph g;
    (void)state;
    page_columns(page, waits_columns, ARRAY_LEN(waits_columns));
    page->in_place = true;
    if (!table) {
        page_missing(page, m, question_rows[QUESTION_WAITS].what);
        return;
    }
    waits_graph_make(&g, &page->arena, table->rows, table->n_rows);
    struct drawing d = {page, &g, arena_alloc(&page->arena, g.n + 1),
                        arena_alloc(&page->arena, (g.n + 2) * sizeof *d.stack)};
    for (size_t i = 0; i < g.n; i++) /* the first of a cycle stands for it */
        if (!d.drawn[i] &&
            (g.rows[i].kind.len == 0 || g.rows[i].deadlock > 0 || g.rows[i].suspended))
            add_tree(&d, i, 0);
    add_elsewhere(&d);
    for (size_t i = 0; i < g.n; i++) /* cycles that have moved */
        if (!d.drawn[i])
            add_tree(&d, i, 0);
    summarise_waits(page, table);
}

const struct view_ops view_waits = {
    .name = "waits",
    .key = '&',
    .hinted = true,
    .title = "Waits",
    .help = "Which process waits for which: bottlenecks, chains of calls, deadlocks.",
    .kind = VIEW_TABLE,
    .needs = NEED(WAITS),
    .page = waits_page,
};
