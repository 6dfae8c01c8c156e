/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "doc.h"

#include <string.h>

#include "beamtop/base/text.h"
#include "page.h"

/* At least so many rows scroll, even where many lines are fixed. */
#define LEAST_SCROLLED 4

void doc_init(struct doc *d)
{
    *d = (struct doc){0};
    d->cursor = -1;
}

static bool has_link(const struct view_page *page, size_t line)
{
    return line < page->n_lines && page->lines[line].link.kind != TARGET_NONE;
}

static bool same_link(const struct view_link *a, const struct view_link *b)
{
    if (a->id || b->id)
        return a->id == b->id && a->part == b->part;
    if (a->kind != b->kind)
        return false;
    if (a->kind == TARGET_PROCESS)
        return pid_same(&a->pid, &b->pid);
    return strcmp(a->name, b->name) == 0;
}

/* The nearest line with a link from `line` on in that direction; -1: none. */
static long next_link(const struct view_page *page, long line, int direction)
{
    for (; line >= 0 && (size_t)line < page->n_lines; line += direction)
        if (has_link(page, (size_t)line))
            return line;
    return -1;
}

void doc_goto(struct doc *d, const struct view_page *page, long line)
{
    if (line < 0 || !has_link(page, (size_t)line))
        return;
    d->cursor = line;
    d->link = page->lines[line].link;
    d->on_first = next_link(page, line - 1, -1) < 0;
    d->on_last = next_link(page, line + 1, 1) < 0;
}

/* How many lines stay fixed: all that the page asks for, fewer in a very low pane. */
static long fixed_lines(const struct view_page *page, int rows)
{
    long most = rows > LEAST_SCROLLED ? rows - LEAST_SCROLLED : 0;
    return (long)page->fixed < most ? (long)page->fixed : most;
}

static void scroll_to(struct doc *d, const struct view_page *page, long top, int rows)
{
    long most = (long)page->n_lines - rows;
    most = most < 0 ? 0 : most;
    d->top = (size_t)(top < 0 ? 0 : top > most ? most : top);
}

/* The line with the link that the cursor was on, the nearest if there are several; -1: none. */
static long find_link(const struct doc *d, const struct view_page *page,
                      const struct view_link *link)
{
    long best = -1, was = d->cursor;
    for (size_t i = 0; was >= 0 && i < page->n_lines; i++) {
        long at = (long)i;
        long distance = at > was ? at - was : was - at;
        long known = best > was ? best - was : was - best;
        if (has_link(page, i) && same_link(&page->lines[i].link, link) &&
            (best < 0 || distance < known))
            best = at;
    }
    return best;
}

/* Keeps the text in place when lines appear or disappear above the cursor. */
static void hold_place(struct doc *d, const struct view_page *page, bool on_first, bool on_last,
                       long was)
{
    long first = next_link(page, 0, 1), last = next_link(page, (long)page->n_lines - 1, -1);
    bool opened = last >= 0 && d->link.kind == TARGET_EVENT &&
                  page->lines[last].link.kind == TARGET_EVENT &&
                  page->lines[last].link.id == d->link.id;
    if (page->hold == HOLD_FIRST && on_first && first >= 0) {
        doc_goto(d, page, first);
        d->top = 0;
    } else if (page->hold == HOLD_LAST && on_last && !opened) {
        /* the draw takes back what is beyond the end; the last event's first line stays in sight */
        doc_goto(d, page, last);
        d->top = d->cursor > (long)page->fixed ? (size_t)(d->cursor - (long)page->fixed) : 0;
    } else if (page->hold == HOLD_LINE && d->top == 0) {
        return;
    } else if (page->hold != HOLD_TEXT && was >= 0 && d->cursor >= 0) {
        long top = (long)d->top + d->cursor - was;
        d->top = top > 0 ? (size_t)top : 0;
    }
}

