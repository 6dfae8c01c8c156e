/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/trace/calls_several.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

#define LOST_NAMED 20 /* modules that the node names at most */

/* A row of a node, before those of one function stand together. */
struct row_of {
    const struct calls_function *row;
    const struct calls_part *part;
};

/* ---- order */

static int compare_slices(struct slice a, struct slice b)
{
    const size_t least = a.len < b.len ? a.len : b.len;
    const int order = least > 0 ? memcmp(a.s, b.s, least) : 0;
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_functions(const struct calls_function *a, const struct calls_function *b)
{
    int order = compare_slices(a->module, b->module);
    if (order == 0)
        order = compare_slices(a->function, b->function);
    return order != 0 ? order : (a->arity > b->arity) - (a->arity < b->arity);
}

static int by_function(const void *a, const void *b)
{
    const struct row_of *x = a, *y = b;
    const int order = compare_functions(x->row, y->row);
    return order != 0 ? order : (x->part > y->part) - (x->part < y->part);
}

static int by_calls(const void *a, const void *b)
{
    const struct calls_several_function *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    return compare_slices(x->name, y->name);
}

static int by_rate(const void *a, const void *b)
{
    const struct calls_node_function *x = a, *y = b;
    const int order = (x->calls_per_s < y->calls_per_s) - (x->calls_per_s > y->calls_per_s);
    return order ? order : compare_slices(x->node, y->node);
}

static int by_place(const void *a, const void *b)
{
    const struct calls_sum *x = *(const struct calls_sum *const *)a;
    const struct calls_sum *y = *(const struct calls_sum *const *)b;
    const int order = compare_slices(x->module, y->module);
    return order != 0 ? order : compare_slices(x->application, y->application);
}

static int by_sum(const void *a, const void *b)
{
    const struct calls_sum *x = a, *y = b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : by_place(&x, &y);
}

/* ---- sums */

static uint64_t add_capped(uint64_t sum, uint64_t n)
{
    if (n == CALLS_UNKNOWN || sum == CALLS_UNKNOWN)
        return n == CALLS_UNKNOWN ? sum : n;
    return n < CALLS_UNKNOWN - 1 - sum ? sum + n : CALLS_UNKNOWN - 1;
}

static uint64_t add_both(uint64_t a, uint64_t b)
{
    return a == CALLS_UNKNOWN || b == CALLS_UNKNOWN ? CALLS_UNKNOWN : add_capped(a, b);
}

static double quotient_of(double a, double b)
{
    return b > 0 ? a / b : (double)NAN;
}

static void note_least(double value, struct slice node, double *least, struct slice *least_node)
{
    if (isnan(*least) || value < *least) {
        *least = value;
        *least_node = node;
    }
}

static void note_most(double value, struct slice node, double *most, struct slice *most_node)
{
    if (isnan(*most) || value > *most) {
        *most = value;
        *most_node = node;
    }
}

static void note_rate(struct calls_several_function *f, double per_s, struct slice node)
{
    if (isnan(per_s))
        return;
    note_least(per_s, node, &f->least_per_s, &f->least_node);
    note_most(per_s, node, &f->most_per_s, &f->most_node);
}

static bool is_named(const struct slice *names, size_t n, struct slice name)
{
    for (size_t i = 0; i < n; i++)
        if (slice_equal(names[i], name))
            return true;
    return false;
}

/* How many calls of a function that the window does not list it may have seen: 0 where it lists all
 * that were called. */
static uint64_t unlisted_calls(const struct calls_window *w, const struct calls_several_function *f)
{
    if (is_named(w->excluded, w->n_excluded, f->name) ||
        is_named(w->lost_modules, w->n_lost_modules, f->module))
        return CALLS_UNKNOWN;
    if (w->lost > 0 && (w->n_lost_modules == 0 || w->n_lost_modules >= LOST_NAMED))
        return CALLS_UNKNOWN;
    if (w->called <= w->n_rows)
        return 0;
    return w->n_rows > 0 ? w->rows[w->n_rows - 1].calls : CALLS_UNKNOWN;
}

/* How many a second that may be there; NaN: none, it has not called it. */
static double add_unlisted(struct calls_several_function *f, const struct calls_part *part)
{
    const struct calls_window *w = part->window;
    const uint64_t most = unlisted_calls(w, f);
    f->unlisted = add_both(f->unlisted, most);
    if (most == 0)
        note_rate(f, 0, part->node);
    return most == 0               ? (double)NAN
           : most == CALLS_UNKNOWN ? (double)INFINITY
                                   : w->rows[w->n_rows - 1].calls_per_s;
}

/* A node that does not list it may have the fewest, or the most. */
static void forget_spread(struct calls_several_function *f, double unlisted_per_s)
{
    if (isnan(unlisted_per_s))
        return;
    if (!(f->least_per_s <= 0)) {
        f->least_per_s = (double)NAN;
        f->least_node = (struct slice){"", 0};
    }
    if (!(f->most_per_s >= unlisted_per_s)) {
        f->most_per_s = (double)NAN;
        f->most_node = (struct slice){"", 0};
    }
}

static void add_node_row(struct calls_several_function *f, struct calls_node_function *of_node,
                         const struct row_of *r)
{
    const struct calls_function *row = r->row;
    *of_node = (struct calls_node_function){.node = r->part->node,
                                            .calls = row->calls,
                                            .calls_per_s = row->calls_per_s,
                                            .timed_calls = row->timed_calls,
                                            .own_us = row->own_us,
                                            .words = row->words,
                                            .us_per_call = row->us_per_call};
    f->nodes++;
    f->calls = add_capped(f->calls, row->calls);
    f->calls_per_s += isnan(row->calls_per_s) ? 0 : row->calls_per_s;
    f->timed_calls = add_capped(f->timed_calls, row->timed_calls);
    f->own_us = add_capped(f->own_us, row->own_us);
    f->words = add_capped(f->words, row->words);
    if (f->application.len == 0)
        f->application = row->application;
    note_rate(f, row->calls_per_s, r->part->node);
    if (isnan(row->us_per_call))
        return;
    note_least(row->us_per_call, r->part->node, &f->least_us, &f->least_us_node);
    note_most(row->us_per_call, r->part->node, &f->most_us, &f->most_us_node);
}

/* One function of so many rows, which are in the order of the parts. */
static void sum_function(struct calls_several_function *f, struct arena *arena,
                         const struct row_of *rows, size_t n, const struct calls_part *parts,
                         size_t n_parts)
{
    const struct calls_function *row = rows[0].row;
    struct calls_node_function *by_node = arena_alloc(arena, n * sizeof *by_node);
    double unlisted_per_s = (double)NAN;
    size_t at = 0;
    *f = (struct calls_several_function){.module = row->module,
                                         .function = row->function,
                                         .arity = row->arity,
                                         .least_per_s = (double)NAN,
                                         .most_per_s = (double)NAN,
                                         .least_us = (double)NAN,
                                         .most_us = (double)NAN,
                                         .timed_calls = CALLS_UNKNOWN,
                                         .own_us = CALLS_UNKNOWN,
                                         .words = CALLS_UNKNOWN,
                                         .by_node = by_node,
                                         .n_by_node = n};
    f->name = slice_of(arena_printf(arena, "%.*s:%.*s/%u", (int)f->module.len, f->module.s,
                                    (int)f->function.len, f->function.s, (unsigned)f->arity));
    for (size_t i = 0; i < n_parts; i++) {
        if (!parts[i].counted)
            continue;
        if (at < n && rows[at].part == &parts[i]) {
            add_node_row(f, &by_node[at], &rows[at]);
            at++;
        } else {
            unlisted_per_s = fmax(unlisted_per_s, add_unlisted(f, &parts[i]));
        }
    }
    forget_spread(f, unlisted_per_s);
    f->bound = f->unlisted > 0 ? BOUND_AT_LEAST : BOUND_NONE;
    f->us_per_call = quotient_of(calls_or_nan(f->own_us), calls_or_nan(f->timed_calls));
    f->words_per_call = quotient_of(calls_or_nan(f->words), calls_or_nan(f->timed_calls));
    qsort(by_node, n, sizeof *by_node, by_rate);
}

/* All rows of the parts that are counted, those of one function together. A list may not name a
 * function twice: the rest of them is dropped. */
static size_t gather_rows(struct row_of *rows, const struct calls_part *parts, size_t n)
{
    size_t all = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; parts[i].counted && k < parts[i].window->n_rows; k++)
            rows[all++] = (struct row_of){&parts[i].window->rows[k], &parts[i]};
    if (all > 0)
        qsort(rows, all, sizeof *rows, by_function);
    for (size_t i = 0; i < all; i++)
        if (i == 0 || by_function(&rows[kept - 1], &rows[i]) != 0)
            rows[kept++] = rows[i];
    return kept;
}

