/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The drawing of a table, and what is under the mouse. */
#include "table.h"

#include <string.h>

#include "beamtop/base/text.h"
#include "page.h"

#define EDGE 1           /* the column of marks at the left */
#define GAP 1            /* between columns */
#define NARROWEST 16     /* a growing column does not shrink below this */
#define CUT_LEAST 4      /* a text is not cut below this, nor below its title */
#define ROWS_COMPARED 64 /* above and below: those in sight */
#define PINNED 2 /* columns that stay while the others scroll, where they leave half the room */

struct fitted {
    int at[TABLE_COLUMNS]; /* column within the scrolled body */
    int width[TABLE_COLUMNS];
    int n, total;
    int pinned, pinned_columns; /* how many columns do not scroll, and their width with gaps */
    int scrolled;               /* what the others are moved to the left by: whole columns */
};

/* Where a column is drawn: within the part that stands or the part that scrolls. */
static struct rect part_of(const struct fitted *f, struct rect r, int column)
{
    int edge = column < f->pinned ? EDGE : EDGE + f->pinned_columns;
    int columns = column < f->pinned ? f->pinned_columns : r.columns - edge;
    return (struct rect){r.row, r.column + edge, r.rows, columns};
}

static int at_of(const struct fitted *f, int column)
{
    return column < f->pinned ? f->at[column] : f->at[column] - f->pinned_columns - f->scrolled;
}

static int span_columns(struct text_span s)
{
    return (int)text_width(s.s, s.len);
}

static int least_width(const struct view_column *column)
{
    int title = text_columns(column->title);
    return column->width > title ? column->width : title;
}

/* Widths grow with the texts seen and never shrink, so columns do not move. */
static void note_widths(struct table *t, const struct view_page *page, int n)
{
    if (t->grown_columns != page->columns) {
        t->grown_columns = page->columns;
        memset(t->grown, 0, sizeof t->grown);
    }
    for (int i = 0; i < n; i++)
        for (size_t row = 0; row < page->n_rows; row++) {
            int indent = i == 0 ? page->rows[row].indent : 0;
            int width = span_columns(page->rows[row].cells[i]) + indent;
            if (width > t->grown[i])
                t->grown[i] = width;
        }
}

static int total_width(const struct fitted *f)
{
    int total = 0;
    for (int i = 0; i < f->n; i++)
        total += f->width[i] + (i ? GAP : 0);
    return total;
}

/* What a text column needs for what it has shown so far. */
static int seen_width(const struct table *t, const struct view_column *column, int i)
{
    int title = text_columns(column->title);
    int width = t->grown[i] > title ? t->grown[i] : title;
    return width > NARROWEST ? width : NARROWEST;
}

/* Takes up to `most` columns off, not below `least`. Returns how many. */
static int narrow_column(struct fitted *f, int i, int least, int most)
{
    int spare = f->width[i] > least ? f->width[i] - least : 0;
    int taken = spare < most ? spare : most;
    f->width[i] -= taken;
    return taken;
}

/* The first column names the row: it keeps what it needs, up to a fifth of the screen. */
static int narrowest_width(const struct table *t, const struct view_page *page, int columns, int i)
{
    const int seen = seen_width(t, &page->columns[i], i), part = columns / 5;
    if (i > 0)
        return NARROWEST;
    return seen < part ? seen : part > NARROWEST ? part : NARROWEST;
}

/*
 * Numbers that do not fit their column widen it; text columns that grow share the room left. Where
 * there is too little, they first give what they do not use, then the last ones are cut. */
