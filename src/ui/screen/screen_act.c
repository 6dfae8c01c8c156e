/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What actions do to the screen. */
#include "screen_act.h"

#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/model/detail.h"
#include "ui/widgets/page.h"

void act_refresh(struct act *a)
{
    pane_top(panes_focused(a->s->panes))->dirty = true;
    screen_ask(a->s, REQUEST_REFRESH, NULL, "");
}

static int act_move(struct act *a)
{
    const enum move move = (enum move)a->n;
    struct picker *p = &a->s->picker;
    if (p->kind != PICKER_NONE) {
        table_move(&p->table, &p->page, move, p->rect.rows);
        return 1;
    }
    bool table = pane_kind(a->e) == VIEW_TABLE;
    bool was_held = a->e->table.held;
    if (pane_kind(a->e) == VIEW_FLAME)
        flame_move(&a->e->flame, move, pane_rows(a->pane));
    else if (table && table_fold(&a->e->table, pane_page(a->pane), move))
        a->e->dirty = true;
    else if (table)
        table_move(&a->e->table, pane_page(a->pane), move, pane_rows(a->pane));
    else
        doc_move(&a->e->doc, pane_page(a->pane), move, pane_rows(a->pane));
    if (table && was_held && a->e->table.cursor == 0)
        a->e->dirty = true; /* back at the top: the order is the node's again */
    return 1;
}

int act_open(struct act *a, const struct view_ops *ops, const struct view_link *link)
{
    const struct view_ops *from = a->e->ops;
    int status = pane_show(a->pane, ops, link, a->err);
    if (status < 0)
        return status;
    if (ops->from && from != ops)
        ops->from(pane_top(a->pane)->state, from);
    if (link && view_opens(ops, TARGET_PROCESS))
        a->s->last_process = *link;
    screen_tell(a->s, pane_top(a->pane));
    act_refresh(a);
    return 1;
}

static int means_nothing(const struct view_ops *ops, enum action action, struct error *err)
{
    return error_set(err, ERR_USAGE, "%s means nothing in the view %s", action_table[action].name,
                     ops->name);
}

/* What only the view itself knows. */
static int act_of_view(struct act *a, enum action action)
{
    const struct view_act *act = view_act_of(a->e->ops, action);
    struct view_link at = pane_link(a->pane);
    if (!act)
        return means_nothing(a->e->ops, action, a->err);
    const struct view_call call = {action, &at, a->arg, a->err};
    char text[300];
    if (act->asks && !a->confirmed && act->asks(a->e->state, text, sizeof text)) {
        screen_ask_confirm(a->s, action, text);
        return 1;
    }
    int rc = act->run(a->e->state, &call);
    if (act->folds) {
        a->e->dirty = a->e->doc.reveal = true;
        return rc < 0 ? rc : 1;
    }
    table_ask_order(&a->e->table);
    table_forget_widths(&a->e->table);
    act_refresh(a);
    return rc < 0 ? rc : 1;
}

/* Its process, else its function. */
static int show_process(struct act *a, const struct view_link *span)
{
    struct view_link link = {.kind = TARGET_PROCESS, .pid = span->pid};
    if (link_has_pid(span))
        return act_open(a, view_opening(TARGET_PROCESS), &link);
    if (*span->name)
        screen_ask_action(a->s, ACTION_TRACE_ROW);
    return 1;
}

/* Several tables of a process have no page. */
static int show_table(struct act *a, const struct view_link *table)
{
    const struct view_ops *ops = view_opening(TARGET_TABLE);
    if (!*table->name)
        return show_process(a, table);
    return a->e->ops == ops ? 1 : act_open(a, ops, table);
}

bool screen_opens(const struct screen *s)
{
    const struct pane *pane = panes_focused(s->panes);
    const struct view_link link = pane_link(pane);
    switch (link.kind) {
    case TARGET_NONE:
        return pane_kind(pane_top(pane)) == VIEW_FLAME;
    case TARGET_VIEW:
        return view_find(link.name);
    case TARGET_SPAN:
    case TARGET_TABLE:
        return link_has_pid(&link) || *link.name;
    default:
        return true;
    }
}

