/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of `heaps` and `collect`, and growth since the first look. */
#include "model_state.h"

#include <math.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/model/owners.h"
#include "beamtop/model/process_name.h"

_Static_assert(ARRAY_LEN(((struct heaps_detail *)NULL)->by) == OWNER_SORTS, "all owners");

/* ---- reading */

static void name_row(struct heap_row *h)
{
    const struct process_names names = {.name = h->row.name,
                                        .label = h->row.label,
                                        .initial_call = h->row.initial_call,
                                        .pid = h->pid_text};
    h->who = process_name(&names);
}

static void decode_heap_row(struct decoder *d, struct heap_row *h)
{
    struct cursor *c = &d->c;
    proc_row_clear(&h->row);
    cursor_tuple_of(c, 6);
    cursor_pid(c, &h->row.pid, NULL);
    decode_identity(d, &h->row);
    decode_atom(d, &h->row.status);
    cursor_int64(c, &h->row.message_queue_len);
    int64_t *const sizes[] = {&h->row.memory_bytes, &h->young_bytes,     &h->young_block_bytes,
                              &h->old_bytes,        &h->old_block_bytes, &h->stack_bytes,
                              &h->fragment_bytes};
    size_t arity = 0;
    if (cursor_tuple(c, &arity) && arity == 3) {
        h->older = true;
        cursor_atom_is(c, "older");
        cursor_tuple(c, &arity);
    }
    if (!cursor_failed(c) && arity != ARRAY_LEN(sizes))
        cursor_fail(c, "a tuple of 7");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        cursor_int64(c, sizes[i]);
    h->row.older_s = 0;
    if (h->older)
        decode_age(d, &h->row.older_s);
    cursor_tuple_of(c, 2);
    cursor_int64(c, &h->binary_bytes);
    decode_int(d, &h->binaries);
    if (cursor_failed(c))
        return;
    h->before_bytes = -1;
    h->growth_bytes = NAN;
    double total = (double)h->row.memory_bytes + (double)h->binary_bytes;
    h->total_bytes = total >= 0 && total < 9e18 ? (int64_t)total : -1;
    h->pid_text = decode_keep_pid(d, &h->row.pid);
    name_row(h);
}

void decode_heaps(struct decoder *d, void *to)
{
    struct heaps_detail *out = to;
    struct cursor_list list;
    struct cursor *c = &d->c;
    *out = (struct heaps_detail){.share = NAN, .over_s = NAN};
    cursor_tuple_of(c, 8);
    cursor_atom_is(c, "heaps");
    decode_mono(d, &out->mono_ns);
    cursor_int64(c, &out->total);
    cursor_int64(c, &out->looked_at);
    cursor_number(c, &out->looked_at_bytes);
    decode_bool(d, &out->partial);
    if (decode_list(d, &list, LIMIT_ROWS, sizeof out->rows[0], &out->rows)) {
        out->n_rows = list.count;
        for (size_t i = 0; i < list.count && !cursor_failed(c); i++) {
            decode_heap_row(d, &out->rows[i]);
            out->rows_bytes += (double)out->rows[i].row.memory_bytes;
        }
        cursor_list_end(c, &list);
    }
    if (decode_list(d, &list, LIMIT_ROWS, sizeof out->others[0], &out->others)) {
        out->n_others = list.count;
        for (size_t i = 0; i < list.count && !cursor_failed(c); i++) {
            cursor_tuple_of(c, 2);
            cursor_pid(c, &out->others[i].pid, NULL);
            cursor_int64(c, &out->others[i].memory_bytes);
        }
        cursor_list_end(c, &list);
    }
}

static void decode_sizes(struct decoder *d, struct collect_sizes *s)
{
    cursor_tuple_of(&d->c, 3);
    cursor_int64(&d->c, &s->memory_bytes);
    cursor_int64(&d->c, &s->heap_bytes);
    cursor_int64(&d->c, &s->binary_bytes);
}

void decode_collect(struct decoder *d, void *to)
{
    struct collect_detail *out = to;
    struct cursor *c = &d->c;
    size_t arity = 0;
    *out = (struct collect_detail){.status = COLLECT_GONE, .us = -1};
    if (cursor_peek_atom(c, "gone")) {
        cursor_skip(c);
        return;
    }
    cursor_tuple(c, &arity);
    if (arity == 3 && cursor_peek_atom(c, "ask")) {
        out->status = COLLECT_ASK;
        cursor_skip(c);
        cursor_int64(c, &out->message_queue_len);
        decode_sizes(d, &out->before);
    } else if (arity == 4 && cursor_peek_atom(c, "collected")) {
        out->status = COLLECT_DONE;
        cursor_skip(c);
        cursor_int64(c, &out->us);
        decode_sizes(d, &out->before);
        decode_sizes(d, &out->after);
    } else if (arity == 3 && cursor_peek_atom(c, "refused")) {
        out->status = COLLECT_REFUSED;
        cursor_skip(c);
        cursor_int64(c, &out->limit_bytes);
        decode_sizes(d, &out->before);
    } else if (arity == 2 && cursor_peek_atom(c, "late")) {
        out->status = COLLECT_LATE;
        cursor_skip(c);
        cursor_skip(c);
    } else if (!cursor_failed(c)) {
        cursor_fail(&d->c, "ask, collected, refused, late or gone");
    }
}