static void fit_table_columns(const struct table *t, const struct view_page *page, int columns,
                              struct fitted *f)
{
    f->n = page->n_columns < TABLE_COLUMNS ? (int)page->n_columns : TABLE_COLUMNS;
    for (int i = 0; i < f->n; i++) {
        f->width[i] = least_width(&page->columns[i]);
        if (page->columns[i].right && t->grown[i] > f->width[i])
            f->width[i] = t->grown[i];
    }
    int room = columns - EDGE - total_width(f);
    for (bool changed = true; room > 0 && changed;) {
        changed = false;
        for (int i = 0; i < f->n && room > 0; i++)
            if (page->columns[i].grows && f->width[i] < t->grown[i]) {
                f->width[i]++;
                room--;
                changed = true;
            }
    }
    for (int i = 0; i < f->n && room < 0; i++)
        if (page->columns[i].grows)
            room += narrow_column(f, i, seen_width(t, &page->columns[i], i), -room);
    for (int i = f->n - 1; i >= 0 && room < 0; i--)
        if (page->columns[i].grows)
            room += narrow_column(f, i, narrowest_width(t, page, columns, i), -room);
    if (page->bar_column >= 0 && page->bar_column < f->n && room > 0)
        f->width[page->bar_column] += room;
    f->total = total_width(f);
    for (int i = 0, at = 0; i < f->n; i++) {
        f->at[i] = at;
        at += f->width[i] + GAP;
        if (i < PINNED && at <= columns / 2) {
            f->pinned = i + 1;
            f->pinned_columns = at;
        }
    }
}

/* Whole columns are scrolled, and no more of them than it takes to see the last one. */
static void scroll_columns(const struct table *t, struct fitted *f, int columns)
{
    int room = columns - EDGE - f->pinned_columns, left = 0;
    while (left < t->left && f->pinned + left + 1 < f->n &&
           f->total - f->at[f->pinned + left] > room)
        left++;
    f->scrolled = f->pinned < f->n ? f->at[f->pinned + left] - f->pinned_columns : 0;
}

/* Of a column that does not fit whole, a text is cut where its title fits; numbers are left out. */
static void drop_cut(const struct view_page *page, struct fitted *f, int columns)
{
    int end = columns - EDGE - f->pinned_columns;
    for (int i = f->pinned; i < f->n; i++) {
        int room = end - at_of(f, i);
        if (room >= f->width[i] || room >= end) /* the first one is cut at least */
            continue;
        bool cut = !page->columns[i].right && room >= CUT_LEAST &&
                   room >= text_columns(page->columns[i].title);
        if (cut)
            f->width[i] = room;
        f->n = cut ? i + 1 : i;
    }
}

static void place_columns(struct fitted *f)
{
    for (int i = 0, at = 0; i < f->n; i++) {
        f->at[i] = at;
        at += f->width[i] + GAP;
    }
    f->total = total_width(f);
}

/* Gives the room of columns that are left out to truncated texts, from the left. */
static void use_room(const struct table *t, const struct view_page *page, struct fitted *f,
                     int columns)
{
    int room = columns - EDGE - total_width(f);
    for (int i = 0; i < f->n && room > 0; i++) {
        int more = t->grown[i] - f->width[i];
        if (!page->columns[i].grows || more <= 0)
            continue;
        more = more < room ? more : room;
        f->width[i] += more;
        room -= more;
        if (i < f->pinned)
            f->pinned_columns += more;
    }
    place_columns(f);
}

/* Where each column stands that is drawn or hit by the mouse. */
static void lay_out_columns(const struct table *t, const struct view_page *page, int columns,
                            struct fitted *f)
{
    fit_table_columns(t, page, columns, f);
    const int all = f->n;
    scroll_columns(t, f, columns);
    drop_cut(page, f, columns);
    if (f->n < all && f->scrolled == 0)
        use_room(t, page, f, columns);
}

/* Scrolling beyond the last column is not remembered. */
static void clamp_columns(struct table *t, const struct fitted *f)
{
    int left = 0;
    while (f->pinned + left < f->n && f->at[f->pinned + left] - f->pinned_columns < f->scrolled)
        left++;
    t->left = left;
}

static void clamp_rows(struct table *t, size_t n_rows, int body)
{
    size_t shown = (size_t)(body > 0 ? body : 0);
    if (t->cursor < t->top)
        t->top = t->cursor;
    if (shown && t->cursor >= t->top + shown)
        t->top = t->cursor - shown + 1;
    if (t->top + shown > n_rows)
        t->top = n_rows > shown ? n_rows - shown : 0;
}

