/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owners over a period of a recording: one pass over their rows for all sorts of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "recording_internal.h"

#define MOST 1000u
#define MEASURES 6 /* share, its square, reductions, memory, queue, processes */

static const char *const sorts[PERIOD_SORTS] = {"application", "supervisor", "module",
                                                "name",        "label",      "kin"};

struct owner_sum {
    struct owner_key {
        int64_t sort, id; /* of `sorts`; of `text`, 0: the rest that was not ranked */
    } key;
    double sums[MEASURES]; /* NaN where nothing is known */
    const char *kind;
    struct slice name; /* {0}: not read yet */
    UT_hash_handle hh;
};

/* ---- the cache: reports and findings ask the same of one period */

void period_cache_clear(struct period_cache *c)
{
    HASH_CLEAR(hh, c->owners);
    arena_clear(&c->arena);
    free(c->stats);
    *c = (struct period_cache){.from = -1, .to = -1};
    arena_init(&c->arena);
}

struct period_cache *period_cache_of(struct recording *r, int64_t from, int64_t to)
{
    struct period_cache *c = &r->cache;
    int64_t version = recording_int(r, "PRAGMA data_version", 0, -1);
    int64_t changes = sqlite3_total_changes(r->db);
    if (c->from == from && c->to == to && c->version == version && c->changes == changes)
        return c;
    period_cache_clear(c);
    c->from = from;
    c->to = to;
    c->version = version;
    c->changes = changes;
    return c;
}

/* ---- the pass */

static void add(double *sum, double v)
{
    if (!isnan(v))
        *sum = isnan(*sum) ? v : *sum + v;
}

static struct owner_sum *find(struct period_cache *c, int64_t sort, int64_t id)
{
    const struct owner_key key = {sort, id};
    struct owner_sum *o = NULL;
    HASH_FIND(hh, c->owners, &key, sizeof key, o);
    if (!o) {
        o = arena_alloc(&c->arena, sizeof *o);
        *o = (struct owner_sum){.key = key, .kind = ""};
        for (int i = 0; i < MEASURES; i++)
            o->sums[i] = NAN;
        HASH_ADD(hh, c->owners, key, sizeof o->key, o);
    }
    return o;
}

static void add_row(struct period_cache *c, struct owner_sum *o, sqlite3_stmt *s, double weight)
{
    double share = db_column_real(s, 3);
    const char *kind = (const char *)sqlite3_column_text(s, 8);
    add(&o->sums[0], weight * share);
    add(&o->sums[1], weight * share * share);
    for (int i = 2; i < MEASURES; i++)
        add(&o->sums[i], weight * db_column_real(s, 2 + i));
    if (kind && strcmp(kind, o->kind) > 0)
        o->kind = arena_strdup(&c->arena, kind);
}

static int64_t sort_of(const char *by)
{
    int64_t i = 0;
    while (i < PERIOD_SORTS && (!by || strcmp(sorts[i], by) != 0))
        i++;
    return i;
}

static const char rows_sql[] =
    "SELECT tick, by, owner, share, reductions_per_s, memory_bytes, message_queue_len, processes,"
    " kind FROM owner WHERE tick BETWEEN ? AND ? ORDER BY tick, by, owner";

/* Only ticks that have the row of the rest, which is the first, count: at the first tick of a
   recording there are no shares. */
static void gather(struct recording *r, struct period_cache *c)
{
    int64_t tick = -1, sort = PERIOD_SORTS;
    double weight = 1;
    bool counts = false;
    c->owners_known = true;
    sqlite3_stmt *intervals = recording_ask(r, recording_seconds_sql, NULL);
    sqlite3_stmt *s = recording_ask(r, rows_sql, NUMBERS(c->from, c->to));
    while (recording_row(r, s)) {
        int64_t at = sqlite3_column_int64(s, 0), id = sqlite3_column_int64(s, 2);
        int64_t by = sort_of((const char *)sqlite3_column_text(s, 1));
        if (at != tick || by != sort)
            counts = false;
        if (at != tick)
            weight = recording_seconds(r, intervals, at);
        tick = at;
        sort = by;
        if (by == PERIOD_SORTS || id < 0)
            continue;
        if (id == 0) {
            counts = true;
            c->owner_weight[by] += weight;
        }
        if (counts)
            add_row(c, find(c, by, id), s, weight);
    }
    sqlite3_finalize(s);
    sqlite3_finalize(intervals);
}

/* ---- results */

/* The rest last, then by share; unknown shares behind. */
static int by_share(const void *a, const void *b)
{
    const struct owner_sum *x = *(struct owner_sum *const *)a, *y = *(struct owner_sum *const *)b;
    double p = isnan(x->sums[0]) ? -INFINITY : x->sums[0];
    double q = isnan(y->sums[0]) ? -INFINITY : y->sums[0];
    if ((x->key.id == 0) != (y->key.id == 0))
        return x->key.id == 0 ? 1 : -1;
    if (p != q)
        return p < q ? 1 : -1;
    return slice_order(x->name, y->name);
}

/* The sums of a sort with their names, in order; owned by the caller. */
static size_t ordered(struct recording *r, struct period_cache *c, int64_t sort,
                      struct owner_sum ***out)
{
    struct owner_sum *o, *next;
    sqlite3_stmt *texts = recording_ask(r, recording_text_sql, NULL);
    size_t n = 0;
    *out = alloc_zero(HASH_COUNT(c->owners) + 1, sizeof **out);
    HASH_ITER (hh, c->owners, o, next) {
        if (o->key.sort != sort)
            continue;
        if (!o->name.s)
            o->name = recording_text(r, texts, o->key.id, &c->arena);
        (*out)[n++] = o;
    }
    sqlite3_finalize(texts);
    qsort(*out, n, sizeof **out, by_share);
    return n;
}

static void tell(struct recording *r, const struct owner_sum *sum, double weight,
                 struct period_owner *o)
{
    double share = sum->sums[0] / weight; /* NaN where it has none */
    double spread = sum->sums[1] / weight - share * share;
    size_t kind = strlen(sum->kind);
    o->owner = recording_keep(r, sum->name);
    o->kind = (struct slice){arena_strndup(&r->result, sum->kind, kind), kind};
    o->share = share;
    o->share_stddev = isnan(spread) || spread > 0 ? sqrt(spread) : 0;
    o->reductions_per_s = sum->sums[2] / weight;
    o->memory_bytes = sum->sums[3] / weight;
    o->message_queue_len = sum->sums[4] / weight;
    o->processes = sum->sums[5] / weight;
}

size_t recording_owners(struct recording *r, const char *by, int64_t from, int64_t to,
                        const struct period_owner **out)
{
    struct period_cache *c = period_cache_of(r, from, to);
    struct owner_sum **all = NULL;
    int64_t sort = sort_of(by);
    arena_reset(&r->result);
    if (!c->owners_known)
        gather(r, c);
    bool any = sort < PERIOD_SORTS && c->owner_weight[sort] > 0;
    size_t n = any ? ordered(r, c, sort, &all) : 0;
    n = n < MOST ? n : MOST;
    struct period_owner *owners = arena_alloc(&r->result, (n + 1) * sizeof *owners);
    for (size_t i = 0; i < n; i++)
        tell(r, all[i], c->owner_weight[sort], &owners[i]);
    free(all);
    *out = owners;
    return n;
}