static size_t count_same(const struct row_of *rows, size_t n)
{
    size_t same = 1;
    while (same < n && compare_functions(rows[0].row, rows[same].row) == 0)
        same++;
    return same;
}

static void sum_functions(struct calls_several *out, struct arena *arena,
                          const struct calls_part *parts, size_t n, size_t top)
{
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most += parts[i].counted ? parts[i].window->n_rows : 0;
    struct row_of *rows = alloc_zero(most, sizeof *rows);
    struct calls_several_function *sums = arena_alloc(arena, most * sizeof *sums);
    const size_t all = gather_rows(rows, parts, n);
    for (size_t i = 0, same; i < all; i += same) {
        same = count_same(rows + i, all - i);
        sum_function(&sums[out->n_rows++], arena, rows + i, same, parts, n);
    }
    free(rows);
    qsort(sums, out->n_rows, sizeof *sums, by_calls);
    out->n_rows = out->n_rows < top ? out->n_rows : top;
    for (size_t i = 0; i < out->n_rows; i++)
        sums[i].share = quotient_of((double)sums[i].calls, (double)out->calls);
    out->rows = sums;
}

static const struct calls_sum *sums_of(const struct calls_part *p, bool modules, size_t *n)
{
    *n = !p->counted ? 0 : modules ? p->window->n_modules : p->window->n_applications;
    return !p->counted ? NULL : modules ? p->window->modules : p->window->applications;
}

