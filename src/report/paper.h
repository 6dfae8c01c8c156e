/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report on its way out: headings, texts, lists, tables, charts, in no format yet. Texts are kept
 * as they came; each format makes them safe where it writes them. */
#ifndef BEAMTOP_REPORT_PAPER_H
#define BEAMTOP_REPORT_PAPER_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/arena.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/model/field.h"

#define PAPER_COLUMNS 16

enum block_kind { BLOCK_HEADING, BLOCK_TEXT, BLOCK_ITEM, BLOCK_TABLE, BLOCK_CHART, BLOCK_FINDING };

struct paper_row {
    const char *cells[PAPER_COLUMNS];
    bool legend; /* of a table of recordings: with letters for these, it stands with their names */
    struct paper_row *next;
};

struct block {
    enum block_kind kind;
    int level;         /* of a heading: 1, 2, 3 */
    const char *text;  /* of all but tables; of a chart its title */
    const char *word;  /* of a finding: "fix", "check", "info" */
    const char *aside; /* of a finding and of a chart: what is said of it in short */
    /* tables */
    size_t columns;
    const char *const *titles; /* PAPER_COLUMNS at most */
    const char *align;         /* "l" or "r" for each column */
    bool recordings; /* all columns but the first: text that is too narrow names them by letters */
    struct paper_row *rows, **last_row;
    /* charts */
    const double *values;
    size_t n_values;
    const char *low, *high;  /* what the least and the largest value of the axis are */
    double top;              /* the axis ends there */
    const char *begin, *end; /* when the first and the last value were */
    bool beside;             /* it belongs to the finding before it */
    struct block *next;
};

struct paper {
    struct arena arena;
    struct block *first, **last;
    const char *title;
};

void paper_init(struct paper *p);
void paper_clear(struct paper *p);
/* What is printed into texts lives in the paper's arena. */
void paper_heading(struct paper *p, int level, const char *fmt, ...) ATTR_PRINTF(3, 4);
void paper_put(struct paper *p, const char *fmt, ...) ATTR_PRINTF(2, 3);
void paper_item(struct paper *p, const char *fmt, ...) ATTR_PRINTF(2, 3);
struct block *paper_finding(struct paper *p, const char *word, const char *aside,
                            const char *title);
/* titles must outlive the paper. */
struct block *paper_table(struct paper *p, const char *const *titles, size_t columns,
                          const char *align);
void paper_row(struct paper *p, struct block *table, const char *const *cells); /* copied */
void paper_legend_row(struct paper *p, struct block *table, const char *const *cells);
/* A table of rows with fields, in the list's columns. */
struct block *paper_rows(struct paper *p, const struct field_list *list, const void *rows, size_t n,
                         size_t row_bytes);
/* Scaled from 0 to top; values are copied. */
struct block *paper_chart(struct paper *p, const char *title, const double *values, size_t n);

/* For people, of the arena; a dash when unknown. */
const char *number_text(struct arena *a, enum column_type type, double v);
const char *slice_text(struct arena *a, struct slice s);

/* Leaves out columns in which no row says anything, but for those of recordings and the first. */
void paper_drop_empty_columns(struct paper *p);

void paper_put_text(struct buf *out, const struct paper *p, int columns, bool ascii);
void paper_put_markdown(struct buf *out, const struct paper *p);
void paper_put_html(struct buf *out, const struct paper *p);

#endif