static int follow_link(struct act *a, const struct view_link *link)
{
    switch (link->kind) {
    case TARGET_NONE:
        return error_set(a->err, ERR_USAGE, "nothing to open here");
    case TARGET_PROCESS:
    case TARGET_NAME:
    case TARGET_APP:
        return act_open(a, view_opening(link->kind), link);
    case TARGET_VIEW:
        return view_find(link->name) ? act_open(a, view_find(link->name), NULL) : 1;
    case TARGET_EVENT:
    case TARGET_FINDING:
    case TARGET_KIN:
        return act_of_view(a, ACTION_FOLD);
    case TARGET_REQUEST:
        return act_open(a, view_opening(TARGET_REQUEST), link);
    case TARGET_TABLE:
        return show_table(a, link);
    case TARGET_SPAN:
        return show_process(a, link);
    case TARGET_FUNCTION:
        screen_ask_action(a->s, ACTION_TRACE_ROW);
        return 1;
    case TARGET_NODE:
        if (strstr(link->name, "@dns:") || strstr(link->name, "@srv:"))
            return error_set(a->err, ERR_USAGE, "%.255s is a name of nodes, not a node",
                             link->name);
        screen_ask(a->s, REQUEST_NODE, NULL, link->name);
        return act_open(a, view_find("processes"), NULL);
    }
    return 1;
}

/* ---- views and panes */

int act_enter(struct act *a)
{
    if (a->s->picker.kind != PICKER_NONE)
        return picker_choose(a->s, a->err);
    if (pane_kind(a->e) == VIEW_FLAME) {
        flame_zoom(&a->e->flame);
        a->e->dirty = true;
        return 1;
    }
    struct view_link link = pane_link(a->pane);
    return follow_link(a, &link);
}

/* Closes the list to choose from, else goes to the view before. False: there is neither. */
static bool go_back(struct act *a)
{
    if (a->s->picker.kind != PICKER_NONE)
        picker_close(a->s);
    else if (pane_back(a->pane))
        act_refresh(a);
    else
        return false;
    return true;
}

static int act_back(struct act *a)
{
    if (a->s->picker.kind != PICKER_NONE)
        picker_close(a->s);
    else if (a->e->filter[0])
        screen_ask(a->s, REQUEST_UNFILTER, NULL, "");
    else if (pane_kind(a->e) == VIEW_FLAME && flame_zoom_out(&a->e->flame))
        a->e->dirty = true;
    else
        (void)go_back(a);
    return 1;
}

static int act_leave(struct act *a)
{
    if (!go_back(a))
        screen_ask_action(a->s, ACTION_QUIT);
    return 1;
}

/* "trace (8), armed (9)": the views that run something. */
static void views_that_run(const struct act *a, struct buf *out)
{
    char key[64];
    for (size_t i = 0; view_registry[i]; i++) {
        const struct view_ops *ops = view_registry[i];
        if (!view_runs(ops, a->m))
            continue;
        buf_printf(out, "%s%s", out->len > 0 ? ", " : "", ops->name);
        if (view_key(ops, a->s->keymap, screen_context(a->s), key, sizeof key))
            buf_printf(out, " (%s)", key);
    }
}

static int nothing_to_stop(struct act *a)
{
    char key[64], recording[120] = "";
    struct buf where;
    if (a->s->recording.state == RECORDING_RUNS) {
        bool bound = keymap_first_key_of(a->s->keymap, screen_context(a->s), ACTION_RECORD, NULL,
                                         key, sizeof key);
        snprintf(recording, sizeof recording, "; the recording is stopped by %s",
                 bound ? key : action_table[ACTION_RECORD_STOP].name);
    }
    buf_init(&where, 0);
    views_that_run(a, &where);
    if (where.len > 0)
        error_set(a->err, ERR_USAGE, "this view runs nothing: what runs is stopped in %s%s",
                  buf_cstr(&where), recording);
    else
        error_set(a->err, ERR_USAGE,
                  "nothing to stop: no trace, call counts, samples or spans are running");
    buf_clear(&where);
    return ERR_USAGE;
}

