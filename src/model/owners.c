/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/owners.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/known.h"
#include "beamtop/model/process_name.h"
#include "internal.h"

struct entry {
    struct owner owner;
    UT_hash_handle hh;
};

/* ---- the owner of a process */

/*
 * The module of "mod:fun/1", without the quotes around its name: other owners are written so, and
 * counted calls. Within the quotes there may be a colon, and a quote behind a backslash. */
static struct slice module_of(const struct proc_row *row)
{
    struct slice call = row->initial_call;
    bool quoted = false;
    size_t end = 0;
    for (; end < call.len && (quoted || call.s[end] != ':'); end++) {
        if (call.s[end] == '\'')
            quoted = !quoted;
        else if (call.s[end] == '\\' && end + 1 < call.len)
            end++;
    }
    if (end > 2 && call.s[0] == '\'' && call.s[end - 1] == '\'')
        return (struct slice){call.s + 1, end - 2};
    return (struct slice){call.s, end};
}

static struct slice kin_of(const struct proc_row *row, struct arena *arena)
{
    struct slice call = row->initial_call, above = row->supervisor;
    if (row->name.len > 0)
        return row->name;
    if (!process_call_is_generic(call))
        return process_call_name(call);
    if (row->label.len > 0)
        return row->label;
    if (above.len == 0)
        return call;
    const char *both =
        arena_printf(arena, "%.*s (under %.*s)", (int)call.len, call.s, (int)above.len, above.s);
    return slice_of(both);
}

static const char *const owner_keys[OWNER_SORTS] = {
    [OWNER_APPLICATION] = "application",
    [OWNER_SUPERVISOR] = "supervisor",
    [OWNER_MODULE] = "module",
    [OWNER_NAME] = "name",
    [OWNER_LABEL] = "label",
    [OWNER_KIN] = "kin",
    [OWNER_KIND] = "kind",
};

const char *owner_by_key(enum owner_by by)
{
    return owner_keys[by];
}

struct slice owner_of(enum owner_by by, const struct proc_row *row, struct arena *arena)
{
    switch (by) {
    case OWNER_APPLICATION:
        return row->application;
    case OWNER_SUPERVISOR:
        return row->supervisor;
    case OWNER_MODULE:
        return module_of(row);
    case OWNER_NAME:
        return row->name;
    case OWNER_LABEL:
        return row->label;
    case OWNER_KIN:
        return kin_of(row, arena);
    case OWNER_KIND:
        return slice_of(proc_kind_name(proc_kind(row)));
    case OWNER_SORTS:
        break;
    }
    return (struct slice){"", 0};
}

bool owner_by_find(const char *key, enum owner_by *out)
{
    for (int i = 0; i < OWNER_SORTS; i++)
        if (strcmp(owner_keys[i], key) == 0) {
            *out = (enum owner_by)i;
            return true;
        }
    return false;
}

bool owner_by_heap(const char *key, enum owner_by *out)
{
    return owner_by_find(key, out) && *out != OWNER_SUPERVISOR;
}

/* ---- sums */

static double or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

static void sum_process(struct owner *o, const struct proc_row *row)
{
    o->processes++;
    o->reductions_per_s += or_zero(row->reductions_per_s);
    o->share += or_zero(row->reductions_share);
    o->memory_bytes += row->memory_bytes > 0 ? (double)row->memory_bytes : 0;
    o->message_queue_len += row->message_queue_len > 0 ? (double)row->message_queue_len : 0;
    if (o->kind != proc_kind(row))
        o->kind = KIND_NONE;
}

static void add_to_owner(struct entry **entries, struct arena *arena, struct slice name,
                         const struct proc_row *row)
{
    struct entry *e = NULL;
    HASH_FIND(hh, *entries, name.s, name.len, e);
    if (!e) {
        e = arena_alloc(arena, sizeof *e);
        e->owner.name = name;
        e->owner.kind = proc_kind(row);
        e->owner.first = row;
        HASH_ADD_KEYPTR(hh, *entries, e->owner.name.s, e->owner.name.len, e);
    }
    sum_process(&e->owner, row);
}

static int by_share(const void *a, const void *b)
{
    const struct owner *x = a, *y = b;
    double xs = or_zero(x->share), ys = or_zero(y->share);
    if (xs != ys)
        return xs < ys ? 1 : -1;
    return slice_order(x->name, y->name);
}

/* Shares are of no less: with hardly any work but ours, our count and the VM's differ by as
 * much. */
#define LEAST_WHOLE 0.1

struct parts { /* of all reductions, by the rows of a scan */
    double dirty, others;
};

