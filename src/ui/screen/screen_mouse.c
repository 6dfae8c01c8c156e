/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the mouse does to the screen. */
#include "screen_act.h"

/* A key that stands in the bottom row. False: none is there. */
static bool click_bottom(struct screen *s, const struct model *m, int row, int column)
{
    struct error err = {0};
    for (int i = 0; i < s->n_hits; i++) {
        const struct bottom_hit hit = s->hits[i];
        if (row != hit.row || column < hit.column || column >= hit.column + hit.columns)
            continue;
        enum action_owner owner = action_table[hit.action].owner;
        if (owner != OWNER_SCREEN && owner != OWNER_VIEW)
            screen_ask_action(s, hit.action);
        else if (screen_act(s, m, hit.action, hit.arg, &err) < 0)
            screen_set_message(s, STYLE_ERROR, err.text);
        return true;
    }
    return false;
}

static void click_picker(struct screen *s, int row, bool twice)
{
    struct picker *p = &s->picker;
    struct error err = {0};
    int at = table_hit_row(&p->table, &p->page, p->rect, row);
    if (at < 0)
        return;
    bool again = twice && (size_t)at == p->table.cursor;
    table_goto(&p->table, &p->page, (size_t)at);
    if (again && (p->kind == PICKER_COLUMNS ? picker_mark : picker_choose)(s, &err) < 0)
        screen_set_message(s, STYLE_ERROR, err.text);
}

/* A double click. */
static void open_there(struct act *a)
{
    if (act_enter(a) < 0)
        screen_set_message(a->s, STYLE_ERROR, a->err->text);
}

static void click_table(struct act *a, int row, int column, bool twice)
{
    struct pane_entry *e = a->e;
    const struct view_page *page = pane_page(a->pane);
    int title = table_hit_title(&e->table, page, a->pane->body, row, column);
    if (title >= 0 && page->columns[title].sortable)
        act_sort_by(a, page->columns[title].key, 0);
    int at = table_hit_row(&e->table, page, a->pane->body, row);
    if (at < 0)
        return;
    bool again = twice && (size_t)at == e->table.cursor;
    table_goto(&e->table, page, (size_t)at);
    if (again)
        open_there(a);
}

static void click_flame(struct act *a, int row, int column, bool twice)
{
    struct flame *f = &a->e->flame;
    long box = flame_hit(f, a->pane->body, row, column);
    if (box < 0)
        return;
    bool again = twice && (size_t)box == f->cursor;
    flame_goto(f, (size_t)box);
    if (again)
        open_there(a);
}

void screen_click(struct screen *s, const struct model *m, int row, int column, bool twice)
{
    if (click_bottom(s, m, row, column))
        return;
    if (s->picker.kind != PICKER_NONE) {
        click_picker(s, row, twice);
        return;
    }
    struct pane *pane = panes_find(s->panes, row, column);
    if (!pane)
        return;
    panes_focus(s->panes, pane);
    struct error err = {0};
    const struct view_ops *tab = pane_tab_at(pane, row, column);
    if (tab) {
        if (screen_act(s, m, ACTION_VIEW, tab->name, &err) < 0)
            screen_set_message(s, STYLE_ERROR, err.text);
        return;
    }
    struct act a = {s, m, pane, pane_top(pane), "", 0, &err, false};
    if (pane_kind(a.e) == VIEW_FLAME) {
        click_flame(&a, row, column, twice);
        return;
    }
    if (a.e->ops->kind == VIEW_TABLE) {
        click_table(&a, row, column, twice);
        return;
    }
    long line = doc_hit(&a.e->doc, pane_page(pane), pane->body, row);
    bool again = twice && line >= 0 && line == a.e->doc.cursor;
    doc_goto(&a.e->doc, pane_page(pane), line);
    if (again)
        open_there(&a);
}

void screen_wheel(struct screen *s, const struct model *m, int row, int column, int lines)
{
    struct picker *p = &s->picker;
    (void)m;
    if (p->kind != PICKER_NONE) {
        table_scroll(&p->table, &p->page, lines, p->rect.rows);
        return;
    }
    struct pane *pane = panes_find(s->panes, row, column);
    if (!pane)
        return;
    struct pane_entry *e = pane_top(pane);
    if (pane_kind(e) == VIEW_FLAME)
        flame_move(&e->flame, lines < 0 ? MOVE_UP : MOVE_DOWN, pane_rows(pane));
    else if (e->ops->kind == VIEW_TABLE)
        table_scroll(&e->table, pane_page(pane), lines, pane_rows(pane));
    else
        doc_scroll(&e->doc, pane_page(pane), lines, pane_rows(pane));
    e->dirty = e->dirty || (e->ops->kind == VIEW_TABLE && e->table.cursor == 0);
}
