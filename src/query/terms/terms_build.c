/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "query/native/values.h"
#include "terms_internal.h"

_Static_assert(TERMS_KEYS == 1000, "name_rest() says so");
_Static_assert(TERMS_KEYS + TERMS_ATOMS + TERMS_MODULES + 4 <= LIMIT_TABLE_ROWS, "rows of all");

/* A row; -1: not known. An empty text: none. */
struct row {
    const char *kind;
    struct slice name, application;
    int64_t count, limit, bytes, unshared, old_bytes;
    bool is_external; /* unshared: in the external term format */
};

/* Its kind and its name are what it is known by. */
static void build_term_id(struct builder *b, const struct row *row)
{
    struct buf text;
    buf_init(&text, 0);
    buf_printf(&text, "%s %.*s", row->kind, (int)row->name.len, row->name.s);
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

/* In the order of terms_fields. */
static void build_term_row(struct builder *b, const struct row *row)
{
    build_tuple(b, TERMS_COLUMNS);
    build_term_id(b, row);
    build_binary(b, row->kind, strlen(row->kind));
    build_known_text(b, row->name);
    build_known_text(b, row->application);
    build_known_int(b, row->count);
    build_known_int(b, row->limit);
    build_known_int(b, row->bytes);
    build_known_int(b, row->unshared);
    build_known_bool(b, row->unshared >= 0, row->is_external);
    build_known_int(b, row->old_bytes);
}

static struct row row_of(const char *kind, struct slice name, int64_t count)
{
    return (struct row){.kind = kind,
                        .name = name,
                        .count = count,
                        .limit = -1,
                        .bytes = -1,
                        .unshared = -1,
                        .old_bytes = -1};
}

static int64_t subtract_known(int64_t all, int64_t part)
{
    return all < 0 ? -1 : all > part ? all - part : 0;
}

/* ---- what is not listed, so that sums of a kind are those of the node */

static struct row rest_of_modules(const struct terms_read *t, size_t n)
{
    const struct terms_modules *modules = &t->modules;
    struct row row = row_of("modules", slice_of("others"), -1);
    int64_t bytes = 0, old_bytes = 0;
    if (t->modules_ms == 0)
        return row;
    for (size_t i = 0; i < n; i++) {
        bytes = values_add(bytes, modules->all[i].bytes + modules->all[i].old_bytes);
        old_bytes = values_add(old_bytes, modules->all[i].old_bytes);
    }
    row.count = (int64_t)(modules->n - n);
    row.bytes = subtract_known(values_add(modules->bytes, modules->old_bytes), bytes);
    row.old_bytes = subtract_known(modules->old_bytes, old_bytes);
    return row;
}

/* Those that are listed are not the largest: sizes of the others are not known. */
static struct slice name_rest(const struct terms_read *t, int64_t others)
{
    return t->keys.n > 0 && others > 0 ? slice_of("all but the first 1,000; memory of all")
                                       : slice_of("others; memory of all");
}

static void build_rests(struct builder *b, const struct terms_read *t, size_t n_modules)
{
    const int64_t keys = subtract_known(t->persistent, (int64_t)t->keys.n);
    const int64_t atoms = subtract_known(t->atoms, (int64_t)t->n_newest);
    const struct row modules = rest_of_modules(t, n_modules);
    struct row persistent = row_of("persistent", name_rest(t, keys), keys);
    struct row atom = row_of("atoms", slice_of("others; memory of all"), atoms);
    struct row timers = row_of("timers", slice_of("start_timer, send_after"), -1);
    persistent.bytes = t->persistent_bytes;
    atom.limit = t->atom_limit;
    atom.bytes = t->atom_bytes;
    if (t->timers.known) {
        timers.count = t->timers.timers;
        timers.bytes = t->timers.timer_bytes;
    }
    build_term_row(b, &persistent);
    build_term_row(b, &atom);
    build_term_row(b, &modules);
    build_term_row(b, &timers);
}

/* ---- what is listed */

static int compare_sizes(const void *a, const void *b)
{
    const struct terms_key *x = *(struct terms_key *const *)a, *y = *(struct terms_key *const *)b;
    const int order = (x->bytes < y->bytes) - (x->bytes > y->bytes);
    return order ? order : slice_order(x->text, y->text);
}

static void build_keys(struct builder *b, const struct terms_read *t)
{
    struct terms_key **ranked = alloc_zero(t->keys.n + 1, sizeof(struct terms_key *));
    for (size_t i = 0; i < t->keys.n; i++)
        ranked[i] = &t->keys.all[i];
    qsort(ranked, t->keys.n, sizeof(struct terms_key *), compare_sizes);
    for (size_t i = 0; i < t->keys.n; i++) {
        struct row row = row_of("persistent", ranked[i]->text, 1);
        row.application = terms_find_owner(&t->owners, ranked[i]->module);
        row.unshared = ranked[i]->bytes;
        row.is_external = ranked[i]->is_external;
        build_term_row(b, &row);
    }
    free(ranked);
}

static void build_atoms(struct builder *b, const struct terms_read *t)
{
    for (size_t i = 0; i < t->n_newest; i++) {
        const struct row row = row_of("atoms", who_atom_of(t->newest[i]), 1);
        build_term_row(b, &row);
    }
}

static void build_modules(struct builder *b, const struct terms_read *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct terms_module *m = &t->modules.all[i];
        struct row row = row_of("modules", m->name, 1);
        row.application = terms_find_owner(&t->owners, m->name);
        row.bytes = m->bytes + m->old_bytes;
        row.old_bytes = m->old_bytes;
        build_term_row(b, &row);
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