static struct parts parts_of(const struct proc_scan *scan)
{
    struct parts parts = {0};
    for (size_t i = 0; scan && i < scan->n_rows; i++) {
        const struct proc_row *row = &scan->rows[i];
        if (proc_kind(row) == KIND_DIRTY_SIGNALS)
            parts.dirty += or_zero(row->reductions_share);
        else if (!row->own)
            parts.others += or_zero(row->reductions_share);
    }
    return parts;
}

/* What shares are of, as a part of all reductions (owners.h); 0 unknown. beamtop's own work is
 * reported when it is done, so some of it may belong to the interval before: no less than
 * `reported`. */
static double whole_of(double own, double dirty, double reported)
{
    return dirty < 1 ? fmax(fmax(1 - dirty - or_zero(own), LEAST_WHOLE), reported) : 0;
}

static double owner_share_of(const struct owner *o, double whole)
{
    return o->kind == KIND_DIRTY_SIGNALS ? (double)NAN : rate_share(o->share, whole);
}

/* Keeps those with enough of a share, and works out what is left; shares were of all reductions. */
static void close_sums(struct owners *out, int64_t processes, double least_share, double whole)
{
    double known = 0;
    size_t kept = 0;
    out->rest_processes = processes;
    out->has_shares = out->has_shares && whole > 0;
    out->whole = out->has_shares ? whole : 0;
    for (size_t i = 0; i < out->len; i++) {
        struct owner *o = &out->items[i];
        if (or_zero(o->share) < least_share * (whole > 0 ? whole : 1))
            continue;
        o->share = owner_share_of(o, whole);
        known += or_zero(o->share);
        if (out->rest_processes >= 0 && out->items[i].processes > 0)
            out->rest_processes -= out->items[i].processes;
        out->items[kept++] = out->items[i];
    }
    out->len = kept;
    out->rest_share = !out->has_shares ? (double)NAN : known < 1 ? 1 - known : 0;
    if (out->rest_processes < 0)
        out->rest_processes = processes < 0 ? -1 : 0;
    if (kept > 1)
        qsort(out->items, kept, sizeof *out->items, by_share);
}

void owners_of_scan(struct owners *out, struct arena *arena, const struct proc_scan *scan,
                    enum owner_by by, double least_share)
{
    struct entry *entries = NULL, *e, *next;
    *out = (struct owners){.rest_share = NAN};
    for (size_t i = 0; i < scan->n_rows; i++) {
        const struct proc_row *row = &scan->rows[i];
        struct slice name = owner_of(by, row, arena);
        out->has_shares = out->has_shares || !isnan(row->reductions_share);
        if (!row->own && name.len > 0)
            add_to_owner(&entries, arena, name, row);
    }
    out->items = arena_alloc(arena, (HASH_COUNT(entries) + 1) * sizeof *out->items);
    HASH_ITER (hh, entries, e, next) {
        out->items[out->len++] = e->owner;
        HASH_DEL(entries, e);
    }
    struct parts parts = parts_of(scan);
    close_sums(out, scan->total, least_share, whole_of(scan->own_share, parts.dirty, parts.others));
}

struct owner owner_alone(const struct owners *owners, const struct proc_row *row)
{
    struct owner alone = {.name = row->name, .kind = proc_kind(row), .first = row};
    sum_process(&alone, row);
    alone.share = owner_share_of(&alone, owners->whole);
    return alone;
}

/* What a node answers may be any number. */
static int64_t add_count(int64_t sum, int64_t n)
{
    return n <= 0 ? sum : known_plus(sum, n);
}

void owners_of_apps(struct owners *out, struct arena *arena, const struct table_detail *apps,
                    const struct proc_scan *scan, double least_share)
{
    const struct app_row *rows = apps->rows;
    int64_t processes = 0;
    double reported = 0;
    *out = (struct owners){.rest_share = NAN};
    out->items = arena_alloc(arena, (apps->n_rows + 1) * sizeof *out->items);
    for (size_t i = 0; i < apps->n_rows; i++) {
        const struct app_row *a = &rows[i];
        out->has_shares = out->has_shares || !isnan(a->reductions_share);
        processes = add_count(processes, a->processes);
        if (a->name.len == 0)
            continue;
        reported += or_zero(a->reductions_share);
        out->items[out->len++] = (struct owner){
            .name = a->name,
            .processes = a->processes,
            .reductions_per_s = a->reductions_per_s,
            .share = a->reductions_share,
            .memory_bytes = known_or_nan(a->memory_bytes),
            .message_queue_len = known_or_nan(a->message_queue_len),
        };
    }
    close_sums(out, processes, least_share,
               whole_of(apps->own_share, parts_of(scan).dirty, reported));
}
