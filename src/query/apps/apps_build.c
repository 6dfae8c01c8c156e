/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer: what the processes of each application add up to. */
#include <stdlib.h>

#include "apps_terms.h"
#include "beamtop/base/alloc.h"
#include "beamtop/etf/cursor.h"
#include "query/native/values.h"
#include "query/scan/scan_walks.h"

#define LOADED_MOST 1000

struct app_sum {
    struct slice name; /* of the atom; `undefined`: processes of none */
    int64_t processes, memory, reductions, queue;
    int64_t age_ms; /* enum scan_age, or of the oldest */
};

/* ---- descriptions and versions */

/* {Application, Description, Version} of each; the first `most`. */
static size_t read_loaded(const struct apps_read *a, struct slice (*out)[3], size_t most)
{
    struct cursor c;
    struct slice each;
    size_t n = 0, count;
    if (!values_enter_list((struct slice){(const char *)a->loaded.data, a->loaded.len}, &c, &count))
        return 0;
    for (size_t i = 0; i < count && n < most && cursor_raw(&c, &each); i++)
        n += values_read_tuple(each, 3, out[n], 3);
    return n;
}

static size_t find_loaded(struct slice (*loaded)[3], size_t n, struct slice name)
{
    size_t i = 0;
    while (i < n && !slice_equal(who_atom_of(loaded[i][0]), name))
        i++;
    return i;
}

bool apps_has_unknown(const struct apps_read *a)
{
    struct slice loaded[LOADED_MOST][3];
    const size_t n = read_loaded(a, loaded, LOADED_MOST);
    for (size_t i = 0; i < a->leaders.n; i++)
        if (find_loaded(loaded, n, who_atom_of(who_leaders_at(&a->leaders, i))) == n)
            return true;
    return false;
}

static void build_text(struct builder *b, struct slice chars)
{
    struct buf text;
    buf_init(&text, 0);
    if (!values_put_chars(&text, chars))
        buf_reset(&text);
    build_binary(b, text.data, text.len);
    buf_clear(&text);
}

/* ---- sums */

static int order_sums(const void *a, const void *b)
{
    const struct app_sum *x = a, *y = b;
    return slice_order(x->name, y->name);
}

static int find_sum(const void *name, const void *sum)
{
    return slice_order(*(const struct slice *)name, ((const struct app_sum *)sum)->name);
}

/* Those that run, by name, and one for processes of none. The array is the caller's. */
static struct app_sum *list_sums(const struct apps_read *a, size_t *n)
{
    struct app_sum *sums = alloc_zero(a->leaders.n + 1, sizeof *sums);
    size_t all = a->leaders.n;
    for (size_t i = 0; i < all; i++)
        sums[i].name = who_atom_of(who_leaders_at(&a->leaders, i));
    sums[all++].name = slice_of("undefined");
    qsort(sums, all, sizeof *sums, order_sums);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        sums[i].age_ms = SCAN_AGE_NONE;
        if (*n == 0 || !slice_equal(sums[*n - 1].name, sums[i].name))
            sums[(*n)++] = sums[i];
    }
    return sums;
}

static struct slice info_of(const struct scan_proc *p)
{
    return (struct slice){(const char *)p->info.data, p->info.len};
}

/* The process of an ask has that of its asker for its group leader. */
static bool is_asked(const struct apps_read *a, struct slice leader)
{
    struct cursor c = values_cursor(leader);
    struct etf_pid pid;
    struct slice node;
    return cursor_pid(&c, &pid, &node) && !slice_is(node, a->node.name) &&
           slice_begins(node, "beamtop");
}

static struct slice find_application(const struct apps_read *a, struct slice leader)
{
    struct etf_pid pid;
    struct slice name = {0};
    if (who_read_pid(leader, &a->node, &pid))
        name = who_atom_of(who_leaders_find(&a->leaders, &pid));
    return name.len > 0 ? name : slice_of("undefined");
}

static int64_t keep_positive(int64_t n)
{
    return n > 0 ? n : 0;
}

static void add_process(const struct apps_read *a, const struct scan_proc *p, struct app_sum *sum)
{
    int64_t age_ms = SCAN_AGE_NONE;
    const int64_t memory = p->is_spared ? scan_walk_value(p, true, a->now_ms, &age_ms)
                                        : values_find_integer(info_of(p), "memory");
    sum->processes++;
    sum->memory += keep_positive(memory);
    sum->reductions += keep_positive(p->reductions);
    sum->queue += keep_positive(p->queue);
    if (sum->age_ms != SCAN_AGE_NEVER && (age_ms == SCAN_AGE_NEVER || age_ms > sum->age_ms))
        sum->age_ms = age_ms;
}

static struct app_sum *read_sums(const struct apps_read *a, size_t *n)
{
    struct app_sum *sums = list_sums(a, n);
    for (size_t i = 0; i < a->table.n; i++) {
        const struct scan_proc *p = &a->table.procs[i];
        const struct slice leader = values_find(info_of(p), "group_leader");
        if (!p->listed || leader.len == 0 || is_asked(a, leader))
            continue;
        const struct slice name = find_application(a, leader);
        struct app_sum *sum = bsearch(&name, sums, *n, sizeof *sums, find_sum);
        if (sum)
            add_process(a, p, sum);
    }
    return sums;
}

/* ---- the answer */

void apps_build(struct builder *b, const struct apps_read *a)
{
    struct slice loaded[LOADED_MOST][3];
    const size_t n_loaded = read_loaded(a, loaded, LOADED_MOST);
    size_t n;
    struct app_sum *sums = read_sums(a, &n);
    build_tuple(b, 4);
    build_atom(b, "apps");
    build_int(b, a->mono_ns);
    build_list(b, n);
    for (size_t i = 0; i < n; i++) {
        const size_t at = find_loaded(loaded, n_loaded, sums[i].name);
        build_tuple(b, 7);
        build_atom_n(b, sums[i].name.s, sums[i].name.len);
        for (size_t text = 1; text < 3; text++)
            build_text(b, at < n_loaded ? loaded[at][text] : (struct slice){0});
        build_int(b, sums[i].processes);
        scan_age_build(b, sums[i].memory, sums[i].age_ms);
        build_int(b, sums[i].reductions);
        build_int(b, sums[i].queue);
    }
    build_nil(b);
    build_bool(b, false);
    free(sums);
}
