/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the mouse does to the screen. */
#include "screen_act.h"

static void click_picker(struct screen *s, int row)
{
    struct picker *p = &s->picker;
    struct error err = {0};
    int at = table_hit_row(&p->table, &p->page, p->rect, row);
    if (at < 0)
        return;
    bool again = (size_t)at == p->table.cursor;
    table_goto(&p->table, &p->page, (size_t)at);
    if (again && picker_choose(s, p->kind != PICKER_COLUMNS, &err) < 0)
        screen_set_message(s, STYLE_ERROR, err.text);
}

static void click_table(struct act *a, int row, int column)
{
    struct pane_entry *e = a->e;
    const struct view_page *page = pane_page(a->pane);
    int title = table_hit_title(&e->table, page, a->pane->body, row, column);
    if (title >= 0 && page->columns[title].sortable)
        act_sort_by(a, page->columns[title].key, 0);
    int at = table_hit_row(&e->table, page, a->pane->body, row);
    if (at < 0)
        return;
    bool again = (size_t)at == e->table.cursor;
    table_goto(&e->table, page, (size_t)at);
    if (again)
        act_enter(a, 0);
}

static void click_flame(struct act *a, int row, int column)
{
    struct flame *f = &a->e->flame;
    long box = flame_hit(f, a->pane->body, row, column);
    if (box < 0)
        return;
    bool again = (size_t)box == f->cursor;
    flame_goto(f, (size_t)box);
    if (again)
        act_enter(a, 0);
}

void screen_click(struct screen *s, const struct model *m, int row, int column)
{
    if (s->picker.kind != PICKER_NONE) {
        click_picker(s, row);
        return;
    }
    struct pane *pane = panes_find(s->panes, row, column);
    if (!pane)
        return;
    panes_focus(s->panes, pane);
    struct error err = {0};
    struct act a = {s, m, pane, pane_top(pane), "", &err};
    if (pane_kind(a.e) == VIEW_FLAME) {
        click_flame(&a, row, column);
        return;
    }
    if (a.e->ops->kind == VIEW_TABLE) {
        click_table(&a, row, column);
        return;
    }
    long line = doc_hit(&a.e->doc, pane_page(pane), pane->body, row);
    bool again = line >= 0 && line == a.e->doc.cursor;
    doc_goto(&a.e->doc, pane_page(pane), line);
    if (again)
        act_enter(&a, 0);
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