/* ---- growth since the first look */

static int by_pid(const void *a, const void *b)
{
    const struct etf_pid *x = &((const struct heap_size *)a)->pid,
                         *y = &((const struct heap_size *)b)->pid;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->serial == y->serial ? 0 : x->serial < y->serial ? -1 : 1;
}

/* Leaves out older values: they give no growth. */
static void remember_sizes(struct heaps_base *base, const struct heaps_detail *now)
{
    size_t n = now->n_rows + now->n_others;
    heaps_base_clear(base);
    base->sizes = alloc_zero(n + 1, sizeof *base->sizes);
    for (size_t i = 0; i < now->n_rows; i++)
        if (!now->rows[i].older)
            base->sizes[base->n++] =
                (struct heap_size){now->rows[i].row.pid, now->rows[i].row.memory_bytes};
    for (size_t i = 0; i < now->n_others; i++)
        base->sizes[base->n++] = now->others[i];
    qsort(base->sizes, base->n, sizeof *base->sizes, by_pid);
    base->mono_ns = now->mono_ns;
    base->known = true;
}

void heaps_base_clear(struct heaps_base *base)
{
    free(base->sizes);
    *base = (struct heaps_base){0};
}

static int by_memory(const void *a, const void *b)
{
    const struct heap_owner *x = a, *y = b;
    if (x->memory_bytes != y->memory_bytes)
        return x->memory_bytes < y->memory_bytes ? 1 : -1;
    return slice_order(x->name, y->name);
}

static struct heap_owner *owner_in(struct heap_owners *of, struct slice name)
{
    for (size_t i = 0; i < of->n; i++)
        if (slice_equal(of->items[i].name, name))
            return &of->items[i];
    of->items[of->n] = (struct heap_owner){.name = name, .growth_bytes = NAN};
    return &of->items[of->n++];
}

/* There are HEAPS_MOST rows at most, so a list is searched for each. */
static void group_heaps(struct heap_owners *of, struct arena *arena, const struct heaps_detail *now,
                        enum owner_by by)
{
    *of = (struct heap_owners){arena_alloc(arena, (now->n_rows + 1) * sizeof *of->items), 0};
    for (size_t i = 0; i < now->n_rows; i++) {
        const struct heap_row *h = &now->rows[i];
        struct heap_owner *o = owner_in(of, owner_of(by, &h->row, arena));
        if (o->processes++ == 0)
            o->first = h;
        int64_t queue = h->row.message_queue_len;
        if (queue > 0 && queue < INT64_MAX - o->message_queue_len)
            o->message_queue_len += queue;
        o->memory_bytes += (double)h->row.memory_bytes;
        o->binary_bytes += (double)h->binary_bytes;
        if (!isnan(h->growth_bytes))
            o->growth_bytes = h->growth_bytes + (isnan(o->growth_bytes) ? 0 : o->growth_bytes);
    }
    qsort(of->items, of->n, sizeof *of->items, by_memory);
}

static void derive_growth(struct heaps_detail *now, const struct heaps_base *base)
{
    now->over_s = rate_interval(base->mono_ns, now->mono_ns);
    for (size_t i = 0; i < now->n_rows; i++) {
        struct heap_row *h = &now->rows[i];
        const struct heap_size key = {h->row.pid, 0},
                               *before =
                                   bsearch(&key, base->sizes, base->n, sizeof *base->sizes, by_pid);
        if (!before || h->older)
            continue;
        h->before_bytes = before->memory_bytes;
        h->growth_bytes = (double)h->row.memory_bytes - (double)before->memory_bytes;
    }
}

void take_heaps(struct model *m, void *next, const struct taking *t)
{
    struct heaps_detail *now = next;
    const struct system_sample *s = model_system(m);
    struct heaps_base *base = &m->heaps_base;
    for (size_t i = 0; i < now->n_rows; i++) {
        struct heap_row *h = &now->rows[i];
        seen_call(m->seen, &h->row.pid, &h->row.initial_call, t->d->arena);
        name_row(h);
    }
    now->share = rate_share(now->rows_bytes, s ? s->memory_bytes[MEMORY_PROCESSES] : (double)NAN);
    if (base->known)
        derive_growth(now, base);
    else
        remember_sizes(base, now);
    for (int by = 0; by < OWNER_SORTS; by++)
        group_heaps(&now->by[by], t->d->arena, now, (enum owner_by)by);
}
