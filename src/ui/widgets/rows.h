/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables of rows that have fields (model/field.h): their columns, cells and order. A view has a
 * `struct rows` as the first member of its state, and one `struct rows_of` for each way to show its
 * rows. */
#ifndef BEAMTOP_UI_WIDGETS_ROWS_H
#define BEAMTOP_UI_WIDGETS_ROWS_H

#include "beamtop/model/field.h"
#include "beamtop/model/model.h"
#include "page.h"

#define ROWS_COLUMNS 24

/* Constant. */
struct rows_of {
    const char *word; /* what `by` calls it; NULL: there is only this one */
    const struct field_list *fields;
    const char *sort; /* key of a new view, largest first; "": in the order of the rows, until a key
                         is chosen; NULL: always */
    const char *where, *only; /* key and value of a text that rows have; NULL: all rows */
    bool groups; /* rows_of_table() adds rows up by the text field whose key is `word` */
};

struct rows {
    const struct rows_of *of; /* all of them; `by` is the one that is shown */
    size_t n_of, by;
    const char *sort; /* key; NULL: in the order of the rows */
    bool ascending;
    uint64_t opened; /* row whose parts are shown below it; 0: none */
    const struct field *fields[ROWS_COLUMNS];
    struct view_column columns[ROWS_COLUMNS];
    char titles[ROWS_COLUMNS][FIELD_TITLE_BYTES];
    size_t n;
};

void rows_init(struct rows *r, const struct rows_of *of, size_t n_of);
/* Columns (NULL: those of the list) and order of the page, which has no row yet. */
void rows_begin(struct rows *r, struct view_page *page, const char *columns);
/* A row with its cells and its key for the order; link, identity and what else stands out is the
 * caller's. */
struct view_row *rows_add(const struct rows *r, struct view_page *page, const void *row);
/* The rows of an answer of QUESTION_LISTS, in order. about: what the caller adds to each; may be
   NULL. NULL: there is no answer, and the page says why. */
const struct table_detail *rows_of_table(struct rows *r, struct view_page *page,
                                         const struct model *m, enum question question,
                                         void (*about)(const struct rows *r, struct view_page *page,
                                                       struct view_row *row, const void *of));
/* The cell of that key; NULL: it is not among the columns. */
struct text_span *rows_cell(const struct rows *r, struct view_row *row, const char *key);

/* As `sort` and `by` of a view (beamtop/ui/view.h): state begins with a struct rows. */
void rows_sort(void *state, const char *key, int direction);
int rows_by(void *state, const struct view_call *call);
/* Opens the row of several processes under the cursor, or closes it. */
int rows_fold(void *state, const struct view_call *call);
/* As `by` does; "": the next way to show the rows. */
int rows_show(struct rows *r, const char *word, struct error *err);

#endif