static int act_stop_view(struct act *a)
{
    const enum action stop = a->e->ops->stop;
    switch (screen_stops(a->s, a->m, a->err)) {
    case STOP_OTHERS:
        return a->err->code;
    case STOP_RECORDING:
        screen_ask(a->s, REQUEST_STOP_RECORDING, NULL, "");
        return 1;
    case STOP_VIEW:
    case STOP_NOTHING:
        break;
    }
    if (!stop)
        return nothing_to_stop(a);
    screen_ask_action(a->s, stop);
    return 1;
}

static int act_view(struct act *a)
{
    char name[64];
    size_t len = strcspn(a->arg, " ");
    snprintf(name, sizeof name, "%.*s", (int)len, a->arg);
    const struct view_ops *ops = view_find(name);
    if (!ops)
        return screen_no_view(name, a->err);
    const char *word = a->arg + len + strspn(a->arg + len, " ");
    if (*word) {
        struct view_link link = act_link_of_word(ops, word);
        return act_open(a, ops, &link);
    }
    if (view_opens(ops, TARGET_PROCESS) && a->e->ops != ops) {
        /* The one that was shown last, wherever that was; before, the one under the cursor. */
        struct view_link link = a->s->last_process;
        if (link.kind == TARGET_NONE && !act_process_meant(a, &link))
            link.kind = TARGET_NONE;
        if (link.kind != TARGET_NONE && !pane_has(a->pane, ops, &link))
            return act_open(a, ops, &link);
    }
    return act_open(a, ops, NULL);
}

static int act_tree(struct act *a)
{
    const struct view_ops *tree = view_opening(TARGET_APP);
    struct view_link link = *a->arg ? act_link_of_word(tree, a->arg) : pane_link(a->pane);
    return act_open(a, tree, link.kind == TARGET_APP ? &link : NULL);
}

/* The view that the action shows. */
static int act_show(struct act *a)
{
    return act_open(a, view_shown_by((enum action)a->n), NULL);
}

static int act_help(struct act *a)
{
    return a->e->ops == view_shown_by(ACTION_HELP) ? act_back(a) : act_show(a);
}

static int act_split(struct act *a)
{
    bool right = strcmp(a->arg, "right") == 0;
    if (*a->arg && !right && strcmp(a->arg, "below") != 0)
        return error_set(a->err, ERR_USAGE, "split takes below or right, not \"%s\"", a->arg);
    int status = panes_split(a->s->panes, right, a->err);
    if (status < 0)
        return status;
    screen_tell(a->s, pane_top(panes_focused(a->s->panes)));
    act_refresh(a);
    return 1;
}

static int act_close(struct act *a)
{
    int status = panes_close(a->s->panes, a->err);
    if (status < 0)
        return status;
    act_refresh(a);
    return 1;
}

static int act_focus(struct act *a)
{
    panes_focus_next(a->s->panes, a->n);
    panes_dirty(a->s->panes);
    screen_ask(a->s, REQUEST_REFRESH, NULL, "");
    return 1;
}

static int act_zoom(struct act *a)
{
    panes_zoom(a->s->panes);
    act_refresh(a);
    return 1;
}

/* ---- lists */

int act_sort_by(struct act *a, const char *key, int direction)
{
    if (!a->e->ops->sort)
        return error_set(a->err, ERR_USAGE, "this view has one order");
    a->e->ops->sort(a->e->state, key, direction);
    table_ask_order(&a->e->table);
    act_refresh(a);
    return 1;
}

