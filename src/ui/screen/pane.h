/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The panes: a tree of splits whose leaves show views. Each pane has a stack of views: going in
 * puts one on top, going back finds the one below as it was left. Owned by the screen. */
#ifndef BEAMTOP_UI_SCREEN_PANE_H
#define BEAMTOP_UI_SCREEN_PANE_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/limits.h"
#include "ui/widgets/doc.h"
#include "ui/widgets/flame.h"
#include "ui/widgets/table.h"
#include "beamtop/ui/view.h"

#define PANE_DEPTH 32     /* views on one stack; the oldest is forgotten beyond */
#define PANE_LEAST_ROWS 4 /* rule, titles, two rows */
#define PANE_LEAST_COLUMNS 30
#define PANE_TABS 32
#define PANE_FILTER_BYTES 1024

/* A view in a pane with its place in the page. */
struct pane_entry {
    const struct view_ops *ops;
    void *state;
    struct view_link link; /* what it was opened on */
    struct table table;
    struct doc doc;
    struct flame flame;
    struct view_page pages[2];
    int current;
    bool dirty;
    int made_rows, made_columns;    /* size of the page's pane */
    char filter[PANE_FILTER_BYTES]; /* its pattern */
    struct filter *own; /* compiled, while the pane is without the focus; NULL: not yet */
    char own_pattern[PANE_FILTER_BYTES]; /* that it was compiled of */
};

/* Another view's name in the rule. */
struct pane_tab {
    int column, columns; /* of the canvas */
    const struct view_ops *ops;
};

struct pane {
    struct pane_entry *stack[PANE_DEPTH];
    int depth;
    struct rect rect, body; /* where it was drawn last; the body is without the rule */
    struct pane_tab tabs[PANE_TABS];
    int n_tabs;
};

struct panes;

/* What all panes are drawn with. */
struct pane_look {
    const struct model *model;
    const struct keymap *keymap; /* NULL: that of the start */
    bool live, paused;
    enum syntax syntax;    /* of traces */
    const char *filter;    /* pattern of the focused view, "" none */
    struct regex *match;   /* its last good compilation */
    bool filter_is_wrong;  /* the pattern is being typed and does not compile */
    const char *on_target; /* pattern of the filter that the target applies */
};

struct panes *panes_new(const struct view_ops *ops);
void panes_free(struct panes *p);

struct pane *panes_focused(const struct panes *p);
int panes_count(const struct panes *p);
struct pane *panes_at(const struct panes *p, int index); /* in reading order */
bool panes_is_visible(const struct panes *p, const struct pane *pane);
struct pane *panes_find(const struct panes *p, int row, int column); /* NULL: none there */
void panes_focus(struct panes *p, struct pane *pane);
void panes_focus_next(struct panes *p, int direction);
void panes_zoom(struct panes *p);
/* Splits the focused pane; the new one shows the same view and has the focus. ERR_LIMIT: as many
   as may be; ERR_USAGE: too small. */
int panes_split(struct panes *p, bool right, struct error *err);
int panes_close(struct panes *p, struct error *err); /* the last one stays: ERR_USAGE */
void panes_dirty(struct panes *p);                   /* pages are made again at the next draw */
void panes_draw(struct panes *p, struct canvas *c, struct rect r, const struct pane_look *look);

/* What its page is drawn as. */
enum view_kind pane_kind(const struct pane_entry *e);
/* The view whose name stands there in the rule; NULL: none. */
const struct view_ops *pane_tab_at(const struct pane *pane, int row, int column);
struct pane_entry *pane_top(const struct pane *pane);
struct view_page *pane_page(const struct pane *pane); /* the page shown last */
int pane_rows(const struct pane *pane);               /* of its body; a guess before it was drawn */
/* Shows a view: one that is on the stack comes to the top as it was, unless a link is given. */
int pane_show(struct pane *pane, const struct view_ops *ops, const struct view_link *link,
              struct error *err);
/* On its stack, opened on the same thing. */
bool pane_has(const struct pane *pane, const struct view_ops *ops, const struct view_link *link);
bool pane_back(struct pane *pane); /* false: nothing below */
void pane_drop(struct pane *pane); /* frees its views; it is to be freed itself then */
struct view_link pane_link(const struct pane *pane); /* under the cursor */
void pane_want(const struct pane *pane, struct want *want);
void pane_draw(struct pane *pane, struct canvas *c, struct rect r, bool focused,
               const struct pane_look *look);

#endif
