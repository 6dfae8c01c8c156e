/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "prompt_internal.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/text.h"

#define GAP 2       /* columns between the words of a list */
#define LINE_ROWS 4 /* of one line of the hint, at most */

/* How a list of completions lies: words of one width in as many columns as fit. */
struct layout {
    int width, across, rows;
};

static struct layout lay_out_list(const struct completion *list, int columns)
{
    struct layout l = {1, 1, 0};
    for (size_t i = 0; i < list->len; i++) {
        size_t width = text_width(list->items[i].word, strlen(list->items[i].word));
        l.width = (int)width > l.width ? (int)width : l.width;
    }
    l.across = columns / (l.width + GAP) > 0 ? columns / (l.width + GAP) : 1;
    l.rows = ((int)list->len + l.across - 1) / l.across;
    return l;
}

/* One row of text, with a sign where it is cut. */
static void cut_row(struct canvas *c, struct rect r, enum style style, const char *s, size_t len)
{
    size_t room = r.columns > 0 ? (size_t)r.columns : 0, width = 0;
    canvas_fill(c, r, STYLE_NORMAL, ' ');
    if (text_width(s, len) <= room) {
        canvas_put(c, r, 0, 0, style, s, len);
        return;
    }
    size_t fits = text_prefix(s, len, room > 0 ? room - 1 : 0, &width);
    canvas_put(c, r, 0, 0, style, s, fits);
    canvas_puts(c, r, 0, (int)width, style, "…");
}

/* Draws a line of text in as many rows as it takes, when there is a canvas; the last that there is
   room for is cut. Returns the rows. */
static int put_lines(struct canvas *c, struct rect r, enum style style, const char *s, size_t len)
{
    const int most = c && r.rows < LINE_ROWS ? r.rows : LINE_ROWS;
    int row = 0;
    do {
        size_t next, room = r.columns > 0 ? (size_t)r.columns : 1;
        size_t part = text_break(s, len, room, &next);
        if (row == most - 1)
            part = next = len;
        if (c)
            cut_row(c, (struct rect){r.row + row, r.column, 1, r.columns}, style, s, part);
        s += next;
        len -= next;
        row++;
    } while (len > 0 && row < most);
    return row;
}

static int hint_rows(const struct prompt *p, int columns)
{
    const struct rect r = {0, 0, 0, columns};
    int rows = 0;
    for (const char *line = p->hint; line;) {
        size_t len = strcspn(line, "\n");
        rows += put_lines(NULL, r, STYLE_NORMAL, line, len);
        line = line[len] ? line + len + 1 : NULL;
    }
    return rows;
}

/* A question that does not fit has rows above the line; its last part stands before the line. Draws
   the rows from `first` on when there is a canvas; returns the last part, *rows: how many. */
static const char *put_question(struct canvas *c, struct rect r, int first, const char *mark,
                                int *rows)
{
    const size_t room = r.columns > 1 ? (size_t)r.columns - 1 : 1;
    size_t left = strlen(mark), next;
    for (*rows = 0; text_width(mark, left) > room; mark += next, left -= next, ++*rows) {
        size_t part = text_break(mark, left, room, &next);
        int row = first + *rows;
        if (next == left) /* only its last blank does not fit */
            break;
        if (c && row >= 0)
            cut_row(c, (struct rect){r.row + row, r.column, 1, r.columns}, STYLE_PROMPT, mark,
                    part);
    }
    return mark;
}

int prompt_rows(const struct prompt *p, int columns, int most)
{
    int rows;
    if (!p->open)
        return 0;
    (void)put_question(NULL, (struct rect){0, 0, 0, columns}, 0, p->mark, &rows);
    rows++;
    if (p->error_text && *p->error_text)
        rows++;
    rows += hint_rows(p, columns);
    if (p->list.len > 0)
        rows += lay_out_list(&p->list, columns).rows;
    return rows < most ? rows : most;
}

static void draw_list(const struct prompt *p, struct canvas *c, struct rect r)
{
    struct layout l = lay_out_list(&p->list, r.columns);
    canvas_fill(c, r, STYLE_NORMAL, ' ');
    for (size_t i = 0; i < p->list.len; i++) {
        int row = (int)i % l.rows, column = (int)i / l.rows * (l.width + GAP);
        canvas_puts(c, r, row, column, STYLE_MESSAGE, p->list.items[i].word);
    }
    if (l.rows > r.rows && r.rows > 0) {
        canvas_fill(c, (struct rect){r.row + r.rows - 1, r.column, 1, r.columns}, STYLE_NORMAL,
                    ' ');
        canvas_printf(c, r, r.rows - 1, 0, STYLE_DIM, "%zu words fit: type more of it",
                      p->list.len);
    }
}

/* The lines of the hint, the last on the row before `end`; returns where they begin. */
static int draw_hint(const struct prompt *p, struct canvas *c, struct rect r, int end)
{
    int rows = hint_rows(p, r.columns), first = rows < end ? end - rows : 0, row = first;
    for (const char *line = p->hint; line && row < end;) {
        size_t len = strcspn(line, "\n");
        struct rect at = {r.row + row, r.column, end - row, r.columns};
        bool dim = p->hint_old || p->hint_style == STYLE_DIM;
        row += put_lines(c, at,
                         dim         ? STYLE_DIM
                         : line[len] ? STYLE_NORMAL
                                     : p->hint_style,
                         line, len);
        line = line[len] ? line + len + 1 : NULL;
    }
    return first;
}

static int columns_of(const char *line, size_t bytes)
{
    return (int)text_width(line, bytes);
}

static void draw_prompt_line(const struct prompt *p, struct canvas *c, struct rect r,
                             const char *before, struct tty_cursor *cursor)
{
    size_t point;
    const char *line = prompt_line(p, &point);
    canvas_fill(c, r, STYLE_NORMAL, ' ');
    int mark = canvas_puts(c, r, 0, 0, STYLE_PROMPT, before);
    struct rect room = {r.row, r.column + mark, 1, r.columns - mark};
    int at = columns_of(line, point);
    int scroll = room.columns > 0 && at >= room.columns ? at - room.columns + 1 : 0;
    canvas_puts(c, room, 0, -scroll, STYLE_NORMAL, line);
    size_t len = strlen(line);
    if (p->error_text) {
        size_t wrong = p->error_at < len ? p->error_at : len;
        canvas_restyle(c, room, 0, columns_of(line, wrong) - scroll, 1, STYLE_ERROR);
    }
    *cursor = (struct tty_cursor){r.row, r.column + mark + at - scroll};
}

void prompt_draw(const struct prompt *p, struct canvas *c, struct rect r, struct tty_cursor *cursor)
{
    *cursor = (struct tty_cursor){-1, 0};
    if (!p->open || r.rows <= 0)
        return;
    int rows, last = r.rows - 1;
    const char *mark = put_question(NULL, r, 0, p->mark, &rows);
    (void)put_question(c, r, last - rows, p->mark, &rows);
    draw_prompt_line(p, c, (struct rect){r.row + last, r.column, 1, r.columns}, mark, cursor);
    last = last > rows ? last - rows : 0;
    if (p->error_text && *p->error_text && last > 0) {
        struct rect above = {r.row + --last, r.column, 1, r.columns};
        cut_row(c, above, STYLE_ERROR, p->error_text, strlen(p->error_text));
    }
    if (p->hint)
        last = draw_hint(p, c, r, last);
    if (p->list.len > 0 && last > 0)
        draw_list(p, c, (struct rect){r.row, r.column, last, r.columns});
}