static void draw_titles(const struct view_page *page, const struct fitted *f, struct canvas *c,
                        struct rect r)
{
    for (int i = 0; i < f->n; i++) {
        const struct view_column *column = &page->columns[i];
        bool sorted = page->sort_column == i;
        enum style style = sorted ? STYLE_HEADING_SORT : STYLE_HEADING;
        struct rect body = part_of(f, r, i);
        int at = at_of(f, i), width = text_columns(column->title);
        int from = column->right ? at + f->width[i] - width : at;
        canvas_puts(c, body, 0, from, style, column->title);
        if (!sorted)
            continue;
        const char *arrow =
            c->ascii ? (page->sort_descending ? "v" : "^") : (page->sort_descending ? "▼" : "▲");
        canvas_puts(c, body, 0, column->right ? from - 1 : from + width, style, arrow);
    }
}

/* The matching part of a cell in the style for matches. */
static void draw_match(struct canvas *c, struct rect r, int row, int at, int width,
                       struct text_span cell, struct regex *re)
{
    size_t from, to;
    if (!re || !regex_find(re, cell.s, cell.len, &from, &to) || to <= from)
        return;
    int first = (int)text_width(cell.s, from), n = (int)text_width(cell.s + from, to - from);
    if (first + n > width)
        n = width - first;
    if (n > 0)
        canvas_restyle(c, r, row, at + first, n, STYLE_MATCH);
}

/* Another row of the column has the same visible beginning: they differ later. */
static bool is_told_by_its_end(const struct view_page *page, size_t index, int column, int width)
{
    const struct text_span cell = page->rows[index].cells[column];
    size_t used = 0,
           seen = text_prefix(cell.s, cell.len, (size_t)(width > 1 ? width - 1 : 0), &used);
    const size_t from = index > ROWS_COMPARED ? index - ROWS_COMPARED : 0;
    for (size_t i = from; i < page->n_rows && i < index + ROWS_COMPARED; i++) {
        const struct text_span other = page->rows[i].cells[column];
        if (i != index && other.len >= seen && memcmp(other.s, cell.s, seen) == 0 &&
            (other.len != cell.len || memcmp(other.s, cell.s, cell.len) != 0))
            return true;
    }
    return false;
}

/* The part of a text that is shown where it is cut at the left, behind a sign of one column. */
static struct text_span end_of_cell(struct text_span cell, int width)
{
    int columns = span_columns(cell);
    while (cell.len > 0 && columns > width - 1) {
        size_t used = 0, bytes = text_prefix(cell.s, cell.len, 1, &used);
        if (bytes == 0) /* a wide one */
            bytes = text_prefix(cell.s, cell.len, 2, &used);
        if (bytes == 0)
            break;
        cell.s += bytes;
        cell.len -= bytes;
        columns = span_columns(cell);
    }
    return cell;
}

static void draw_cell(struct canvas *c, struct rect body, int row, int at, int width, bool right,
                      struct text_span cell, bool by_end)
{
    int columns = span_columns(cell);
    if (columns <= width) {
        canvas_put(c, body, row, right ? at + width - columns : at, cell.style, cell.s, cell.len);
        return;
    }
    size_t used_columns = 0;
    if (by_end) {
        const struct text_span end = end_of_cell(cell, width);
        canvas_puts(c, body, row, at, STYLE_DIM, c->ascii ? "~" : "…");
        canvas_put(c, body, row, at + 1, end.style, end.s, end.len);
        return;
    }
    size_t bytes =
        text_prefix(cell.s, cell.len, (size_t)(width > 0 ? width - 1 : 0), &used_columns);
    canvas_put(c, body, row, at, cell.style, cell.s, bytes);
    canvas_puts(c, body, row, at + (int)used_columns, STYLE_DIM, c->ascii ? "~" : "…");
}

static void draw_bars(struct canvas *c, struct rect body, int row, int at, int width,
                      const struct view_row *line)
{
    static const enum style styles[BAR_MARKS] = {
        [BAR_QUEUED] = STYLE_DIM,      [BAR_RAN] = STYLE_GRAPH, [BAR_WAITED] = STYLE_DIM,
        [BAR_LOST] = STYLE_GRAPH_HIGH, [BAR_ON] = STYLE_DIM,
    };
    for (size_t i = 0; i < line->bars.n; i++) {
        const enum bar_mark mark = line->bars.at[i].mark;
        int first, end;
        bar_cells(&line->bars.at[i], width, &first, &end);
        for (; first < end; first++)
            canvas_puts(c, body, row, at + first, line->dim ? STYLE_STALE : styles[mark],
                        bar_signs[mark][c->ascii]);
    }
}

