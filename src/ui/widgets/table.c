/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "page.h"

#define RESORT_ROUNDS 2 /* the rows at hand, then the first answer in the new order */

void table_init(struct table *t)
{
    *t = (struct table){0};
}

void table_clear(struct table *t)
{
    free(t->order);
    free(t->marks);
    *t = (struct table){0};
}

void table_ask_order(struct table *t)
{
    t->resort = RESORT_ROUNDS;
}

void table_forget_widths(struct table *t)
{
    t->grown_columns = NULL;
}

/* ---- places */

struct row_position {
    uint64_t id;
    size_t index;
};

static int compare_positions(const void *left, const void *right)
{
    const struct row_position *a = left, *b = right;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static struct row_position *positions_of(struct arena *arena, const struct view_row *rows, size_t n)
{
    struct row_position *places = arena_alloc(arena, (n ? n : 1) * sizeof *places);
    for (size_t i = 0; i < n; i++)
        places[i] = (struct row_position){rows[i].id, i};
    qsort(places, n, sizeof *places, compare_positions);
    return places;
}

/* Index of the first row with that identity that is not taken yet, or -1. */
static long row_position_find(const struct row_position *places, size_t n, const bool *taken,
                              uint64_t id)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < n && places[low].id == id && taken[places[low].index])
        low++;
    return low < n && places[low].id == id ? (long)places[low].index : -1;
}

/* A row that has left the list: dim, with its last text. */
static struct view_row row_left(struct view_page *page, const struct view_row *old)
{
    struct view_row row = *old;
    row.dim = true;
    row.bars.n = 0;
    row.cells = arena_alloc(&page->arena, page->n_columns * sizeof *row.cells);
    for (size_t i = 0; i < page->n_columns; i++) {
        struct text_span cell = old->cells[i];
        row.cells[i] = (struct text_span){arena_strndup(&page->arena, cell.s, cell.len), cell.len,
                                          STYLE_STALE};
    }
    return row;
}

static void keep_places(const struct table *t, struct view_page *page,
                        const struct view_page *before)
{
    bool same_columns = before && before->n_columns == page->n_columns;
    size_t room = page->n_rows + t->n_order, n = 0;
    struct view_row *rows = arena_alloc(&page->arena, (room ? room : 1) * sizeof *rows);
    bool *taken = arena_alloc(&page->arena, page->n_rows + 1);
    bool *copied = arena_alloc(&page->arena, before ? before->n_rows + 1 : 1);
    struct row_position *now = positions_of(&page->arena, page->rows, page->n_rows);
    struct row_position *then =
        same_columns ? positions_of(&page->arena, before->rows, before->n_rows) : NULL;
    for (size_t i = 0; i < t->n_order; i++) {
        long at = row_position_find(now, page->n_rows, taken, t->order[i]);
        if (at >= 0) {
            taken[at] = true;
            rows[n++] = page->rows[at];
        } else if (then) {
            long old = row_position_find(then, before->n_rows, copied, t->order[i]);
            if (old < 0)
                continue;
            copied[old] = true;
            rows[n++] = row_left(page, &before->rows[old]);
        }
    }
    for (size_t i = 0; i < page->n_rows; i++)
        if (!taken[i])
            rows[n++] = page->rows[i];
    page->rows = rows;
    page->n_rows = page->cap_rows = n;
}

static void remember_order(struct table *t, const struct view_page *page)
{
    if (page->n_rows > t->cap_order) {
        t->order = alloc_resize(t->order, page->n_rows, sizeof *t->order);
        t->cap_order = page->n_rows;
    }
    for (size_t i = 0; i < page->n_rows; i++)
        t->order[i] = page->rows[i].id;
    t->n_order = page->n_rows;
}

static void find_table_cursor(struct table *t, const struct view_page *page)
{
    if (page->n_rows == 0) {
        t->cursor = t->top = 0;
        return;
    }
    if (t->cursor > 0 && t->cursor_id != 0)
        for (size_t i = 0; i < page->n_rows; i++)
            if (page->rows[i].id == t->cursor_id) {
                t->cursor = i;
                return;
            }
    if (t->cursor >= page->n_rows)
        t->cursor = page->n_rows - 1;
    t->cursor_id = page->rows[t->cursor].id;
}

/* NULL: it is not marked. */
static struct table_mark *find_mark(const struct table *t, uint64_t id)
{
    for (size_t i = 0; i < t->n_marks; i++)
        if (t->marks[i].id == id)
            return &t->marks[i];
    return NULL;
}