/* All of them, those of one place together. The caller frees. */
static const struct calls_sum **gather_sums(const struct calls_part *parts, size_t n_parts,
                                            bool modules, size_t *n)
{
    size_t len;
    *n = 0;
    for (size_t i = 0; i < n_parts; i++, *n += len)
        (void)sums_of(&parts[i], modules, &len);
    const struct calls_sum **all = alloc_zero(*n + 1, sizeof *all);
    const struct calls_sum **next = all;
    for (size_t i = 0; i < n_parts; i++) {
        const struct calls_sum *sums = sums_of(&parts[i], modules, &len);
        for (size_t k = 0; k < len; k++)
            *next++ = &sums[k];
    }
    qsort(all, *n, sizeof *all, by_place);
    return all;
}

/* Modules or applications. */
static const struct calls_sum *sum_places(const struct calls_several *out, struct arena *arena,
                                          const struct calls_part *parts, size_t n_parts,
                                          bool modules, size_t *n)
{
    size_t all;
    const struct calls_sum **each = gather_sums(parts, n_parts, modules, &all);
    struct calls_sum *sums = arena_alloc(arena, (all + 1) * sizeof *sums);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        if (i == 0 || by_place(&each[i - 1], &each[i]) != 0)
            sums[(*n)++] = (struct calls_sum){.module = each[i]->module,
                                              .application = each[i]->application,
                                              .change = (double)NAN};
        struct calls_sum *sum = &sums[*n - 1];
        sum->calls = add_capped(sum->calls, each[i]->calls);
        sum->calls_per_s += isnan(each[i]->calls_per_s) ? 0 : each[i]->calls_per_s;
        sum->functions = sum->functions > each[i]->functions ? sum->functions : each[i]->functions;
        sum->share = quotient_of((double)sum->calls, (double)out->calls);
    }
    free(each);
    qsort(sums, *n, sizeof *sums, by_sum);
    return sums;
}

/* ---- a row of each node */

static struct calls_node row_of_node(const struct calls_part *p)
{
    const struct calls_window *w = p->window;
    struct calls_node node = {.node = p->node,
                              .why = p->why,
                              .counted = p->counted,
                              .wall_us = -1,
                              .interval_us = CALLS_UNKNOWN,
                              .asked_us = CALLS_UNKNOWN,
                              .functions = CALLS_UNKNOWN,
                              .called = CALLS_UNKNOWN,
                              .lost = CALLS_UNKNOWN,
                              .calls = CALLS_UNKNOWN,
                              .not_counted = CALLS_UNKNOWN,
                              .target_us = CALLS_UNKNOWN,
                              .bytes = CALLS_UNKNOWN,
                              .calls_per_s = (double)NAN,
                              .load = (double)NAN};
    if (!w)
        return node;
    node.wall_us = w->wall_us;
    node.interval_us = w->interval_us;
    node.asked_us = w->asked_us;
    node.functions = w->functions;
    node.called = w->called;
    node.lost = w->lost;
    node.calls = w->calls;
    node.not_counted = w->n_excluded;
    node.calls_per_s = w->calls_per_s;
    node.load = w->load;
    node.target_us = w->target_us;
    node.bytes = w->bytes;
    return node;
}

void calls_several_make(struct calls_several *out, struct arena *arena, uint64_t number,
                        const struct calls_part *parts, size_t n, size_t top)
{
    struct calls_node *nodes = arena_alloc(arena, (n + 1) * sizeof *nodes);
    *out = (struct calls_several){.number = number, .nodes = n, .parts = nodes, .n_parts = n};
    for (size_t i = 0; i < n; i++) {
        nodes[i] = row_of_node(&parts[i]);
        if (!parts[i].counted)
            continue;
        out->counted++;
        out->calls = add_capped(out->calls, parts[i].window->calls);
        out->calls_per_s += isnan(parts[i].window->calls_per_s) ? 0 : parts[i].window->calls_per_s;
        out->has_time = out->has_time || parts[i].window->has_time;
        out->has_memory = out->has_memory || parts[i].window->has_memory;
    }
    sum_functions(out, arena, parts, n, top);
    out->modules = sum_places(out, arena, parts, n, true, &out->n_modules);
    out->n_modules = out->n_modules < top ? out->n_modules : top;
    out->applications = sum_places(out, arena, parts, n, false, &out->n_applications);
}
