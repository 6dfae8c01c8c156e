/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/ui/canvas.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/slice.h"
#include "beamtop/base/text.h"

#define PRINTF_BYTES 1024 /* what canvas_printf makes at most; more columns than a row has */

static int clamp_to(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

static void cell_set(struct canvas_cell *cell, const char *s, size_t len, int width,
                     enum style style)
{
    assert(len < CANVAS_CELL_BYTES);
    memset(cell->text, 0, sizeof cell->text);
    memcpy(cell->text, s, len);
    cell->width = (uint8_t)width;
    cell->style = (uint8_t)style;
}

static struct canvas_cell *cell_of(const struct canvas *c, int row, int column)
{
    return &c->cells[(size_t)row * (size_t)c->columns + (size_t)column];
}

void canvas_init(struct canvas *c, int rows, int columns, bool ascii)
{
    *c = (struct canvas){.ascii = ascii};
    canvas_resize(c, rows, columns);
}

void canvas_clear(struct canvas *c)
{
    free(c->cells);
    *c = (struct canvas){.ascii = c->ascii};
}

void canvas_resize(struct canvas *c, int rows, int columns)
{
    rows = clamp_to(rows, 1, LIMIT_CANVAS_ROWS);
    columns = clamp_to(columns, 1, LIMIT_CANVAS_COLUMNS);
    if (rows != c->rows || columns != c->columns) {
        free(c->cells);
        c->cells = alloc_zero((size_t)rows * (size_t)columns, sizeof *c->cells);
        c->rows = rows;
        c->columns = columns;
    }
    canvas_erase(c, STYLE_NORMAL);
}

void canvas_erase(struct canvas *c, enum style style)
{
    for (int row = 0; row < c->rows; row++)
        for (int column = 0; column < c->columns; column++)
            cell_set(cell_of(c, row, column), " ", 1, 1, style);
}

/* Before a cell is overwritten: if it is half of a wide one, the other half becomes a space. */
static void unpair_cell(struct canvas *c, int row, int column)
{
    const struct canvas_cell *cell = cell_of(c, row, column);
    if (cell->width == 0 && column > 0) {
        struct canvas_cell *head = cell_of(c, row, column - 1);
        cell_set(head, " ", 1, 1, head->style);
    }
    if (cell->width == 2 && column + 1 < c->columns) {
        struct canvas_cell *tail = cell_of(c, row, column + 1);
        cell_set(tail, " ", 1, 1, tail->style);
    }
}

static void put_one(struct canvas *c, int row, int column, const char *s, size_t len, int width,
                    enum style style)
{
    unpair_cell(c, row, column);
    if (width == 2)
        unpair_cell(c, row, column + 1);
    cell_set(cell_of(c, row, column), s, len, width, style);
    if (width == 2)
        cell_set(cell_of(c, row, column + 1), "", 0, 0, style);
}

/* A combining mark joins the cell before it when there is room in it. */
static void join_previous(struct canvas *c, int row, int column, const char *s, size_t len)
{
    struct canvas_cell *cell = cell_of(c, row, column);
    if (cell->width == 0 && column > 0)
        cell = cell_of(c, row, column - 1);
    size_t used = strlen(cell->text);
    if (used + len < CANVAS_CELL_BYTES)
        memcpy(cell->text + used, s, len);
}

struct rect canvas_clip(const struct canvas *c, struct rect r)
{
    int row0 = clamp_to(r.row, 0, c->rows);
    int column0 = clamp_to(r.column, 0, c->columns);
    int row1 = clamp_to(r.row + (r.rows > 0 ? r.rows : 0), row0, c->rows);
    int column1 = clamp_to(r.column + (r.columns > 0 ? r.columns : 0), column0, c->columns);
    return (struct rect){row0, column0, row1 - row0, column1 - column0};
}

static bool is_control_cluster(struct slice s)
{
    return s.len > 0 && ((unsigned char)s.s[0] < 0x20 || s.s[0] == 0x7f);
}

/* Typography that has a likeness in ASCII. */
static const struct {
    const char *mark, *ascii;
} likenesses[] = {
    {"–", "-"}, {"—", "-"}, {"…", "~"}, {"µ", "u"}, {"·", "."}, {"×", "x"},
    {"≥", ">"}, {"≤", "<"}, {"▼", "v"}, {"▲", "^"}, {"●", "*"}, {"○", "o"},
    {"◌", "o"}, {"‖", "="}, {"▶", ">"}, {"→", ">"}, {"←", "<"},
};

static const char *ascii_likeness(struct slice s)
{
    for (size_t i = 0; i < sizeof likenesses / sizeof likenesses[0]; i++)
        if (slice_is(s, likenesses[i].mark))
            return likenesses[i].ascii;
    return "?";
}

/* What is shown for one cluster: the cluster, or its replacement. */
static void shown_as(const struct canvas *c, struct slice *s, int *width, bool safe)
{
    bool plain = s->len == 1 && (unsigned char)s->s[0] < 0x80;
    if (safe && (plain || (!c->ascii && s->len < CANVAS_CELL_BYTES)) && !is_control_cluster(*s))
        return;
    *s = slice_of(!c->ascii ? "\xef\xbf\xbd" : safe ? ascii_likeness(*s) : "?");
    *width = 1;
}

int canvas_put(struct canvas *c, struct rect r, int row, int column, enum style style,
               const char *s, size_t len)
{
    struct rect vis = canvas_clip(c, r);
    int y = r.row + row;
    if (row < 0 || row >= r.rows || y < vis.row || y >= vis.row + vis.rows || vis.columns == 0)
        return 0;
    int x = r.column + column;
    int left = vis.column;
    int right = vis.column + vis.columns;
    int start = x;
    while (len > 0 && x < right) {
        int width = 1;
        bool safe = true;
        struct slice text = {s, text_grapheme(s, len, &width, &safe)};
        s += text.len;
        len -= text.len;
        shown_as(c, &text, &width, safe);
        if (width == 0) {
            if (x > left && x > start)
                join_previous(c, y, x - 1, text.s, text.len);
            continue;
        }
        if (width == 2 && (x == left - 1 || x == right - 1))
            put_one(c, y, x == left - 1 ? left : x, " ", 1, 1, style);
        else if (x >= left)
            put_one(c, y, x, text.s, text.len, width, style);
        x += width;
    }
    return (x < right ? x : right) - start;
}

int canvas_puts(struct canvas *c, struct rect r, int row, int column, enum style style,
                const char *s)
{
    return canvas_put(c, r, row, column, style, s, strlen(s));
}

int canvas_printf(struct canvas *c, struct rect r, int row, int column, enum style style,
                  const char *fmt, ...)
{
    char line[PRINTF_BYTES];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n < 0)
        return 0;
    return canvas_put(c, r, row, column, style, line,
                      (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

int canvas_put_wrapped(struct canvas *c, struct rect r, int row, int column, enum style style,
                       const char *s)
{
    size_t left = strlen(s), room = r.columns > column ? (size_t)(r.columns - column) : 0, next;
    int first = row;
    while (left > 0 && room > 0 && row < r.rows) {
        size_t part = text_break(s, left, room, &next);
        canvas_put(c, r, row++, column, style, s, part);
        s += next;
        left -= next;
    }
    return row - first;
}

void canvas_fill(struct canvas *c, struct rect r, enum style style, char ch)
{
    assert(ch >= ' ' && ch < 0x7f);
    struct rect vis = canvas_clip(c, r);
    for (int y = vis.row; y < vis.row + vis.rows; y++)
        for (int x = vis.column; x < vis.column + vis.columns; x++)
            put_one(c, y, x, &ch, 1, 1, style);
}

void canvas_restyle(struct canvas *c, struct rect r, int row, int column, int columns,
                    enum style style)
{
    int end = column + columns < r.columns ? column + columns : r.columns;
    int from = column > 0 ? column : 0;
    if (row < 0 || row >= r.rows || end <= from)
        return;
    struct rect vis = canvas_clip(c, (struct rect){r.row + row, r.column + from, 1, end - from});
    for (int y = vis.row; y < vis.row + vis.rows; y++)
        for (int x = vis.column; x < vis.column + vis.columns; x++)
            cell_of(c, y, x)->style = (uint8_t)style;
}

void canvas_rule(struct canvas *c, struct rect r, int row, enum style style, const char *title)
{
    const char *dash = c->ascii ? "-" : "\xe2\x94\x80";
    for (int column = 0; column < r.columns; column++)
        canvas_puts(c, r, row, column, style, dash);
    if (!title || title[0] == '\0' || r.columns < 6)
        return;
    struct rect room = {r.row + row, r.column + 3, 1, r.columns - 5};
    canvas_puts(c, r, row, 2, style, " ");
    int used = canvas_puts(c, room, 0, 0, style, title);
    canvas_puts(c, r, row, 3 + used, style, " ");
}

const struct canvas_cell *canvas_at(const struct canvas *c, int row, int column)
{
    assert(row >= 0 && row < c->rows && column >= 0 && column < c->columns);
    return cell_of(c, row, column);
}