static void draw_row(struct table *t, const struct view_page *page, const struct fitted *f,
                     struct canvas *c, struct rect r, int row, size_t index,
                     const struct table_look *look)
{
    const struct view_row *line = &page->rows[index];
    bool cursor = index == t->cursor;
    for (int i = 0; i < f->n; i++) {
        int at = at_of(f, i), indent = i == 0 ? line->indent : 0;
        struct text_span cell = line->cells[i];
        if (line->dim)
            cell.style = STYLE_STALE;
        else if (line->marked && cell.style != STYLE_ALARM && cell.style != STYLE_WARN)
            cell.style = STYLE_MARK;
        const int width = f->width[i] - indent;
        draw_cell(c, part_of(f, r, i), row, at + indent, width, page->columns[i].right, cell,
                  span_columns(cell) > width && is_told_by_its_end(page, index, i, width));
    }
    if (page->bar_column >= 0 && page->bar_column < f->n)
        draw_bars(c, part_of(f, r, page->bar_column), row, at_of(f, page->bar_column),
                  f->width[page->bar_column], line);
    if (cursor)
        canvas_restyle(c, r, row, 0, r.columns, look->focused ? STYLE_CURSOR : STYLE_CURSOR_IDLE);
    for (int i = 0; i < f->n && look->match; i++)
        if (!page->columns[i].right && !(span_columns(line->cells[i]) > f->width[i] &&
                                         is_told_by_its_end(page, index, i, f->width[i])))
            draw_match(c, part_of(f, r, i), row, at_of(f, i) + (i == 0 ? line->indent : 0),
                       f->width[i], line->cells[i], look->match);
    enum style style = cursor         ? (look->focused ? STYLE_CURSOR : STYLE_CURSOR_IDLE)
                       : line->marked ? STYLE_MARK
                       : line->dim    ? STYLE_STALE
                                      : STYLE_NORMAL;
    const char *edge = line->marked ? "*"
                       : line->dim  ? (c->ascii ? "x" : "×")
                       : cursor     ? (c->ascii ? ">" : "▌")
                                    : " ";
    canvas_puts(c, r, row, 0, style, edge);
}

void table_draw(struct table *t, const struct view_page *page, struct canvas *c, struct rect r,
                const struct table_look *look)
{
    struct fitted f = {0};
    if (r.rows <= 0 || r.columns <= EDGE)
        return;
    int n = page->n_columns < TABLE_COLUMNS ? (int)page->n_columns : TABLE_COLUMNS;
    note_widths(t, page, n);
    lay_out_columns(t, page, r.columns, &f);
    clamp_columns(t, &f);
    clamp_rows(t, page->n_rows, r.rows - 1);
    canvas_restyle(c, r, 0, 0, r.columns, STYLE_HEADING);
    draw_titles(page, &f, c, r);
    for (int row = 1; row < r.rows; row++) {
        size_t index = t->top + (size_t)row - 1;
        if (index >= page->n_rows)
            break;
        draw_row(t, page, &f, c, r, row, index, look);
    }
    if (page->n_rows == 0 && r.rows > 2)
        canvas_put_wrapped(c, r, 2, 2, STYLE_DIM, page->empty);
}

int table_hit_row(const struct table *t, const struct view_page *page, struct rect r, int row)
{
    int line = row - r.row - 1;
    if (line < 0 || row >= r.row + r.rows)
        return -1;
    size_t index = t->top + (size_t)line;
    return index < page->n_rows ? (int)index : -1;
}

int table_hit_title(const struct table *t, const struct view_page *page, struct rect r, int row,
                    int column)
{
    struct fitted f = {0};
    if (row != r.row)
        return -1;
    lay_out_columns(t, page, r.columns, &f);
    for (int i = f.n - 1; i >= 0; i--) {
        struct rect part = part_of(&f, r, i);
        int from = part.column + at_of(&f, i) - (page->columns[i].right ? GAP : 0);
        if (column >= from && column < from + f.width[i] + 2 * GAP && column >= part.column &&
            column < part.column + part.columns)
            return i;
    }
    return -1;
}
