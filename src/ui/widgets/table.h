/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list on the screen. The cursor stays on the identity of its row. While the cursor is inside the
 * list (not on its first row), rows keep their places: what left the list stays as a dim row, what
 * came joins at the end, until the cursor is back at the top or an order is asked for. */
#ifndef BEAMTOP_UI_WIDGETS_TABLE_H
#define BEAMTOP_UI_WIDGETS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/regex.h"
#include "beamtop/model/want.h"
#include "beamtop/ui/canvas.h"
#include "beamtop/ui/view.h"

#define TABLE_COLUMNS 260 /* of one page: a matrix has one for each of MATRIX_NODES */
#define TABLE_FOLDED 256  /* rows of one list */

/* clang-format off */
enum move {
    MOVE_UP, MOVE_DOWN, MOVE_LEFT, MOVE_RIGHT, MOVE_PAGE_UP, MOVE_PAGE_DOWN, MOVE_FIRST, MOVE_LAST,
};
/* clang-format on */

#define TABLE_MARKS 1000 /* nodes of a list; of processes WANT_PIDS: the node is asked for each */

struct table_mark {
    uint64_t id;        /* of the row */
    struct etf_pid pid; /* of a process; else zeroed */
};

struct table {
    size_t cursor;      /* index of the cursor's row */
    uint64_t cursor_id; /* 0: none yet */
    size_t top;         /* index of the first row shown */
    int left;           /* columns of the page scrolled out at the left */
    int resort;         /* rounds in which the new order is taken although the cursor is inside */
    bool held;          /* places are being kept */
    int asked;          /* rows that the node was asked for; 0: the page has all there are */
    bool to_end;        /* the cursor goes to the last row as soon as there are more */
    uint64_t *order;    /* identities in the order shown */
    size_t n_order, cap_order;
    struct table_mark *marks;
    size_t n_marks;
    uint64_t folded[TABLE_FOLDED]; /* rows whose descendants are hidden */
    size_t n_folded;
    int grown[TABLE_COLUMNS]; /* the widest text seen of each column: widths do not shrink again */
    const struct view_column *grown_columns;
};

/* How to draw. */
struct table_look {
    bool focused;
    struct regex *match; /* highlighted; NULL: nothing */
};

void table_init(struct table *t);
void table_clear(struct table *t);

/*
 * Takes a new page: finds the cursor's row in it and keeps places as said above. `before` is the
 * page shown until now (rows that left are copied from it), or NULL. */
void table_take(struct table *t, struct view_page *page, const struct view_page *before);
/* Before that, of a tree (page->in_place): leaves out what is below a folded row, whose first cell
 * says how many rows that are. */
void table_hide_folded(const struct table *t, struct view_page *page);
/* In a tree MOVE_LEFT folds the row of the cursor, or goes to its parent; MOVE_RIGHT unfolds it.
 * False: it means something else there. The page has to be made again. */
bool table_fold(struct table *t, const struct view_page *page, enum move move);
void table_ask_order(struct table *t); /* the next orders are taken as they come */
void table_forget_widths(struct table *t);

/* Moves the cursor; `rows` is the height of the rectangle drawn to. Returns true if
 * anything moved. */
bool table_move(struct table *t, const struct view_page *page, enum move move, int rows);
void table_scroll(struct table *t, const struct view_page *page, int lines, int rows);
void table_goto(struct table *t, const struct view_page *page, size_t index);
bool table_mark_is_process(const struct table_mark *mark);
/* Marks the cursor's row, or takes its mark away. ERR_NOT_FOUND: there is none; ERR_LIMIT. */
int table_mark(struct table *t, const struct view_page *page, struct error *err);
bool table_row_matches(const struct view_page *page, const struct view_row *row, struct regex *re);
/* The next row (direction 1) or the one before (-1) with a cell that matches; false: none. */
bool table_find(struct table *t, const struct view_page *page, struct regex *re, int direction);

/* Row 0 of the rectangle has the titles. */
void table_draw(struct table *t, const struct view_page *page, struct canvas *c, struct rect r,
                const struct table_look *look);
/* Canvas coordinates to an index; -1: none. */
int table_hit_row(const struct table *t, const struct view_page *page, struct rect r, int row);
int table_hit_title(const struct table *t, const struct view_page *page, struct rect r, int row,
                    int column);

#endif
