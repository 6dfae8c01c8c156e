/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "waits_table.h"

#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "query/native/values.h"
#include "query/scan/scan_table.h"
#include "query/who/who.h"
#include "query/who/who_terms.h"

#define ROW 16
#define TERM_BYTES 1100 /* an atom of 255 characters is shorter */

void waits_table_init(struct waits_table *t)
{
    *t = (struct waits_table){.all = alloc_zero(LIMIT_TABLE_ROWS, sizeof *t->all)};
    arena_init(&t->arena);
}

void waits_table_clear(struct waits_table *t)
{
    free(t->all);
    arena_clear(&t->arena);
}

void waits_table_reset(struct waits_table *t)
{
    t->n = 0;
    t->is_full = false;
    arena_reset(&t->arena);
}

void waits_table_again(struct waits_table *t)
{
    const size_t n = t->n;
    waits_table_reset(t);
    for (size_t i = 0; i < n; i++) {
        const struct waiter w = t->all[i];
        if (w.look.place)
            waits_table_add(t, &w.pid);
    }
}

void waits_table_add(struct waits_table *t, const struct etf_pid *pid)
{
    if (t->n == LIMIT_TABLE_ROWS && !t->is_full) {
        waits_table_sort(t, false);
        t->is_full = t->n == LIMIT_TABLE_ROWS;
    }
    if (t->n < LIMIT_TABLE_ROWS)
        t->all[t->n++] = (struct waiter){.pid = *pid};
}

static int order_waiters(const void *a, const void *b)
{
    return scan_compare_pids(&((const struct waiter *)a)->pid, &((const struct waiter *)b)->pid);
}

void waits_table_sort(struct waits_table *t, bool known)
{
    size_t n = 0;
    qsort(t->all, t->n, sizeof *t->all, order_waiters);
    for (size_t i = 0; i < t->n; i++)
        if ((n == 0 || order_waiters(&t->all[n - 1], &t->all[i]) != 0) &&
            (t->all[i].known || !known))
            t->all[n++] = t->all[i];
    t->n = n;
}

struct waiter *waits_table_find(const struct waits_table *t, const struct etf_pid *pid)
{
    const struct waiter key = {.pid = *pid};
    return bsearch(&key, t->all, t->n, sizeof *t->all, order_waiters);
}

struct slice waits_table_keep(struct waits_table *t, struct slice term)
{
    if (term.len == 0 || term.len > TERM_BYTES)
        return (struct slice){0};
    return (struct slice){arena_strndup(&t->arena, term.s, term.len), term.len};
}

void waits_table_take(struct waits_table *t, struct waiter *w, const struct wait_look *look)
{
    w->known = true;
    w->look = *look;
    w->look.status = waits_table_keep(t, look->status);
    w->look.function = waits_table_keep(t, look->function);
    w->look.caller = waits_table_keep(t, look->caller);
    w->look.target.name = waits_table_keep(t, look->target.name);
    w->look.target.node = waits_table_keep(t, look->target.node);
}

/* ---- rows */

static void build_atom_or_undefined(struct builder *b, struct slice name)
{
    if (name.len > 0)
        build_atom_n(b, name.s, name.len);
    else
        build_atom(b, "undefined");
}

static const struct print_limits name_limits = {.bytes = 100};

/* Who is waited for: pid, name, node. */
static void build_target(struct builder *b, const struct wait_look *look, const char *node)
{
    const struct wait_target *to = &look->target;
    char pid[40];
    values_build_pid(b, node, to->kind == FOR_PROCESS, &to->pid);
    if (to->kind == FOR_PORT) {
        values_build_printed(b, to->name, &name_limits);
    } else if (to->kind == FOR_REMOTE && to->name.len == 0) {
        const int len = snprintf(pid, sizeof pid, PID_FORMAT, PID_NUMBERS(&to->pid));
        build_binary(b, pid, (size_t)len);
    } else if (to->kind == FOR_NOBODY && look->place && look->place->name) {
        const struct slice words = slice_of(look->place->name);
        build_binary(b, words.s, words.len);
    } else {
        build_atom_or_undefined(b, to->name);
    }
    build_atom_or_undefined(b, to->kind == FOR_REMOTE ? to->node : (struct slice){0});
}

static void build_row(struct builder *b, const struct waiter *w, const struct who *who,
                      const char *node)
{
    const struct wait_look *look = &w->look;
    const struct who_entry *of = who ? who_find(who, &w->pid) : NULL;
    build_tuple(b, ROW);
    build_pid(b, node, &w->pid);
    values_build_known(b, of ? of->name : (struct slice){0});
    values_build_known(b, of ? of->label : (struct slice){0});
    values_build_known(b, who_shown_call(of));
    build_atom(b, look->place ? look->kind : "undefined");
    build_target(b, look, node);
    build_int(b, look->place ? look->among : 0);
    values_build_known(b, look->function);
    values_build_known(b, look->caller);
    values_build_known(b, look->status);
    build_int(b, look->queue);
    build_int(b, look->reductions);
    build_bool(b, w->steady);
    build_bool(b, waits_is_suspended(look->function));
}

void waits_table_build(struct builder *b, const struct waits_table *t, const struct who *who,
                       int64_t mono_ns, const char *node, bool partial)
{
    build_tuple(b, 4);
    build_atom(b, "waits");
    build_int(b, mono_ns);
    build_list(b, t->n);
    for (size_t i = 0; i < t->n; i++)
        build_row(b, &t->all[i], who, node);
    build_nil(b);
    build_bool(b, partial || t->is_full);
}
