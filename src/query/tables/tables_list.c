/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tables_list.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "query/native/values.h"

static int compare_ids(const void *a, const void *b)
{
    const struct ets_table *x = a, *y = b;
    return slice_order(x->id, y->id);
}

void ets_list_clear(struct ets_list *l)
{
    arena_clear(&l->arena);
    free(l->all);
    l->all = NULL;
    l->n = 0;
}

/* Ids are borrowed from the list; NULL: it is of another form. */
static struct ets_table *read_ids(struct slice list, size_t *n, bool *left_out)
{
    struct cursor c;
    struct slice id;
    size_t count;
    if (!values_enter_list(list, &c, &count))
        return NULL;
    *left_out = count > TABLES_MOST;
    count = count < TABLES_MOST ? count : TABLES_MOST;
    struct ets_table *all = alloc_zero(count + 1, sizeof *all);
    for (*n = 0; *n < count; ++*n) {
        const enum etf_kind kind = cursor_kind(&c);
        if ((kind != ETF_KIND_ATOM && kind != ETF_KIND_REF) || !cursor_raw(&c, &id)) {
            free(all);
            return NULL;
        }
        all[*n] = (struct ets_table){.id = id, .words = -1, .objects = -1, .key_position = -1};
    }
    return all;
}

bool ets_list_take(struct ets_list *l, struct slice list, bool *left_out)
{
    size_t n;
    struct arena arena;
    struct ets_table *all = read_ids(list, &n, left_out);
    if (!all)
        return false;
    arena_init(&arena);
    qsort(all, n, sizeof *all, compare_ids);
    for (size_t i = 0; i < n; i++) {
        const struct slice id = all[i].id;
        const struct ets_table *old =
            l->n > 0 ? bsearch(&all[i], l->all, l->n, sizeof *l->all, compare_ids) : NULL;
        if (old)
            all[i] = *old;
        all[i].id = slice_keep(&arena, id);
        all[i].name = slice_keep(&arena, all[i].name);
    }
    ets_list_clear(l);
    *l = (struct ets_list){arena, all, n};
    return true;
}

struct ets_table *ets_list_find(const struct ets_list *l, struct slice id)
{
    const struct ets_table key = {.id = id};
    return l->n > 0 ? bsearch(&key, l->all, l->n, sizeof *l->all, compare_ids) : NULL;
}

static int compare_words(const void *a, const void *b)
{
    const struct ets_table *x = *(struct ets_table *const *)a, *y = *(struct ets_table *const *)b;
    const int order = (y->words > x->words) - (y->words < x->words);
    return order ? order : slice_order(x->id, y->id);
}

void ets_list_rank(const struct ets_list *l, struct ets_table **out)
{
    for (size_t i = 0; i < l->n; i++)
        out[i] = &l->all[i];
    qsort(out, l->n, sizeof *out, compare_words);
}
