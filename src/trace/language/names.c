/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/names.h"

#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/cursor.h"

/* An answer, kept as it came: the names are slices of it. */
struct module {
    uint8_t *term;
    struct slice name;
    enum names_known known;
    struct names_function *functions;
    size_t len;
    uint64_t taken; /* the answer's number: the lowest is forgotten first */
};

/* Sorted. */
struct name_list {
    struct slice *at; /* NULL: not known */
    size_t n;
};

struct names {
    uint8_t *modules_term, *who_term;
    struct name_list modules, registered, apps;
    struct module *known; /* by name */
    size_t n_known, cap_known;
    size_t functions; /* of all that is known */
    uint64_t taken;
};

struct names *names_new(void)
{
    return alloc_zero(1, sizeof(struct names));
}

static void clear_module(struct module *m)
{
    free(m->functions);
    free(m->term);
}

void names_free(struct names *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n_known; i++)
        clear_module(&n->known[i]);
    free(n->known);
    free(n->modules.at);
    free(n->registered.at);
    free(n->apps.at);
    free(n->modules_term);
    free(n->who_term);
    free(n);
}

/* ---- order */

static int by_name(const void *a, const void *b)
{
    return slice_order(*(const struct slice *)a, *(const struct slice *)b);
}

static int by_name_and_arity(const void *a, const void *b)
{
    const struct names_function *x = a, *y = b;
    int order = slice_order(x->name, y->name);
    return order != 0 ? order : (x->arity > y->arity) - (x->arity < y->arity);
}

