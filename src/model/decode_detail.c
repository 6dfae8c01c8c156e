/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <math.h>

#include "beamtop/base/limits.h"
#include "beamtop/model/table.h"

/* ---- mailbox, state */

static bool decode_mailbox_status(struct decoder *d, struct mailbox_detail *out)
{
    static const struct {
        const char *tag;
        size_t arity;
        enum mailbox_status status;
    } forms[] = {
        {"mailbox", 4, MAILBOX_OK}, {"ask", 3, MAILBOX_ASK}, {"refused", 3, MAILBOX_REFUSED}};
    size_t arity;
    if (!cursor_tuple(&d->c, &arity))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        if (forms[i].arity != arity || !cursor_peek_atom(&d->c, forms[i].tag))
            continue;
        out->status = forms[i].status;
        return cursor_skip(&d->c) && cursor_int64(&d->c, &out->len) &&
               decode_int(d, &out->memory_bytes);
    }
    return cursor_fail(&d->c, "mailbox, ask or refused");
}

void decode_mailbox(struct decoder *d, void *to)
{
    struct mailbox_detail *out = to;
    struct cursor_list list;
    struct cursor *c = &d->c;
    *out = (struct mailbox_detail){.status = MAILBOX_GONE, .len = -1, .memory_bytes = -1};
    if (cursor_peek_atom(c, "gone"))
        cursor_skip(c);
    else if (decode_mailbox_status(d, out) && out->status == MAILBOX_OK &&
             decode_list(d, &list, LIMIT_DETAIL_ITEMS, sizeof out->messages[0], &out->messages)) {
        out->n_messages = list.count;
        for (size_t i = 0; i < list.count && !cursor_failed(c); i++) {
            cursor_tuple_of(c, 2);
            cursor_int64(c, &out->messages[i].bytes);
            decode_binary(d, &out->messages[i].text);
        }
        cursor_list_end(c, &list);
    }
}

void decode_state(struct decoder *d, void *to)
{
    struct state_detail *out = to;
    size_t arity = 0;
    struct cursor *c = &d->c;
    *out = (struct state_detail){.status = STATE_GONE, .bytes = -1, .text = {"", 0}};
    if (cursor_peek_atom(c, "gone")) {
        cursor_skip(c);
        return;
    }
    cursor_tuple(c, &arity);
    if (arity == 3) {
        out->status = STATE_OK;
        cursor_atom_is(c, "state");
        cursor_int64(c, &out->bytes);
    } else if (arity == 2 && cursor_peek_atom(c, "ask")) {
        out->status = STATE_ASK;
        cursor_skip(c);
        cursor_int64(c, &out->bytes);
        return;
    } else if (arity == 2) {
        out->status = STATE_NONE;
        cursor_atom_is(c, "no_state");
    } else if (!cursor_failed(c)) {
        cursor_fail(&d->c, "state, ask or no_state");
    }
    decode_binary(d, &out->text);
}

/* ---- alloc */

static void decode_carriers(struct decoder *d, struct carrier_numbers *n)
{
    cursor_tuple_of(&d->c, 4);
    cursor_int64(&d->c, &n->blocks);
    cursor_int64(&d->c, &n->block_bytes);
    cursor_int64(&d->c, &n->carriers);
    cursor_int64(&d->c, &n->carrier_bytes);
}

