/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ETS tables and what has grown among them. */
#include <stdlib.h>

#include "growth_terms.h"
#include "query/native/values.h"

static int order_tables(const void *a, const void *b)
{
    const struct growth_table *x = a, *y = b;
    return slice_order(x->id, y->id);
}

bool growth_read_tables(struct slice list, struct growth_tables *out)
{
    struct cursor c;
    struct slice id;
    size_t n;
    arena_clear(&out->arena);
    out->n = 0;
    if (!values_enter_list(list, &c, &n) || n > GROWTH_TABLES)
        return false;
    out->all = arena_alloc(&out->arena, (n + 1) * sizeof *out->all);
    for (size_t i = 0; i < n; i++) {
        const enum etf_kind kind = cursor_kind(&c);
        if ((kind != ETF_KIND_ATOM && kind != ETF_KIND_REF) || !cursor_raw(&c, &id))
            return false;
        out->all[out->n++] = (struct growth_table){slice_keep(&out->arena, id), -1, {0}};
    }
    qsort(out->all, out->n, sizeof *out->all, order_tables);
    return true;
}

static const struct growth_table *find_table(const struct growth_tables *t, struct slice id)
{
    const struct growth_table key = {.id = id};
    return t->n == 0 ? NULL : bsearch(&key, t->all, t->n, sizeof *t->all, order_tables);
}

bool growth_take_words(struct growth_tables *t, struct slice list)
{
    struct cursor c, word;
    size_t n;
    if (!values_enter_list(list, &c, &n) || n != t->n)
        return false;
    for (size_t i = 0; i < t->n && cursor_apart(&c, &word); i++) {
        int64_t words;
        if (cursor_int64(&word, &words) && words >= 0 && words <= VALUES_MOST)
            t->all[i].words = words;
    }
    return true;
}

size_t growth_named_tables(const struct growth_tables *t, struct slice *names)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++)
        if (who_atom_of(t->all[i].id).len > 0)
            names[n++] = t->all[i].id;
    return n;
}

void growth_take_tids(struct growth_tables *t, struct slice list)
{
    struct cursor c, term;
    struct slice tid;
    size_t n, named = 0;
    for (size_t i = 0; i < t->n; i++)
        named += who_atom_of(t->all[i].id).len > 0;
    if (!values_enter_list(list, &c, &n) || n != named)
        return;
    for (size_t i = 0; i < t->n; i++) {
        if (who_atom_of(t->all[i].id).len == 0)
            continue;
        term = c;
        if (!cursor_raw(&c, &tid))
            return;
        if (cursor_kind(&term) == ETF_KIND_REF)
            t->all[i].tid = slice_keep(&t->arena, tid);
    }
}

/* That of before; NULL: there was none, or another had its name. */
static const struct growth_table *find_same(const struct growth_tables *old,
                                            const struct growth_table *table)
{
    const struct growth_table *was = find_table(old, table->id);
    const bool are_known = was && was->tid.len > 0 && table->tid.len > 0;
    return are_known && !slice_equal(was->tid, table->tid) ? NULL : was;
}

/* The largest growth first. */
static void note_growth(struct growth_ets *out, const struct growth_table *table, int64_t words)
{
    size_t at = out->n_growing;
    if (at == GROWTH_EXAMPLES && out->growing[at - 1].words >= words)
        return;
    if (at < GROWTH_EXAMPLES)
        out->n_growing++;
    else
        at--;
    for (; at > 0 && out->growing[at - 1].words < words; at--)
        out->growing[at] = out->growing[at - 1];
    out->growing[at] = (struct growth_grown){.table = table, .words = words};
}

void growth_compare_tables(const struct growth_tables *now, const struct growth_tables *old,
                           struct growth_ets *out)
{
    for (size_t i = 0; i < now->n; i++) {
        const struct growth_table *table = &now->all[i], *was = find_same(old, table);
        if (table->words < 0)
            continue;
        out->measured++;
        if (!was) {
            out->n_new++;
            if (out->n_sampled < GROWTH_LOOKED)
                out->new_ids[out->n_sampled++] = table->id;
        }
        const int64_t before = was && was->words > 0 ? was->words : 0;
        if (table->words > before && !(was && was->words < 0))
            note_growth(out, table, table->words - before);
    }
}

/* {name, Value} of a port, else the value; len 0: it is gone. */
static struct slice value_of(struct slice term)
{
    struct slice parts[2];
    if (who_term_is(term, "undefined"))
        return (struct slice){0};
    return values_read_tuple(term, 2, parts, 2) ? parts[1] : term;
}

/* The value that most have, of those whose `like` is `than` (len 0: of all). */
static size_t most_frequent(const struct slice *all, const struct slice *like, size_t n,
                            struct slice than, struct slice *value)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        if (than.len > 0 && !slice_equal(like[i], than))
            continue;
        for (size_t k = 0; k < n; k++)
            same += slice_equal(all[i], all[k]) && (than.len == 0 || slice_equal(like[k], than));
        if (same <= most)
            continue;
        most = same;
        *value = all[i];
    }
    return most;
}

void growth_read_most(struct slice names, struct slice owners, struct growth_most *out)
{
    struct cursor a, b;
    struct slice raw_a, raw_b;
    size_t n = 0, n_names, n_owners;
    struct slice both[2][GROWTH_LOOKED];
    *out = (struct growth_most){0};
    if (!values_enter_list(names, &a, &n_names) || !values_enter_list(owners, &b, &n_owners) ||
        n_names != n_owners || n_names > GROWTH_LOOKED)
        return;
    for (size_t i = 0; i < n_names; i++) {
        if (!cursor_raw(&a, &raw_a) || !cursor_raw(&b, &raw_b))
            return;
        both[0][n] = value_of(raw_a);
        both[1][n] = value_of(raw_b);
        n += both[0][n].len > 0 && both[1][n].len > 0;
    }
    out->sampled = n;
    out->seen = most_frequent(both[0], both[0], n, (struct slice){0}, &out->name);
    out->owned = most_frequent(both[1], both[0], n, out->name, &out->owner);
}