/* The next column that can be sorted by, from the sorted one. */
static int act_sort_beside(struct act *a)
{
    const struct view_page *page = pane_page(a->pane);
    int n = (int)page->n_columns, at = page->sort_column, direction = a->n;
    for (int i = 0; i < n; i++) {
        at = at < 0 ? (direction > 0 ? 0 : n - 1) : (at + direction + n) % n;
        if (page->columns[at].sortable)
            return act_sort_by(a, page->columns[at].key, 1);
    }
    return 1;
}

static int act_sort(struct act *a)
{
    const struct view_page *page = pane_page(a->pane);
    if (!*a->arg && pane_kind(a->e) == VIEW_TABLE)
        return picker_open(a->s, PICKER_SORT, a->err);
    if (a->e->ops->sort_word) {
        int rc = a->e->ops->sort_word(a->e->state, a->arg, a->err);
        table_ask_order(&a->e->table);
        act_refresh(a);
        return rc < 0 ? rc : 1;
    }
    for (size_t i = 0; i < page->n_columns; i++)
        if (page->columns[i].sortable && strcmp(page->columns[i].key, a->arg) == 0)
            return act_sort_by(a, a->arg, 0);
    return error_set(a->err, ERR_USAGE, "this view cannot be sorted by \"%s\"", a->arg);
}

static int act_reverse(struct act *a)
{
    const struct view_page *page = pane_page(a->pane);
    if (a->e->ops->chooser) {
        a->e->ops->chooser->reverse(a->e->state);
        table_ask_order(&a->e->table);
        act_refresh(a);
        return 1;
    }
    if (pane_kind(a->e) == VIEW_FLAME) {
        a->e->flame.root_below = !a->e->flame.root_below;
        return 1;
    }
    if (page->sort_column < 0)
        return error_set(a->err, ERR_USAGE, "the sorted column is not among those shown");
    return act_sort_by(a, page->columns[page->sort_column].key, page->sort_descending ? -1 : 1);
}

static int act_pick(struct act *a)
{
    return picker_open(a->s, (enum picker_kind)a->n, a->err);
}

static int act_find(struct act *a)
{
    struct regex *re = a->s->match;
    if (!re) {
        char key[64];
        bool bound = keymap_first_key_of(a->s->keymap, screen_context(a->s), ACTION_FILTER, NULL,
                                         key, sizeof key);
        return error_set(a->err, ERR_USAGE, "no filter is set: %s sets one",
                         bound ? key : action_table[ACTION_FILTER].name);
    }
    regex_allow(re, LIMIT_REGEX_PASS_STEPS);
    enum view_kind kind = pane_kind(a->e);
    bool found = kind == VIEW_FLAME   ? flame_find(&a->e->flame, a->n)
                 : kind == VIEW_TABLE ? table_find(&a->e->table, pane_page(a->pane), re, a->n)
                                      : doc_find(&a->e->doc, pane_page(a->pane), re, a->n);
    if (!found && regex_is_spent(re))
        return error_set(a->err, ERR_LIMIT, "filter too expensive to look for: " REGEX_SPENT_WHY);
    return found ? 1 : error_set(a->err, ERR_NOT_FOUND, "nothing here matches");
}

static int act_mark(struct act *a)
{
    if (a->s->picker.kind != PICKER_NONE)
        return picker_mark(a->s, a->err);
    if (pane_kind(a->e) != VIEW_TABLE)
        return error_set(a->err, ERR_USAGE, "only rows of a list can be marked");
    const int rc = table_mark(&a->e->table, pane_page(a->pane), a->err);
    if (rc != 0)
        return rc;
    table_move(&a->e->table, pane_page(a->pane), MOVE_DOWN, pane_rows(a->pane));
    return 1;
}

