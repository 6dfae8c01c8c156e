/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owners over a period of a recording, and what else is kept of the period that was asked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/model/kind.h"
#include "recording_internal.h"

/* ---- the cache: reports and findings ask the same of one period */

void period_cache_clear(struct period_cache *c)
{
    arena_clear(&c->arena);
    free(c->stats);
    *c = (struct period_cache){.from = -1, .to = -1};
    arena_init(&c->arena);
}

struct period_cache *period_cache_of(struct recording *r, int64_t from, int64_t to)
{
    struct period_cache *c = &r->cache;
    struct file_state of = c->of;
    if (recording_is_at(r, &of) && c->from == from && c->to == to)
        return c;
    period_cache_clear(c);
    c->from = from;
    c->to = to;
    c->of = of;
    return c;
}

/* ---- owners: each tick counts as long as its interval */

#define MOST 1000

/* Only ticks that have the row of the rest (0) count: at the first tick of a recording there are no
   shares. The rest comes last, the others by share; unknown shares behind. */
static const char owners_sql[] =
    "WITH counted AS (SELECT t.id AS tick, CASE WHEN interval_us > 0 THEN interval_us ELSE ?3 END"
    "  / 1e6 AS s FROM tick t CROSS JOIN owner o ON o.tick = t.id"
    "  WHERE t.id BETWEEN ?1 AND ?2 AND o.by = ?4 AND o.owner = 0)"
    " SELECT (SELECT text FROM text WHERE id = owner), max(kind), (SELECT sum(s) FROM counted),"
    " sum(s * share), sum(s * share * share), sum(s * reductions_per_s), sum(s * memory_bytes),"
    " sum(s * message_queue_len), sum(s * processes)"
    " FROM counted CROSS JOIN owner USING (tick) WHERE by = ?4 AND owner >= 0"
    " GROUP BY owner ORDER BY owner = 0, 4 DESC, 1 LIMIT 1000";

/* Over the ticks that count, of each value times its tick's seconds; NaN: of none. */
struct owner_sums {
    double share, shares_squared, reductions, memory, queue, processes;
};

static struct period_owner owner_of_sums(struct slice owner, struct slice kind, double weight,
                                         const struct owner_sums *sums)
{
    const double share = sums->share / weight;
    const double spread = sums->shares_squared / weight - share * share; /* NaN: it has none */
    return (struct period_owner){.owner = owner,
                                 .kind = kind,
                                 .share = share,
                                 .share_stddev = isnan(spread) || spread > 0 ? sqrt(spread) : 0,
                                 .reductions_per_s = sums->reductions / weight,
                                 .memory_bytes = sums->memory / weight,
                                 .message_queue_len = sums->queue / weight,
                                 .processes = sums->processes / weight};
}

static struct period_owner owner_of_row(sqlite3_stmt *s, struct arena *arena)
{
    const struct owner_sums sums = {db_column_real(s, 3), db_column_real(s, 4),
                                    db_column_real(s, 5), db_column_real(s, 6),
                                    db_column_real(s, 7), db_column_real(s, 8)};
    return owner_of_sums(slice_keep(arena, db_column_text(s, 0)),
                         slice_keep(arena, db_column_text(s, 1)), db_column_real(s, 2), &sums);
}

static void read_owners(struct recording *r, const char *by, int64_t from, int64_t to,
                        int64_t usual_us, struct known_owners *known)
{
    struct period_owner *list = arena_alloc(&r->cache.arena, MOST * sizeof *list);
    sqlite3_stmt *s = recording_ask_text(r, owners_sql, NUMBERS(from, to, usual_us), by);
    while (known->n < MOST && recording_row(r, s))
        list[known->n++] = owner_of_row(s, &r->cache.arena);
    sqlite3_finalize(s);
    known->list = list;
}

/* ---- the same of what is in memory */

struct recent_sums {
    uint32_t name;
    const char *kind; /* the last of their names */
    struct owner_sums of;
};

static void add_known(double *sum, double v)
{
    if (!isnan(v))
        *sum = isnan(*sum) ? v : *sum + v;
}

