/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the views share. */
#ifndef BEAMTOP_UI_VIEWS_VIEWS_H
#define BEAMTOP_UI_VIEWS_VIEWS_H

#include "beamtop/model/column.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/want.h"
#include "beamtop/ui/keymap.h"
#include "ui/widgets/page.h"
#include "beamtop/ui/view.h"

/* ---- views.c: page_missing() of a scan, with how far the first sweep is. */
void view_missing_scan(struct view_page *page, const struct model *m);

/* ---- cells.c: values of a process as text in its style */
void cell_of_column(struct view_page *page, struct view_row *row, size_t index,
                    const struct field *column, const struct proc_row *proc);

/* Sizes that were read some time ago: what stands before one, and why, in the summary of a page. */
struct older {
    bool any, any_least; /* some were read, most_s ago at most; some never */
    double most_s;
};
/* The sign before the cell of that key. */
struct rows;
void rows_mark_older(const struct rows *r, struct view_page *page, struct view_row *row,
                     const char *key, bool is_older, double age_s);
const char *older_sign(bool is_older, double age_s);
void older_ago(char *out, size_t size, double age_s); /* when it was read, in words */
void older_add(struct older *o, bool is_older, double age_s);
void older_say(const struct older *o, struct view_page *page);
void older_say_why(const struct older *o, struct view_page *page, const char *why);

#endif