/* Where the module is, or where it belongs. */
static size_t find_module(const struct names *n, struct slice name, bool *there)
{
    size_t low = 0, high = n->n_known;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_order(n->known[middle].name, name);
        if (order == 0) {
            *there = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *there = false;
    return low;
}

/* ---- what is taken */

static int fail_answer(struct cursor *c, struct error *err)
{
    return cursor_end(c, false, "functions", err);
}

static int too_many_names(size_t count, struct error *err)
{
    return error_set(err, ERR_LIMIT, "%zu names are more than the %d that completion remembers",
                     count, LIMIT_NAMES);
}

static void replace_list(struct name_list *list, const struct name_list *by)
{
    free(list->at);
    *list = *by;
}

static int read_names(struct name_list *out, struct cursor *c, struct error *err)
{
    struct cursor_list list;
    if (!cursor_list(c, &list) || list.string)
        return fail_answer(c, err);
    if (list.count > LIMIT_NAMES)
        return too_many_names(list.count, err);
    out->at = alloc_zero(list.count + 1, sizeof *out->at);
    for (size_t i = 0; i < list.count; i++)
        cursor_binary(c, &out->at[i]);
    if (!cursor_list_end(c, &list))
        return fail_answer(c, err);
    out->n = list.count;
    qsort(out->at, out->n, sizeof *out->at, by_name);
    return 0;
}

/* Replaces one list, or two; *kept is the term that they are slices of, which becomes this one. */
static int take_lists(struct name_list *first, struct name_list *second, uint8_t **kept,
                      uint8_t *term, struct cursor *c, struct error *err)
{
    struct name_list lists[2] = {0};
    int rc = read_names(&lists[0], c, err);
    if (rc == 0 && second)
        rc = read_names(&lists[1], c, err);
    if (rc == 0 && ((!second && !cursor_skip(c)) || !cursor_at_end(c)))
        rc = fail_answer(c, err);
    if (rc != 0) {
        free(lists[0].at);
        free(lists[1].at);
        return rc;
    }
    replace_list(first, &lists[0]);
    if (second)
        replace_list(second, &lists[1]);
    free(*kept);
    *kept = term;
    return 0;
}

static bool read_function(struct cursor *c, struct names_function *f)
{
    int64_t arity;
    if (!cursor_tuple_of(c, 3) || !cursor_binary(c, &f->name) || !cursor_int64(c, &arity) ||
        !cursor_bool(c, &f->exported) || arity < 0 || arity > 255)
        return false;
    f->arity = (int)arity;
    return true;
}

static int read_module_functions(struct module *m, struct cursor *c, struct error *err)
{
    struct cursor_list list;
    m->known = NAMES_LOADED;
    if (!cursor_list(c, &list) || list.string)
        return fail_answer(c, err);
    if (list.count > LIMIT_NAMES)
        return too_many_names(list.count, err);
    m->functions = alloc_zero(list.count + 1, sizeof(*m->functions));
    m->len = list.count;
    for (size_t i = 0; i < list.count; i++)
        if (!read_function(c, &m->functions[i]))
            return fail_answer(c, err);
    if (!cursor_list_end(c, &list))
        return fail_answer(c, err);
    qsort(m->functions, m->len, sizeof(*m->functions), by_name_and_arity);
    return 0;
}

static void forget_module(struct names *n, size_t at)
{
    n->functions -= n->known[at].len;
    clear_module(&n->known[at]);
    n->n_known--;
    memmove(&n->known[at], &n->known[at + 1], (n->n_known - at) * sizeof(*n->known));
}

/* Modules without functions count too, so that no number of answers grows without end. */
static void make_room(struct names *n, size_t functions)
{
    while (n->n_known > 0 && n->functions + n->n_known + functions >= LIMIT_NAMES) {
        size_t oldest = 0;
        for (size_t i = 1; i < n->n_known; i++)
            if (n->known[i].taken < n->known[oldest].taken)
                oldest = i;
        forget_module(n, oldest);
    }
}

static void put_known_module(struct names *n, const struct module *m)
{
    bool there;
    size_t at = find_module(n, m->name, &there);
    if (there)
        forget_module(n, at);
    make_room(n, m->len);
    at = find_module(n, m->name, &there);
    if (n->n_known == n->cap_known) {
        n->cap_known = n->cap_known > 0 ? 2 * n->cap_known : 16;
        n->known = alloc_resize(n->known, n->cap_known, sizeof(*n->known));
    }
    memmove(&n->known[at + 1], &n->known[at], (n->n_known - at) * sizeof(*n->known));
    n->known[at] = *m;
    n->known[at].taken = n->taken++;
    n->n_known++;
    n->functions += m->len;
}

static int take_module_functions(struct names *n, uint8_t *term, struct cursor *c,
                                 struct error *err)
{
    struct module m = {.term = term};
    int rc = 0;
    if (!cursor_binary(c, &m.name))
        return fail_answer(c, err);
    if (cursor_peek_atom(c, "not_loaded") || cursor_peek_atom(c, "no_module") ||
        cursor_peek_atom(c, "unknown")) {
        m.known = cursor_peek_atom(c, "no_module") ? NAMES_NO_MODULE : NAMES_NOT_LOADED;
        cursor_skip(c);
    } else {
        rc = read_module_functions(&m, c, err);
    }
    if (rc == 0 && !cursor_at_end(c))
        rc = fail_answer(c, err);
    if (rc == 0)
        put_known_module(n, &m);
    else
        free(m.functions);
    return rc;
}

int names_take(struct names *n, const uint8_t *term, size_t len, struct error *err)
{
    struct cursor c;
    uint8_t *copy = alloc_zero(len + 1, 1);
    if (len > 0)
        memcpy(copy, term, len);
    cursor_init(&c, copy, len);
    int rc;
    if (!cursor_tuple_of(&c, 3))
        rc = fail_answer(&c, err);
    else if (cursor_peek_atom(&c, "modules") && cursor_skip(&c))
        rc = take_lists(&n->modules, NULL, &n->modules_term, copy, &c, err);
    else if (cursor_peek_atom(&c, "who") && cursor_skip(&c))
        rc = take_lists(&n->registered, &n->apps, &n->who_term, copy, &c, err);
    else if (cursor_atom_is(&c, "functions"))
        rc = take_module_functions(n, copy, &c, err);
    else
        rc = fail_answer(&c, err);
    if (rc != 0)
        free(copy);
    return rc;
}

/* ---- what is known */

static size_t borrow_list(const struct name_list *list, const struct slice **out)
{
    *out = list->at;
    return list->n;
}

bool names_has_modules(const struct names *n)
{
    return n->modules.at != NULL;
}

size_t names_modules(const struct names *n, const struct slice **out)
{
    return borrow_list(&n->modules, out);
}

bool names_has_who(const struct names *n)
{
    return n->registered.at != NULL;
}

size_t names_registered(const struct names *n, const struct slice **out)
{
    return borrow_list(&n->registered, out);
}

size_t names_apps(const struct names *n, const struct slice **out)
{
    return borrow_list(&n->apps, out);
}

static const struct module *known_module(const struct names *n, struct slice module)
{
    bool there;
    size_t at = find_module(n, module, &there);
    return there ? &n->known[at] : NULL;
}

enum names_known names_known(const struct names *n, struct slice module)
{
    const struct module *m = known_module(n, module);
    return m ? m->known : NAMES_UNKNOWN;
}

bool names_functions(const struct names *n, struct slice module, const struct names_function **out,
                     size_t *len)
{
    const struct module *m = known_module(n, module);
    *out = m ? m->functions : NULL;
    *len = m ? m->len : 0;
    return m != NULL;
}