static void add_owner(struct recent_sums *to, const struct recent_owner *row, double seconds)
{
    const char *kind = proc_kind_name((enum proc_kind)row->kind);
    const double share = (double)row->share;
    to->kind = strcmp(kind, to->kind) > 0 ? kind : to->kind;
    add_known(&to->of.share, seconds * share);
    add_known(&to->of.shares_squared, seconds * share * share);
    add_known(&to->of.reductions, seconds * (double)row->reductions_per_s);
    add_known(&to->of.memory, seconds * (double)row->memory_bytes);
    add_known(&to->of.queue, seconds * (double)row->message_queue_len);
    add_known(&to->of.processes, seconds * (double)row->processes);
}

static bool has_rest(const struct recent_owner *rows, size_t n, enum owner_by by)
{
    size_t i = 0;
    while (i < n && (rows[i].by != by || rows[i].name != 0))
        i++;
    return i < n;
}

/* Rows of struct recent_sums; `places` of a name's are one less than it is at. */
static double sum_recent(struct recording *r, enum owner_by by, int64_t from, int64_t to,
                         uint32_t *places, struct buf *out)
{
    double weight = 0;
    to = to > recent_last(r->recent) ? recent_last(r->recent) : to;
    for (int64_t i = from < r->recent->first ? r->recent->first : from; i <= to; i++) {
        size_t n;
        const struct recent_owner *rows = recent_owners(r->recent, i, &n);
        if (!has_rest(rows, n, by))
            continue;
        const double seconds = recording_seconds(r, NULL, i);
        weight += seconds;
        for (size_t k = 0; k < n; k++) {
            if (rows[k].by != by)
                continue;
            if (places[rows[k].name] == 0) {
                const struct recent_sums none = {rows[k].name, "", {NAN, NAN, NAN, NAN, NAN, NAN}};
                buf_put(out, &none, sizeof none);
                places[rows[k].name] = (uint32_t)(out->len / sizeof none);
            }
            add_owner((struct recent_sums *)(void *)out->data + places[rows[k].name] - 1, &rows[k],
                      seconds);
        }
    }
    return weight;
}

/* As the question to SQLite orders them. */
static int by_share(const void *a, const void *b)
{
    const struct period_owner *x = a, *y = b;
    const double p = isnan(x->share) ? -1 : x->share, q = isnan(y->share) ? -1 : y->share;
    if ((x->owner.len == 0) != (y->owner.len == 0))
        return x->owner.len == 0 ? 1 : -1;
    return p != q ? (p < q ? 1 : -1) : slice_order(x->owner, y->owner);
}

static void take_recent(struct recording *r, enum owner_by by, int64_t from, int64_t to,
                        struct arena *arena, struct known_owners *known)
{
    struct buf sums = {0};
    uint32_t *places = alloc_zero(r->recent->n_texts + 1, sizeof *places);
    const double weight = sum_recent(r, by, from, to, places, &sums);
    const struct recent_sums *rows = (const struct recent_sums *)(const void *)sums.data;
    const size_t n = sums.len / sizeof *rows;
    struct period_owner *list = arena_alloc(arena, (n + 1) * sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i] = owner_of_sums(slice_keep(arena, recent_text(r->recent, rows[i].name)),
                                slice_of(rows[i].kind), weight, &rows[i].of);
    if (n > 1)
        qsort(list, n, sizeof *list, by_share);
    known->list = list;
    known->n = n < MOST ? n : MOST;
    buf_clear(&sums);
    free(places);
}

size_t recording_owners(struct recording *r, const char *by, int64_t from, int64_t to,
                        const struct period_owner **out)
{
    struct period_cache *c = period_cache_of(r, from, to);
    enum owner_by sort = OWNER_SORTS;
    const int64_t usual_us = llround(r->info.interval_s * 1e6);
    *out = NULL;
    if (!owner_by_find(by, &sort) || sort > OWNER_KIN)
        return 0;
    struct known_owners *known = &c->owners[sort];
    if (!known->list && r->recent)
        take_recent(r, sort, from, to, &c->arena, known);
    else if (!known->list)
        read_owners(r, by, from, to, usual_us > 0 ? usual_us : 1000000, known);
    *out = known->list;
    return known->n;
}
