/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of splits. */
#include "pane.h"

#include <assert.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"

struct split {
    struct pane *pane; /* a leaf has one, a split has two halves */
    struct split *parent, *half[2];
    bool right; /* the second half is at the right, else below */
};

struct panes {
    struct split *root, *focus;
    bool zoomed;
};

static struct split *leaf_new(const struct view_ops *ops)
{
    struct split *s = alloc_zero(1, sizeof *s);
    s->pane = alloc_zero(1, sizeof *s->pane);
    int status = pane_show(s->pane, ops, NULL, NULL);
    assert(status == 0);
    (void)status;
    return s;
}

static void leaf_free(struct split *s)
{
    pane_drop(s->pane);
    free(s->pane);
    free(s);
}

struct panes *panes_new(const struct view_ops *ops)
{
    struct panes *p = alloc_zero(1, sizeof *p);
    p->root = p->focus = leaf_new(ops);
    return p;
}

/* Leaves in reading order into out, which has room for LIMIT_PANES. */
static int list_leaves(struct split *s, struct split **out, int n)
{
    if (s->pane) {
        out[n++] = s;
        return n;
    }
    n = list_leaves(s->half[0], out, n);
    return list_leaves(s->half[1], out, n);
}

static void split_free(struct split *s)
{
    if (s->pane) {
        leaf_free(s);
        return;
    }
    split_free(s->half[0]);
    split_free(s->half[1]);
    free(s);
}

void panes_free(struct panes *p)
{
    if (!p)
        return;
    split_free(p->root);
    free(p);
}

struct pane *panes_focused(const struct panes *p)
{
    return p->focus->pane;
}

int panes_count(const struct panes *p)
{
    struct split *all[LIMIT_PANES];
    return list_leaves(p->root, all, 0);
}

struct pane *panes_at(const struct panes *p, int index)
{
    struct split *all[LIMIT_PANES];
    int n = list_leaves(p->root, all, 0);
    return index >= 0 && index < n ? all[index]->pane : NULL;
}

bool panes_is_visible(const struct panes *p, const struct pane *pane)
{
    return !p->zoomed || pane == p->focus->pane;
}

struct pane *panes_find(const struct panes *p, int row, int column)
{
    struct split *all[LIMIT_PANES];
    int n = list_leaves(p->root, all, 0);
    for (int i = 0; i < n; i++) {
        struct rect r = all[i]->pane->rect;
        if (panes_is_visible(p, all[i]->pane) && row >= r.row && row < r.row + r.rows &&
            column >= r.column && column < r.column + r.columns)
            return all[i]->pane;
    }
    return NULL;
}

void panes_focus(struct panes *p, struct pane *pane)
{
    struct split *all[LIMIT_PANES];
    int n = list_leaves(p->root, all, 0);
    for (int i = 0; i < n; i++)
        if (all[i]->pane == pane)
            p->focus = all[i];
}

void panes_focus_next(struct panes *p, int direction)
{
    struct split *all[LIMIT_PANES];
    int n = list_leaves(p->root, all, 0);
    for (int i = 0; i < n; i++)
        if (all[i] == p->focus) {
            p->focus = all[(i + direction + n) % n];
            return;
        }
}

void panes_zoom(struct panes *p)
{
    p->zoomed = !p->zoomed && p->root != p->focus;
}

int panes_split(struct panes *p, bool right, struct error *err)
{
    struct split *old = p->focus;
    struct rect r = old->pane->rect;
    if (panes_count(p) == LIMIT_PANES)
        return error_set(err, ERR_LIMIT, "there are %d panes, as many as there may be",
                         LIMIT_PANES);
    if (right ? r.columns < 2 * PANE_LEAST_COLUMNS + 1 : r.rows < 2 * PANE_LEAST_ROWS)
        return error_set(err, ERR_USAGE, "this pane is too small to be split");
    struct split *both = alloc_zero(1, sizeof *both), *new = leaf_new(pane_top(old->pane)->ops);
    both->right = right;
    both->parent = old->parent;
    both->half[0] = old;
    both->half[1] = new;
    if (!old->parent)
        p->root = both;
    else
        old->parent->half[old->parent->half[1] == old] = both;
    old->parent = new->parent = both;
    p->focus = new;
    p->zoomed = false;
    return 0;
}

int panes_close(struct panes *p, struct error *err)
{
    struct split *gone = p->focus, *both = gone->parent;
    if (!both)
        return error_set(err, ERR_USAGE, "this is the only pane");
    struct split *stays = both->half[both->half[0] == gone];
    stays->parent = both->parent;
    if (!both->parent)
        p->root = stays;
    else
        both->parent->half[both->parent->half[1] == both] = stays;
    struct split *all[LIMIT_PANES];
    list_leaves(stays, all, 0);
    p->focus = all[0];
    p->zoomed = false;
    leaf_free(gone);
    free(both);
    return 0;
}

static struct rect half_of(const struct split *s, struct rect r, int half)
{
    int first = s->right ? (r.columns - 1) / 2 : (r.rows + 1) / 2;
    if (s->right)
        return half ? (struct rect){r.row, r.column + first + 1, r.rows, r.columns - first - 1}
                    : (struct rect){r.row, r.column, r.rows, first};
    return half ? (struct rect){r.row + first, r.column, r.rows - first, r.columns}
                : (struct rect){r.row, r.column, first, r.columns};
}

static void place_split(struct split *s, struct rect r)
{
    if (s->pane) {
        s->pane->rect = r;
        return;
    }
    place_split(s->half[0], half_of(s, r, 0));
    place_split(s->half[1], half_of(s, r, 1));
}

/* Sets every pane's rect. */
static void place_panes(struct panes *p, struct rect r)
{
    place_split(p->root, r);
    if (p->zoomed)
        p->focus->pane->rect = r;
}

void panes_dirty(struct panes *p)
{
    struct split *all[LIMIT_PANES];
    int n = list_leaves(p->root, all, 0);
    for (int i = 0; i < n; i++)
        pane_top(all[i]->pane)->dirty = true;
}

static void draw_borders(const struct split *s, struct canvas *c, struct rect r)
{
    if (s->pane)
        return;
    for (int row = 0; s->right && row < r.rows; row++)
        canvas_puts(c, r, row, (r.columns - 1) / 2, STYLE_TITLE_IDLE, c->ascii ? "|" : "│");
    draw_borders(s->half[0], c, half_of(s, r, 0));
    draw_borders(s->half[1], c, half_of(s, r, 1));
}

void panes_draw(struct panes *p, struct canvas *c, struct rect r, const struct pane_look *look)
{
    struct split *all[LIMIT_PANES];
    int n = list_leaves(p->root, all, 0);
    place_panes(p, r);
    for (int i = 0; i < n; i++)
        if (panes_is_visible(p, all[i]->pane))
            pane_draw(all[i]->pane, c, all[i]->pane->rect, all[i] == p->focus, look);
    if (!p->zoomed)
        draw_borders(p->root, c, r);
}
