/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Styled lines on the screen. Where a page has links the cursor goes from link to link and the text
 * follows; otherwise moving scrolls. The cursor stays on what its link opens. The page's first
 * `fixed` lines stay where they are. */
#ifndef BEAMTOP_UI_WIDGETS_DOC_H
#define BEAMTOP_UI_WIDGETS_DOC_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/regex.h"
#include "beamtop/ui/canvas.h"
#include "table.h"
#include "beamtop/ui/view.h"

struct doc {
    size_t top;  /* lines that have gone up out of sight, below the fixed ones */
    bool at_end; /* the last line was in sight when it was drawn last */
    int left;
    long cursor;            /* line of the link with the cursor, -1: none */
    bool on_first, on_last; /* no link comes before it, none after it */
    bool reveal;            /* at the next draw: scroll to see all of what was opened there */
    struct view_link link;  /* what it opens: found again in the next page */
};

void doc_init(struct doc *d);
void doc_take(struct doc *d, const struct view_page *page);
bool doc_move(struct doc *d, const struct view_page *page, enum move move, int rows);
void doc_scroll(struct doc *d, const struct view_page *page, int lines, int rows);
bool doc_find(struct doc *d, struct view_page *page, struct regex *re, int direction);
void doc_draw(struct doc *d, struct view_page *page, struct canvas *c, struct rect r,
              const struct table_look *look);
/* Canvas row to the line with a link there, -1: none. */
long doc_hit(const struct doc *d, const struct view_page *page, struct rect r, int row);
void doc_goto(struct doc *d, const struct view_page *page, long line);

#endif