void table_take(struct table *t, struct view_page *page, const struct view_page *before)
{
    t->held = t->cursor > 0 && t->resort == 0 && t->n_order > 0 && !page->in_place;
    if (t->resort > 0)
        t->resort--;
    const bool more = t->to_end && page->n_rows > t->n_order;
    if (t->held)
        keep_places(t, page, before);
    remember_order(t, page);
    find_table_cursor(t, page);
    if (more)
        table_goto(t, page, page->n_rows);
    for (size_t i = 0; i < page->n_rows; i++)
        if (find_mark(t, page->rows[i].id))
            page->rows[i].marked = true;
}

/* ---- moving */

void table_goto(struct table *t, const struct view_page *page, size_t index)
{
    if (page->n_rows == 0)
        return;
    t->cursor = index < page->n_rows ? index : page->n_rows - 1;
    t->cursor_id = page->rows[t->cursor].id;
    t->held = t->cursor > 0 && !page->in_place;
    t->to_end = false;
}

static int body_rows(int rows)
{
    return rows > 2 ? rows - 1 : 1;
}

bool table_move(struct table *t, const struct view_page *page, enum move move, int rows)
{
    size_t page_step = (size_t)body_rows(rows), last = page->n_rows ? page->n_rows - 1 : 0;
    size_t at = t->cursor;
    int left = t->left;
    switch (move) {
    case MOVE_UP:
        at = at ? at - 1 : 0;
        break;
    case MOVE_DOWN:
        at++;
        break;
    case MOVE_PAGE_UP:
        at = at > page_step ? at - page_step : 0;
        break;
    case MOVE_PAGE_DOWN:
        at += page_step;
        break;
    case MOVE_FIRST:
        at = 0;
        break;
    case MOVE_LAST:
        at = last;
        break;
    case MOVE_LEFT:
        t->left = t->left > 0 ? t->left - 1 : 0;
        break;
    case MOVE_RIGHT:
        t->left++; /* table_draw takes back what is too much */
        break;
    }
    at = at > last ? last : at;
    bool moved = at != t->cursor || left != t->left;
    table_goto(t, page, at);
    /* As many as were asked for: there may be more, which are asked for now. */
    t->to_end = move == MOVE_LAST && t->asked > 0 && t->asked < LIMIT_ROWS &&
                page->n_rows >= (size_t)t->asked;
    return moved;
}

void table_scroll(struct table *t, const struct view_page *page, int lines, int rows)
{
    (void)rows;
    size_t step = (size_t)abs(lines);
    size_t at = lines < 0 ? (t->cursor > step ? t->cursor - step : 0) : t->cursor + step;
    table_goto(t, page, at);
}

bool table_mark_is_process(const struct table_mark *mark)
{
    return mark->pid.id != 0 || mark->pid.serial != 0;
}

static int add_mark(struct table *t, const struct view_row *row, struct error *err)
{
    const struct table_mark mark = {.id = row->id,
                                    .pid = row->link.kind == TARGET_PROCESS ? row->link.pid
                                                                            : (struct etf_pid){0}};
    size_t processes = 0;
    for (size_t i = 0; i < t->n_marks; i++)
        processes += table_mark_is_process(&t->marks[i]);
    if (table_mark_is_process(&mark) && processes >= WANT_PIDS)
        return error_set(err, ERR_LIMIT, "at most %d processes can be marked", WANT_PIDS);
    if (t->n_marks >= TABLE_MARKS)
        return error_set(err, ERR_LIMIT, "at most %d rows can be marked", TABLE_MARKS);
    t->marks = alloc_grow(t->marks, t->n_marks, sizeof *t->marks);
    t->marks[t->n_marks++] = mark;
    return 0;
}

int table_mark(struct table *t, const struct view_page *page, struct error *err)
{
    if (t->cursor >= page->n_rows)
        return error_set(err, ERR_NOT_FOUND, "there is no row to mark");
    struct view_row *row = &page->rows[t->cursor];
    struct table_mark *mark = find_mark(t, row->id);
    const int rc = mark ? 0 : add_mark(t, row, err);
    if (rc != 0)
        return rc;
    if (mark)
        *mark = t->marks[--t->n_marks];
    row->marked = !mark;
    return 0;
}

bool table_row_matches(const struct view_page *page, const struct view_row *row, struct regex *re)
{
    for (size_t i = 0; i < page->n_columns; i++)
        if (regex_match(re, row->cells[i].s, row->cells[i].len))
            return true;
    return false;
}

bool table_find(struct table *t, const struct view_page *page, struct regex *re, int direction)
{
    size_t n = page->n_rows;
    for (size_t step = 1; step <= n; step++) {
        size_t at = direction > 0 ? (t->cursor + step) % n : (t->cursor + n - step % n) % n;
        if (table_row_matches(page, &page->rows[at], re)) {
            table_goto(t, page, at);
            return true;
        }
    }
    return false;
}
