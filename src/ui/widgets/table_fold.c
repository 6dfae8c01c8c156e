/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees in a list that fold: a row's descendants are the rows behind it with a larger indent. */
#include <string.h>

#include "table.h"

static size_t fold_index(const struct table *t, uint64_t id)
{
    size_t i = 0;
    while (i < t->n_folded && t->folded[i] != id)
        i++;
    return i;
}

/* The first row behind it that is not below it. */
static size_t end_of_tree(const struct view_page *page, size_t at)
{
    size_t end = at + 1;
    while (end < page->n_rows && page->rows[end].indent > page->rows[at].indent)
        end++;
    return end;
}

void table_hide_folded(const struct table *t, struct view_page *page)
{
    size_t n = 0;
    if (t->n_folded == 0 || page->n_columns == 0)
        return;
    for (size_t at = 0, end; at < page->n_rows; at = end) {
        struct view_row row = page->rows[at];
        end = at + 1;
        if (fold_index(t, row.id) < t->n_folded)
            end = end_of_tree(page, at);
        if (end > at + 1) {
            struct text_span *cell = &row.cells[0];
            cell->s =
                arena_printf(&page->arena, "%.*s  +%zu", (int)cell->len, cell->s, end - at - 1);
            cell->len = strlen(cell->s);
        }
        page->rows[n++] = row;
    }
    page->n_rows = n;
}

static bool go_to_parent(struct table *t, const struct view_page *page)
{
    const int indent = page->rows[t->cursor].indent;
    size_t at = t->cursor;
    while (at > 0 && page->rows[at].indent >= indent)
        at--;
    if (page->rows[at].indent >= indent)
        return false;
    table_goto(t, page, at);
    return true;
}

bool table_fold(struct table *t, const struct view_page *page, enum move move)
{
    if (!page->in_place || t->cursor >= page->n_rows || (move == MOVE_LEFT && t->left > 0))
        return false;
    const uint64_t id = page->rows[t->cursor].id;
    const size_t at = fold_index(t, id);
    if (move == MOVE_RIGHT && at < t->n_folded) {
        t->folded[at] = t->folded[--t->n_folded];
        return true;
    }
    if (move != MOVE_LEFT)
        return false;
    if (at == t->n_folded && t->n_folded < TABLE_FOLDED &&
        end_of_tree(page, t->cursor) > t->cursor + 1) {
        t->folded[t->n_folded++] = id;
        return true;
    }
    return go_to_parent(t, page);
}
