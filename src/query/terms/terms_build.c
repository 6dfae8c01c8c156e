/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "query/native/values.h"
#include "terms_internal.h"

_Static_assert(TERMS_KEYS + TERMS_ATOMS + TERMS_MODULES + 4 <= LIMIT_TABLE_ROWS, "rows of all");

/* A row; -1: not known. An empty text: none. */
struct row {
    const char *kind;
    struct slice name, application;
    int64_t count, limit, bytes, unshared, old_bytes;
};

static void build_text(struct builder *b, struct slice text)
{
    if (text.len > 0)
        build_binary(b, text.s, text.len);
    else
        build_atom(b, "undefined");
}

/* Its kind and its name are what it is known by. */
static void build_id(struct builder *b, const struct row *row)
{
    struct buf text;
    buf_init(&text, 0);
    buf_printf(&text, "%s %.*s", row->kind, (int)row->name.len, row->name.s);
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

/* In the order of terms_fields. */
static void build_row(struct builder *b, const struct row *row)
{
    build_tuple(b, TERMS_COLUMNS);
    build_id(b, row);
    build_binary(b, row->kind, strlen(row->kind));
    build_text(b, row->name);
    build_text(b, row->application);
    values_build_number(b, row->count);
    values_build_number(b, row->limit);
    values_build_number(b, row->bytes);
    values_build_number(b, row->unshared);
    values_build_number(b, row->old_bytes);
}

static int64_t subtract_known(int64_t all, int64_t part)
{
    return all < 0 ? -1 : all > part ? all - part : 0;
}

/* ---- what is not listed, so that sums of a kind are those of the node */

static void build_rests(struct builder *b, const struct terms_read *t, size_t n_modules)
{
    const struct terms_modules *modules = &t->modules;
    int64_t bytes = 0, old_bytes = 0;
    for (size_t i = 0; i < n_modules; i++) {
        bytes = values_add(bytes, modules->all[i].bytes + modules->all[i].old_bytes);
        old_bytes = values_add(old_bytes, modules->all[i].old_bytes);
    }
    const bool knows = t->modules_ms > 0;
    const struct row rows[] = {
        {"persistent",
         slice_of("others; memory of all"),
         {0},
         subtract_known(t->persistent, (int64_t)t->keys.n),
         -1,
         t->persistent_bytes,
         -1,
         -1},
        {"atoms",
         slice_of("others"),
         {0},
         subtract_known(t->atoms, (int64_t)t->n_newest),
         t->atom_limit,
         -1,
         -1,
         -1},
        {"modules",
         slice_of("others"),
         {0},
         knows ? (int64_t)(modules->n - n_modules) : -1,
         -1,
         knows ? subtract_known(values_add(modules->bytes, modules->old_bytes), bytes) : -1,
         -1,
         knows ? subtract_known(modules->old_bytes, old_bytes) : -1},
        {"timers",
         slice_of("start_timer, send_after"),
         {0},
         t->timers.known ? t->timers.timers : -1,
         -1,
         t->timers.known ? t->timers.timer_bytes : -1,
         -1,
         -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        build_row(b, &rows[i]);
}

/* ---- what is listed */

static int compare_words(const void *a, const void *b)
{
    const struct terms_key *x = *(struct terms_key *const *)a, *y = *(struct terms_key *const *)b;
    const int order = (x->words < y->words) - (x->words > y->words);
    return order ? order : slice_order(x->text, y->text);
}

static void build_keys(struct builder *b, const struct terms_read *t)
{
    struct terms_key **ranked = alloc_zero(t->keys.n + 1, sizeof(struct terms_key *));
    for (size_t i = 0; i < t->keys.n; i++)
        ranked[i] = &t->keys.all[i];
    qsort(ranked, t->keys.n, sizeof(struct terms_key *), compare_words);
    for (size_t i = 0; i < t->keys.n; i++) {
        const struct terms_key *key = ranked[i];
        const int64_t bytes = key->words < 0 ? -1 : key->words * t->word_bytes;
        build_row(b,
                  &(struct row){"persistent", key->text, terms_find_owner(&t->owners, key->module),
                                1, -1, -1, bytes, -1});
    }
    free(ranked);
}

static void build_atoms(struct builder *b, const struct terms_read *t)
{
    for (size_t i = 0; i < t->n_newest; i++)
        build_row(b, &(struct row){"atoms", who_atom_of(t->newest[i]), {0}, 1, -1, -1, -1, -1});
}

static void build_modules(struct builder *b, const struct terms_read *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct terms_module *m = &t->modules.all[i];
        build_row(b, &(struct row){"modules", m->name, terms_find_owner(&t->owners, m->name), 1, -1,
                                   m->bytes + m->old_bytes, -1, m->old_bytes});
    }
}

void terms_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who)
{
    const struct terms_read *t = read;
    const size_t n_modules = t->modules.n < TERMS_MODULES ? t->modules.n : TERMS_MODULES;
    const bool partial = t->persistent < 0 || t->keys_ms == 0 || t->modules_ms == 0;
    (void)who;
    build_tuple(b, 4);
    build_atom(b, "terms");
    build_int(b, mono_ns);
    build_list(b, 4 + t->keys.n + t->n_newest + n_modules);
    build_rests(b, t, n_modules);
    build_keys(b, t);
    build_atoms(b, t);
    build_modules(b, t, n_modules);
    build_nil(b);
    build_bool(b, partial);
}
