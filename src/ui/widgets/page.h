/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Building the pages that views return. Text is copied into the page's arena. Lengths go with the
 * text: it may hold any byte and is made safe by the canvas. */
#ifndef BEAMTOP_UI_WIDGETS_PAGE_H
#define BEAMTOP_UI_WIDGETS_PAGE_H

#include "beamtop/base/attr.h"
#include "beamtop/base/ring.h"
#include "beamtop/ui/view.h"

void page_init(struct view_page *p);
void page_reset(struct view_page *p); /* empty, for the next round; keeps p->ascii */
void page_clear(struct view_page *p);

/* ---- tables: set the columns, then add rows and fill their cells */
void page_columns(struct view_page *p, const struct view_column *columns, size_t n);
struct view_row *page_row(struct view_page *p); /* the new last row; borrowed until the next one */
void page_cell(struct view_page *p, struct view_row *row, size_t column, enum style style,
               const char *s, size_t len);
void page_cell_printf(struct view_page *p, struct view_row *row, size_t column, enum style style,
                      const char *fmt, ...) ATTR_PRINTF(5, 6);
/* As names are shown, cells too: 'Elixir.Shop.Cart':add/2 is Shop.Cart.add/2. */
struct slice page_name(struct view_page *p, struct slice name);
/* Orders the rows by their key, or by the sorted cell's text; unknown keys come last. Stable. */
void page_sort(struct view_page *p);
/* The same of the rows from `first` on, which then go behind the row `above`, before others. */
void page_sort_below(struct view_page *p, size_t first, size_t above);

/* ---- documents: begin a line, then append to it */
struct view_line *page_line(struct view_page *p); /* borrowed until the next one */
void page_put(struct view_page *p, enum style style, const char *s, size_t len);
void page_puts(struct view_page *p, enum style style, const char *s);
void page_printf(struct view_page *p, enum style style, const char *fmt, ...) ATTR_PRINTF(3, 4);
/* Each begins a line: of that text; with that label, up to a column. */
void page_text(struct view_page *p, enum style style, const char *s);
void page_label(struct view_page *p, const char *label, int column);
void page_slice(struct view_page *p, enum style style, struct slice s);
void page_tab(struct view_page *p, int column); /* spaces up to that column; at least one */
void page_heading(struct view_page *p,
                  const char *title); /* an empty line before, but at the top */
/* A number right-aligned in `width` columns. */
void page_right(struct view_page *p, enum style style, int width, const char *text);
/* Graphs as text of the current line: a sparkline of the newest `window` samples, a bar. */
void page_spark(struct view_page *p, const struct ring *ring, int columns, size_t window,
                double max);
void page_bar(struct view_page *p, int columns, double fraction);

/* ---- what stands beside the title */
/* Appends to the summary, after a comma, when that leaves `title` columns of the `columns`. */
void page_summary(struct view_page *p, int columns, int title, const char *fmt, ...)
    ATTR_PRINTF(4, 5);
/* Why there is nothing to show of `what`: a node has not sent it yet, or a recording lacks it. */
void page_missing(struct view_page *p, const struct model *m, const char *what);
/* The same of what is read of one `thing` at a time; answered: the last answer is of another. */
void page_missing_one(struct view_page *p, const struct model *m, const char *what,
                      const char *thing, bool answered);
/* The key of an action, or what is typed where it has none: ":trace". */
const char *page_key(const struct view_page *p, enum context context, enum action action, char *out,
                     size_t size);
/* A duration in the characters of the page. */
const char *page_duration(const struct view_page *p, char *out, size_t size, double seconds);

/* ---- links */
void link_process(struct view_link *link, const struct etf_pid *pid, struct slice name);
void link_name(struct view_link *link, enum link_kind kind, struct slice name);
/* The row of several processes that is opened, behind which its processes go; n_rows: it is not
 * there. */
size_t page_opened(const struct view_page *p, uint64_t opened);
uint64_t pid_identity(const struct etf_pid *pid);
char *pid_text(char *out, size_t size, const struct etf_pid *pid); /* "<0.41.0>" */

#endif