static double share_or_nan(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

static void decode_allocator(struct decoder *d, struct allocator_row *row)
{
    cursor_tuple_of(&d->c, 5);
    decode_atom(d, &row->name);
    cursor_int64(&d->c, &row->instances);
    decode_carriers(d, &row->mbcs);
    decode_carriers(d, &row->sbcs);
    cursor_tuple_of(&d->c, 3);
    cursor_int64(&d->c, &row->pool_carriers);
    cursor_int64(&d->c, &row->pool_carrier_bytes);
    cursor_int64(&d->c, &row->pool_block_bytes);
}

/* Sums in floating point: numbers from the wire may be anything. */
static void sum_allocators(struct alloc_detail *out)
{
    double blocks = 0, carriers = 0;
    for (size_t i = 0; i < out->n_rows; i++) {
        struct allocator_row *r = &out->rows[i];
        double b =
            (double)r->mbcs.block_bytes + (double)r->sbcs.block_bytes + (double)r->pool_block_bytes;
        double k = (double)r->mbcs.carrier_bytes + (double)r->sbcs.carrier_bytes +
                   (double)r->pool_carrier_bytes;
        r->utilisation = k > 0 ? b / k : NAN;
        r->unused_bytes = k > b && k - b < 9e18 ? (int64_t)(k - b) : 0;
        r->worst_instance = r->worst_unused_bytes = -1;
        r->worst_utilisation = NAN;
        blocks += b;
        carriers += k;
    }
    out->block_bytes = blocks < 9e18 && blocks >= 0 ? (int64_t)blocks : -1;
    out->carrier_bytes = carriers < 9e18 && carriers >= 0 ? (int64_t)carriers : -1;
    out->utilisation = share_or_nan(out->block_bytes, out->carrier_bytes);
}

static int64_t at_least_zero(int64_t n)
{
    return n > 0 ? n : 0;
}

static void decode_instance(struct decoder *d, struct allocator_instance *in)
{
    struct cursor *c = &d->c;
    cursor_tuple_of(c, 6);
    decode_atom(d, &in->name);
    cursor_int64(c, &in->instance);
    cursor_int64(c, &in->blocks);
    cursor_int64(c, &in->block_bytes);
    cursor_int64(c, &in->carriers);
    cursor_int64(c, &in->carrier_bytes);
    if (cursor_failed(c))
        return;
    if (in->block_bytes < 0 || in->carrier_bytes < in->block_bytes) {
        cursor_fail(&d->c, "blocks within carriers");
        return;
    }
    in->unused_bytes = in->carrier_bytes - in->block_bytes;
    in->utilisation = share_or_nan(in->block_bytes, in->carrier_bytes);
}

/* The list is sorted: the first of an allocator is its worst. */
static void decode_instances(struct decoder *d, struct alloc_detail *out)
{
    struct cursor_list list;
    struct cursor *c = &d->c;
    if (!decode_list(d, &list, LIMIT_DETAIL_ITEMS, sizeof out->instances[0], &out->instances))
        return;
    out->n_instances = list.count;
    for (size_t i = 0; i < list.count && !cursor_failed(c); i++) {
        struct allocator_instance *in = &out->instances[i];
        decode_instance(d, in);
        for (size_t k = 0; k < out->n_rows && !cursor_failed(c); k++) {
            struct allocator_row *r = &out->rows[k];
            if (!slice_equal(r->name, in->name) || r->worst_instance >= 0)
                continue;
            r->worst_instance = in->instance;
            r->worst_unused_bytes = in->unused_bytes;
            r->worst_utilisation = in->utilisation;
        }
    }
    cursor_list_end(c, &list);
}

static void decode_resident(struct decoder *d, struct alloc_detail *out)
{
    int64_t *const sizes[] = {&out->rss_bytes, &out->anon_bytes, &out->swap_bytes, &out->hwm_bytes};
    if (decode_undefined(d))
        return;
    cursor_tuple_of(&d->c, ARRAY_LEN(sizes));
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        decode_int(d, sizes[i]);
}

static void derive_fragmentation(struct alloc_detail *a)
{
    int64_t unused = a->carrier_bytes < 0 || a->block_bytes < 0
                         ? -1
                         : at_least_zero(a->carrier_bytes - a->block_bytes);
    a->fragmented_bytes = a->rss_bytes >= 0 && unused > a->rss_bytes ? a->rss_bytes : unused;
    if (a->rss_bytes < 0 || a->carrier_bytes < 0 || unused < 0)
        return;
    a->outside_bytes = at_least_zero(a->rss_bytes - a->carrier_bytes);
    a->untouched_bytes = at_least_zero(a->carrier_bytes - a->rss_bytes);
    a->fragmented_share = share_or_nan(a->fragmented_bytes, a->rss_bytes);
}

void decode_alloc(struct decoder *d, void *to)
{
    struct alloc_detail *out = to;
    struct cursor_list list;
    size_t arity = 0;
    struct cursor *c = &d->c;
    *out = (struct alloc_detail){.mseg_hits = -1,
                                 .mseg_calls = -1,
                                 .utilisation = NAN,
                                 .rss_bytes = -1,
                                 .anon_bytes = -1,
                                 .swap_bytes = -1,
                                 .hwm_bytes = -1,
                                 .fragmented_bytes = -1,
                                 .outside_bytes = -1,
                                 .untouched_bytes = -1,
                                 .fragmented_share = NAN};
    /* Recordings of before 0.2.0 have neither instances nor resident memory. */
    if (cursor_tuple(c, &arity) && arity != 4 && arity != 6)
        cursor_fail(&d->c, "4 or 6 elements");
    cursor_atom_is(c, "alloc");
    decode_mono(d, &out->mono_ns);
    if (decode_list(d, &list, LIMIT_DETAIL_ITEMS, sizeof out->rows[0], &out->rows)) {
        out->n_rows = list.count;
        for (size_t i = 0; i < list.count && !cursor_failed(c); i++)
            decode_allocator(d, &out->rows[i]);
        cursor_list_end(c, &list);
    }
    if (!decode_undefined(d)) {
        cursor_tuple_of(c, 2);
        cursor_int64(c, &out->mseg_hits);
        cursor_int64(c, &out->mseg_calls);
    }
    sum_allocators(out);
    if (arity == 6) {
        decode_instances(d, out);
        decode_resident(d, out);
    }
    if (out->n_rows > 0)
        derive_fragmentation(out);
}

/* ---- tables */

#define TABLE_WIRE 32 /* elements of a row */

static void decode_pid_field(struct decoder *d, const struct field *f, char *row)
{
    const bool known = f->known == 0 || !decode_undefined(d);
    if (known)
        cursor_pid(&d->c, (void *)(row + f->offset), NULL);
    if (f->known != 0)
        *(bool *)(row + f->known) = known;
}

/* 0, 1; `undefined`: -1. */
static void decode_known_bool(struct decoder *d, int64_t *out)
{
    bool value = false;
    *out = -1;
    if (!decode_undefined(d) && decode_bool(d, &value))
        *out = value;
}

/* An integer, which may be below zero, a share in millionths; `undefined`: NaN. */
static void decode_real(struct decoder *d, const struct field *f, double *out)
{
    int64_t n = 0;
    *out = NAN;
    if (!decode_undefined(d) && cursor_int64(&d->c, &n))
        *out = f->type == COLUMN_SHARE ? (double)n / 1e6 : (double)n;
}

static void decode_field(struct decoder *d, const struct field *f, char *row)
{
    void *at = row + f->offset;
    if (f->aged)
        decode_older(d, at, (void *)(row + f[1].offset), (void *)(row + f[2].offset));
    else if (f->form == FIELD_SLICE)
        decode_name(d, at);
    else if (f->form == FIELD_INT && f->type == COLUMN_BOOL)
        decode_known_bool(d, at);
    else if (f->form == FIELD_INT || f->form == FIELD_MS)
        decode_int(d, at);
    else if (f->form == FIELD_BOOL)
        decode_bool(d, at);
    else if (f->form == FIELD_REAL)
        decode_real(d, f, at);
    else if (f->form == FIELD_PID)
        decode_pid_field(d, f, row);
    else
        cursor_fail(&d->c, "a field of an answer");
}

/* A row of an earlier version lacks what came later, which stays unknown. */
static void decode_row(struct decoder *d, const struct field *const wire[], size_t n, char *row)
{
    size_t arity = 0, n_later = 0;
    for (size_t k = 0; k < n; k++)
        n_later += wire[k]->later;
    if (cursor_tuple(&d->c, &arity) && arity != n && arity != n - n_later)
        cursor_fail(&d->c, "a row of an answer");
    for (size_t k = 0; k < n && !cursor_failed(&d->c); k++)
        if (arity == n || !wire[k]->later)
            decode_field(d, wire[k], row);
        else if (wire[k]->form == FIELD_SLICE)
            *(struct slice *)(void *)(row + wire[k]->offset) = (struct slice){"", 0};
}

void decode_table(struct decoder *d, const char *name, const struct field_list *fields,
                  struct table_detail *out)
{
    const struct field *wire[TABLE_WIRE];
    const size_t n = field_columns(fields, fields->wire, wire, TABLE_WIRE);
    struct cursor_list list;
    struct cursor *c = &d->c;
    *out = (struct table_detail){.interval_s = NAN, .own_share = NAN};
    cursor_tuple_of(c, 4);
    cursor_atom_is(c, name);
    decode_mono(d, &out->mono_ns);
    if (decode_list(d, &list, LIMIT_TABLE_ROWS, fields->row_bytes, &out->rows)) {
        out->n_rows = list.count;
        for (size_t i = 0; i < list.count && !cursor_failed(c); i++) {
            char *row = (char *)out->rows + i * fields->row_bytes;
            table_clear_row(fields, row);
            decode_row(d, wire, n, row);
        }
        cursor_list_end(c, &list);
    }
    decode_bool(d, &out->partial);
}

/* ---- tree */

static void decode_tree_info(struct decoder *d, struct tree_node *n)
{
    size_t arity = 0;
    n->name = n->label = n->initial_call = (struct slice){"", 0};
    n->message_queue_len = n->memory_bytes = -1;
    if (decode_undefined(d))
        return;
    if (cursor_tuple(&d->c, &arity) && arity != 4 && arity != 5)
        cursor_fail(&d->c, "a tuple of 4 or 5");
    decode_name(d, &n->name);
    decode_name(d, &n->initial_call);
    decode_int(d, &n->message_queue_len);
    decode_older(d, &n->memory_bytes, &n->memory_older, &n->memory_age_s);
    if (arity == 5)
        decode_name(d, &n->label);
}

static void decode_tree_node(struct decoder *d, struct tree_node *n)
{
    int64_t depth = 0;
    cursor_tuple_of(&d->c, 5);
    cursor_int64(&d->c, &depth);
    if (!cursor_failed(&d->c) && (depth < 0 || depth > LIMIT_DETAIL_ITEMS))
        cursor_fail(&d->c, "a depth");
    n->depth = (int)depth;
    if (!decode_undefined(d))
        n->has_pid = cursor_pid(&d->c, &n->pid, NULL);
    decode_name(d, &n->id);
    n->busy = cursor_peek_atom(&d->c, "busy");
    decode_atom(d, &n->type);
    decode_tree_info(d, n);
}

void decode_tree(struct decoder *d, void *to)
{
    struct tree_detail *out = to;
    struct cursor_list list;
    struct cursor *c = &d->c;
    *out = (struct tree_detail){.root = {"", 0}};
    cursor_tuple_of(c, 4);
    cursor_atom_is(c, "tree");
    if (cursor_kind(c) == ETF_KIND_PID)
        decode_printed(d, &out->root);
    else
        decode_name(d, &out->root);
    if (decode_list(d, &list, LIMIT_DETAIL_ITEMS, sizeof out->nodes[0], &out->nodes)) {
        out->n_nodes = list.count;
        for (size_t i = 0; i < list.count && !cursor_failed(c); i++)
            decode_tree_node(d, &out->nodes[i]);
        cursor_list_end(c, &list);
    }
    decode_bool(d, &out->partial);
}
