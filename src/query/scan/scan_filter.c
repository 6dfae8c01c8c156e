/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "scan_filter.h"

#include <stdlib.h>
#include <string.h>

#include <uthash.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "query/native/values.h"

#define SENT_MOST 5000

static const char *const names[SCAN_FILTER_FIELDS] = {"name", "label", "initial_call",
                                                      "application", "current_function"};

struct scan_label {
    UT_hash_handle hh;
    struct scan_label *next; /* of the news */
    int64_t id;
    enum scan_filter_field field;
    size_t len;
    char key[]; /* the field as a byte, and the term */
};

/* ---- the argument */

static void clear_sets(struct scan_filter *f)
{
    for (size_t i = 0; i < SCAN_FILTER_FIELDS; i++)
        free(f->sets[i].terms);
    memset(f->sets, 0, sizeof f->sets);
    f->on = false;
    f->fields = 0;
}

/* SCAN_FILTER_FIELDS: another one. */
static size_t find_field(struct slice name)
{
    size_t i = 0;
    while (i < SCAN_FILTER_FIELDS && !slice_is(name, names[i]))
        i++;
    return i;
}

static int order_terms(const void *a, const void *b)
{
    return slice_order(*(const struct slice *)a, *(const struct slice *)b);
}

static bool read_set(struct cursor *c, struct scan_filter_set *set)
{
    size_t pairs = 0;
    if (!cursor_map(c, &pairs) || pairs > LIMIT_FILTER_LABELS)
        return false;
    free(set->terms);
    *set = (struct scan_filter_set){.terms = alloc_zero(pairs + 1, sizeof *set->terms)};
    while (set->n < pairs && cursor_raw(c, &set->terms[set->n]) && cursor_skip(c))
        set->n++;
    qsort(set->terms, set->n, sizeof *set->terms, order_terms);
    return set->n == pairs;
}

static bool read_fields(struct scan_filter *f, struct cursor *c)
{
    struct cursor_list list;
    struct slice name;
    bool ok = cursor_list(c, &list) && !list.string;
    for (size_t i = 0; ok && i < list.count; i++) {
        ok = cursor_atom(c, &name);
        const size_t field = ok ? find_field(name) : SCAN_FILTER_FIELDS;
        f->fields |= field < SCAN_FILTER_FIELDS ? 1u << field : 0;
    }
    return ok && cursor_list_end(c, &list);
}

static bool read_sets(struct scan_filter *f, struct cursor *c)
{
    size_t pairs = 0;
    struct slice name;
    bool ok = cursor_map(c, &pairs);
    for (size_t i = 0; ok && i < pairs; i++) {
        ok = cursor_atom(c, &name);
        const size_t field = ok ? find_field(name) : SCAN_FILTER_FIELDS;
        if (ok && field < SCAN_FILTER_FIELDS)
            ok = read_set(c, &f->sets[field]);
        else
            ok = ok && cursor_atom_is(c, "none"); /* pids that are not looked at */
    }
    return ok;
}

bool scan_filter_read(struct scan_filter *f, struct cursor *c)
{
    clear_sets(f);
    if (cursor_peek_atom(c, "none"))
        return cursor_skip(c);
    f->on = cursor_tuple_of(c, 3) && cursor_skip(c) && read_fields(f, c) && read_sets(f, c);
    return f->on;
}

bool scan_filter_has(const struct scan_filter *f, enum scan_filter_field field)
{
    return f->on && (f->fields & 1u << field);
}

/* ---- matching */

/* Seen for the first time: it is sent with the next answer. */
static void note_label(struct scan_filter *f, enum scan_filter_field field, struct slice term)
{
    struct scan_label *label;
    char key[LIMIT_FILTER_LABEL_BYTES + 1];
    if (term.len > LIMIT_FILTER_LABEL_BYTES || f->n_labels >= LIMIT_FILTER_LABELS)
        return;
    key[0] = (char)field;
    memcpy(key + 1, term.s, term.len);
    HASH_FIND(hh, f->labels, key, term.len + 1, label);
    if (label)
        return;
    label = alloc_zero(1, sizeof *label + term.len + 1);
    label->field = field;
    label->len = term.len;
    label->id = (int64_t)f->n_labels++;
    memcpy(label->key, key, term.len + 1);
    HASH_ADD_KEYPTR(hh, f->labels, label->key, term.len + 1, label);
    *f->last = label;
    f->last = &label->next;
    f->n_news++;
}

static bool is_term(struct slice term)
{
    const struct cursor c = values_cursor(term);
    return term.len > 0 && !cursor_peek_atom(&c, "undefined") && !cursor_peek_atom(&c, "none");
}

bool scan_filter_passes(struct scan_filter *f, const struct scan_filtered *of)
{
    bool passes = false;
    for (size_t i = 0; i < SCAN_FILTER_FIELDS; i++) {
        const struct slice *term = &of->terms[i];
        if (!(f->fields & 1u << i) || !is_term(*term))
            continue;
        note_label(f, (enum scan_filter_field)i, *term);
        const struct scan_filter_set *set = &f->sets[i];
        passes |= set->n > 0 && bsearch(term, set->terms, set->n, sizeof *term, order_terms);
    }
    return passes;
}

void scan_filter_build(struct scan_filter *f, struct builder *b)
{
    const size_t n = f->n_news < SENT_MOST ? f->n_news : SENT_MOST;
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        const struct scan_label *label = f->news;
        f->news = label->next;
        build_tuple(b, 2);
        build_int(b, label->id);
        build_tuple(b, 2);
        build_atom(b, names[label->field]);
        build_raw(b, (const uint8_t *)label->key + 1, label->len);
    }
    build_nil(b);
    f->n_news -= n;
    if (!f->news)
        f->last = &f->news;
}

void scan_filter_init(struct scan_filter *f)
{
    *f = (struct scan_filter){0};
    f->last = &f->news;
}

void scan_filter_clear(struct scan_filter *f)
{
    struct scan_label *label, *next;
    clear_sets(f);
    HASH_ITER (hh, f->labels, label, next) {
        HASH_DEL(f->labels, label);
        free(label);
    }
    scan_filter_init(f);
}