void doc_take(struct doc *d, const struct view_page *page)
{
    long was = d->cursor;
    struct view_link whole = d->link;
    bool on_first = was < 0 || d->on_first, on_last = was < 0 || (d->on_last && d->at_end);
    long best = find_link(d, page, &d->link);
    whole.part = 0; /* the part is folded away */
    if (best < 0 && d->link.part)
        best = find_link(d, page, &whole);
    if (best < 0)
        best = next_link(page, was < 0 ? 0 : was, 1);
    if (best < 0)
        best = next_link(page, (long)page->n_lines - 1, -1);
    d->cursor = best;
    doc_goto(d, page, best);
    hold_place(d, page, on_first, on_last, was);
}

/* The link in the visible rows that is nearest to where the cursor left them. */
static void cursor_into_sight(struct doc *d, const struct view_page *page, int rows, int direction)
{
    long fixed = fixed_lines(page, rows), top = (long)d->top + fixed;
    long bottom = (long)d->top + rows - 1;
    if (d->cursor >= top && d->cursor <= bottom)
        return;
    long at = next_link(page, direction > 0 ? top : bottom, direction);
    if (at >= top && at <= bottom)
        doc_goto(d, page, at);
}

void doc_scroll(struct doc *d, const struct view_page *page, int lines, int rows)
{
    scroll_to(d, page, (long)d->top + lines, rows);
    cursor_into_sight(d, page, rows, lines > 0 ? 1 : -1);
}

/* One line: to the next link when it is within sight or just beyond, else the text scrolls. */
static void step_line(struct doc *d, const struct view_page *page, int direction, int rows)
{
    long fixed = fixed_lines(page, rows), scrolled = (long)d->top;
    long top = scrolled + fixed, bottom = scrolled + rows - 1;
    long from = d->cursor < 0 ? (direction > 0 ? top : -1) : d->cursor + direction;
    long at = next_link(page, from, direction);
    if (at < 0 || at > bottom + 1 || at < top - 1) {
        scroll_to(d, page, scrolled + direction, rows);
        return;
    }
    doc_goto(d, page, at);
    if (at > bottom)
        scroll_to(d, page, scrolled + 1, rows);
    if (at < top)
        scroll_to(d, page, scrolled - 1, rows);
}

bool doc_move(struct doc *d, const struct view_page *page, enum move move, int rows)
{
    struct doc was = *d;
    rows = rows < 1 ? 1 : rows;
    switch (move) {
    case MOVE_UP:
        step_line(d, page, -1, rows);
        break;
    case MOVE_DOWN:
        step_line(d, page, 1, rows);
        break;
    case MOVE_PAGE_UP:
        doc_scroll(d, page, -(int)(rows - fixed_lines(page, rows)), rows);
        break;
    case MOVE_PAGE_DOWN:
        doc_scroll(d, page, (int)(rows - fixed_lines(page, rows)), rows);
        break;
    case MOVE_FIRST:
        scroll_to(d, page, 0, rows);
        doc_goto(d, page, next_link(page, 0, 1));
        break;
    case MOVE_LAST:
        scroll_to(d, page, (long)page->n_lines, rows);
        doc_goto(d, page, next_link(page, (long)page->n_lines - 1, -1));
        break;
    case MOVE_LEFT:
        d->left = d->left > 8 ? d->left - 8 : 0;
        break;
    case MOVE_RIGHT:
        d->left += 8;
        break;
    }
    return was.top != d->top || was.left != d->left || was.cursor != d->cursor;
}

static void fill_line(struct view_page *page, size_t line)
{
    if (page->lines[line].announced)
        page->fill(page, line);
}

static bool line_matches(const struct view_line *line, struct regex *re)
{
    for (size_t i = 0; i < line->n_spans; i++)
        if (regex_match(re, line->spans[i].s, line->spans[i].len))
            return true;
    return false;
}

