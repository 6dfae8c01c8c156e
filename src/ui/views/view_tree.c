/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views.h"

#include <stdio.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/base/text.h"
#include "beamtop/model/process_name.h"

#define DEEPEST 40 /* levels that are indented */

enum { ID, TYPE, PID, NAME, MESSAGES, MEMORY };

static const struct view_column tree_columns[] = {
    [ID] = {"id", "CHILD", 20, false, true, false, "its id in the supervisor"},
    [TYPE] = {"type", "TYPE", 10, false, false, false, "supervisor or worker"},
    [PID] = {"pid", "PID", 14, false, false, false, "process"},
    [NAME] = {"name", "NAME", 18, false, true, false,
              "registered name, else label or initial call"},
    [MESSAGES] = {"message_queue_len", "MSGQ", 7, true, false, false, "messages waiting"},
    [MEMORY] = {"memory_bytes", "MEMORY", 9, true, false, false, "memory of the process"},
};

struct tree {
    char app[256]; /* empty: all applications */
};

static void tree_want(const void *state, int rows, struct want *want)
{
    const struct tree *t = state;
    struct want mine = {.needs = NEED(TREE)};
    (void)rows;
    snprintf(mine.tree_app, sizeof mine.tree_app, "%s", t->app);
    want_merge(want, &mine);
}

static int tree_open(void *state, const struct view_link *link, struct error *err)
{
    struct tree *t = state;
    (void)err;
    snprintf(t->app, sizeof t->app, "%s", link->name);
    return 0;
}

static void add_tree_node(struct view_page *page, const struct tree_node *n)
{
    struct view_row *row = page_row(page);
    char text[40];
    bool supervisor = slice_is(n->type, "supervisor");
    row->indent = 2 * (n->depth > DEEPEST ? DEEPEST : n->depth);
    page_cell(page, row, ID, supervisor || n->depth == 0 ? STYLE_NAME : STYLE_NORMAL, n->id.s,
              n->id.len);
    if (n->busy)
        page_cell(page, row, TYPE, STYLE_WARN, "no answer", 9);
    else
        page_cell(page, row, TYPE, STYLE_DIM, n->type.s, n->type.len);
    const struct process_names names = {
        .name = n->name, .label = n->label, .initial_call = n->initial_call};
    const struct slice name = process_name(&names);
    page_cell(page, row, NAME, n->name.len || n->label.len ? STYLE_NAME : STYLE_FUNCTION, name.s,
              name.len);
    if (!n->has_pid) {
        page_cell(page, row, PID, STYLE_DIM, "not running", 11);
        row->id = text_identity(n->id.s, n->id.len);
        return;
    }
    page_cell_printf(page, row, PID, STYLE_PID, "%s", pid_text(text, sizeof text, &n->pid));
    page_cell_printf(page, row, MESSAGES, n->message_queue_len > 0 ? STYLE_NORMAL : STYLE_DIM, "%s",
                     text_count(text, sizeof text, known_or_nan(n->message_queue_len)));
    page_cell_printf(page, row, MEMORY, STYLE_NORMAL, "%s%s",
                     older_sign(n->memory_older, n->memory_age_s),
                     text_bytes(text, sizeof text, known_or_nan(n->memory_bytes)));
    row->id = pid_identity(&n->pid);
    link_process(&row->link, &n->pid, n->name);
}

static void tree_page(void *state, const struct model *m, struct view_page *page)
{
    const struct tree *t = state;
    const struct tree_detail *d = model_tree(m);
    char n[32];
    page_columns(page, tree_columns, ARRAY_LEN(tree_columns));
    page->in_place = true;
    if (!d) {
        page_missing(page, m, "supervision trees");
        return;
    }
    struct older older = {0};
    for (size_t i = 0; i < d->n_nodes; i++) {
        add_tree_node(page, &d->nodes[i]);
        older_add(&older, d->nodes[i].memory_older, d->nodes[i].memory_age_s);
    }
    snprintf(page->summary, sizeof page->summary, "%.150s%s%s processes%s", t->app,
             t->app[0] ? ", " : "", text_integer(n, sizeof n, (int64_t)d->n_nodes),
             d->partial ? ", more were left out" : "");
    older_say(&older, page);
    snprintf(page->empty, sizeof page->empty, "No supervision tree.");
}

const struct view_ops view_tree = {
    .name = "tree",
    .title = "Tree",
    .key = '6',
    .help = "Supervision tree of one application or of all.",
    .kind = VIEW_TABLE,
    .opens = 1u << TARGET_APP,
    .state_bytes = sizeof(struct tree),
    .want = tree_want,
    .page = tree_page,
    .open = tree_open,
};