static const struct {
    int (*run)(struct act *a);
    int n;
} handlers[ACTIONS] = {
    [ACTION_UP] = {act_move, MOVE_UP},
    [ACTION_DOWN] = {act_move, MOVE_DOWN},
    [ACTION_PAGE_UP] = {act_move, MOVE_PAGE_UP},
    [ACTION_PAGE_DOWN] = {act_move, MOVE_PAGE_DOWN},
    [ACTION_FIRST] = {act_move, MOVE_FIRST},
    [ACTION_LAST] = {act_move, MOVE_LAST},
    [ACTION_LEFT] = {act_move, MOVE_LEFT},
    [ACTION_RIGHT] = {act_move, MOVE_RIGHT},
    [ACTION_ENTER] = {act_enter, 0},
    [ACTION_BACK] = {act_back, 0},
    [ACTION_LEAVE] = {act_leave, 0},
    [ACTION_STOP] = {act_stop_view, 0},
    [ACTION_VIEW] = {act_view, 0},
    [ACTION_VIEWS] = {act_pick, PICKER_VIEWS},
    [ACTION_TREE] = {act_tree, 0},
    [ACTION_HELP] = {act_help, ACTION_HELP},
    [ACTION_NEXT_PANE] = {act_focus, 1},
    [ACTION_PREVIOUS_PANE] = {act_focus, -1},
    [ACTION_SPLIT] = {act_split, 0},
    [ACTION_ZOOM] = {act_zoom, 0},
    [ACTION_CLOSE] = {act_close, 0},
    [ACTION_SORT] = {act_sort, 0},
    [ACTION_SORT_LEFT] = {act_sort_beside, -1},
    [ACTION_SORT_RIGHT] = {act_sort_beside, 1},
    [ACTION_SORT_REVERSE] = {act_reverse, 0},
    [ACTION_CHOOSE_SORT] = {act_pick, PICKER_SORT},
    [ACTION_CHOOSE_COLUMNS] = {act_pick, PICKER_COLUMNS},
    [ACTION_NEXT_MATCH] = {act_find, 1},
    [ACTION_PREVIOUS_MATCH] = {act_find, -1},
    [ACTION_MARK] = {act_mark, 0},
    [ACTION_FOLLOW] = {act_follow, 0},
    [ACTION_MAILBOX] = {act_ask_process, ACTION_MAILBOX},
    [ACTION_STATE] = {act_ask_process, ACTION_STATE},
    [ACTION_COLLECT] = {act_ask_process, ACTION_COLLECT},
    [ACTION_ARMED] = {act_show, ACTION_ARMED},
    [ACTION_PROCESS] = {act_process, 0},
};

static bool is_for_picker(enum action action)
{
    return action_table[action].group == GROUP_MOVE || action == ACTION_MARK ||
           action == ACTION_LEAVE;
}

int screen_takes(const struct screen *s, enum action action, struct error *err)
{
    const struct view_ops *ops = pane_top(panes_focused(s->panes))->ops;
    bool takes = s->picker.kind != PICKER_NONE || view_takes(ops, action);
    return takes ? 0 : means_nothing(ops, action, err);
}

bool screen_has(enum action action)
{
    return handlers[action].run != NULL;
}

int screen_act(struct screen *s, const struct model *m, enum action action, const char *arg,
               struct error *err)
{
    struct pane *pane = panes_focused(s->panes);
    struct act a = {s, m, pane, pane_top(pane), arg ? arg : "", handlers[action].n, err, false};
    enum action_owner owner = action_table[action].owner;
    if (owner != OWNER_SCREEN && owner != OWNER_VIEW)
        return 0;
    /* A list to choose from belongs to the view below it: what changes that closes the list. */
    if (!is_for_picker(action))
        picker_close(s);
    return owner == OWNER_VIEW ? act_of_view(&a, action) : handlers[action].run(&a);
}

int screen_confirm(struct screen *s, const struct model *m, enum action action, struct error *err)
{
    struct pane *pane = panes_focused(s->panes);
    struct act a = {s, m, pane, pane_top(pane), "", 0, err, true};
    return act_of_view(&a, action);
}