bool doc_find(struct doc *d, struct view_page *page, struct regex *re, int direction)
{
    size_t n = page->n_lines, fixed = page->fixed;
    size_t from = page->hold != HOLD_TEXT && d->cursor >= 0 ? (size_t)d->cursor : d->top + fixed;
    for (size_t i = 1; i <= n; i++) {
        size_t at = direction > 0 ? (from + i) % n : (from + n - i % n) % n;
        fill_line(page, at);
        if (at >= fixed && line_matches(&page->lines[at], re)) {
            d->top = at - fixed;
            doc_goto(d, page, (long)at);
            return true;
        }
    }
    return false;
}

static int widest_line(const struct view_page *page)
{
    int widest = 0;
    for (size_t i = page->fixed; i < page->n_lines; i++)
        widest = page->lines[i].width > widest ? page->lines[i].width : widest;
    return widest;
}

static void draw_line(const struct view_line *line, struct canvas *c, struct rect r, int row,
                      int left, struct regex *match)
{
    int at = 1 - left;
    for (size_t i = 0; i < line->n_spans; i++) {
        struct text_span s = line->spans[i];
        int width = (int)text_width(s.s, s.len);
        canvas_put(c, r, row, at, s.style, s.s, s.len);
        size_t from, to;
        if (match && regex_find(match, s.s, s.len, &from, &to) && to > from)
            canvas_restyle(c, r, row, at + (int)text_width(s.s, from),
                           (int)text_width(s.s + from, to - from), STYLE_MATCH);
        at += width;
    }
    if (at > r.columns)
        canvas_puts(c, r, row, r.columns - 1, STYLE_DIM, "…");
}

/* Scrolls so far that all the lines of what has been opened are seen, or as many as there is room
   for. */
static void reveal_link(struct doc *d, const struct view_page *page, int rows)
{
    long line = d->cursor, last = line, fixed = fixed_lines(page, rows);
    if (!d->reveal || line < 0)
        return;
    d->reveal = false;
    for (size_t i = (size_t)line; i < page->n_lines; i++) {
        const struct view_link *link = &page->lines[i].link;
        if (link->kind != TARGET_NONE && link->id != d->link.id)
            break;
        last = link->kind != TARGET_NONE ? (long)i : last;
    }
    long top = last - rows + 1 < line - fixed ? last - rows + 1 : line - fixed;
    if (top > (long)d->top)
        scroll_to(d, page, top, rows);
}

void doc_draw(struct doc *d, struct view_page *page, struct canvas *c, struct rect r,
              const struct table_look *look)
{
    if (r.rows <= 0 || r.columns <= 0)
        return;
    int most = widest_line(page) + 1 - r.columns;
    most = most < 0 ? 0 : most;
    d->left = d->left > most ? most : d->left;
    if ((long)d->top > (long)page->n_lines - r.rows)
        scroll_to(d, page, (long)d->top, r.rows);
    reveal_link(d, page, r.rows);
    d->at_end = d->top + (size_t)r.rows >= page->n_lines;
    long fixed = fixed_lines(page, r.rows);
    for (int row = 0; row < r.rows; row++) {
        size_t index = row < fixed ? (size_t)row : d->top + (size_t)row;
        if (index >= page->n_lines)
            break;
        bool head = index < page->fixed;
        fill_line(page, index);
        draw_line(&page->lines[index], c, r, row, head ? 0 : d->left, head ? NULL : look->match);
        if ((long)index == d->cursor) {
            enum style style = look->focused ? STYLE_CURSOR : STYLE_CURSOR_IDLE;
            canvas_restyle(c, r, row, 0, r.columns, style);
            canvas_puts(c, r, row, 0, style, c->ascii ? ">" : "▌");
        }
    }
    if (page->n_lines == 0 && r.rows > 1)
        canvas_put_wrapped(c, r, 1, 2, STYLE_DIM, page->empty);
}

long doc_hit(const struct doc *d, const struct view_page *page, struct rect r, int row)
{
    if (row < r.row || row >= r.row + r.rows)
        return -1;
    long fixed = fixed_lines(page, r.rows);
    size_t index = row - r.row < fixed ? (size_t)(row - r.row) : d->top + (size_t)(row - r.row);
    return has_link(page, index) ? (long)index : -1;
}
