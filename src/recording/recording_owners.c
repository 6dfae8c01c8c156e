/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Owners over a period of a recording, and what else is kept of the period that was asked for. */
#include <math.h>
#include <stdlib.h>

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

static struct period_owner owner_of_row(sqlite3_stmt *s, struct arena *arena)
{
    const double weight = db_column_real(s, 2), share = db_column_real(s, 3) / weight;
    const double spread = db_column_real(s, 4) / weight - share * share; /* NaN where it has none */
    return (struct period_owner){.owner = slice_keep(arena, db_column_text(s, 0)),
                                 .kind = slice_keep(arena, db_column_text(s, 1)),
                                 .share = share,
                                 .share_stddev = isnan(spread) || spread > 0 ? sqrt(spread) : 0,
                                 .reductions_per_s = db_column_real(s, 5) / weight,
                                 .memory_bytes = db_column_real(s, 6) / weight,
                                 .message_queue_len = db_column_real(s, 7) / weight,
                                 .processes = db_column_real(s, 8) / weight};
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
    if (!known->list) {
        struct period_owner *list = arena_alloc(&c->arena, MOST * sizeof *list);
        sqlite3_stmt *s = recording_ask_text(
            r, owners_sql, NUMBERS(from, to, usual_us > 0 ? usual_us : 1000000), by);
        while (known->n < MOST && recording_row(r, s))
            list[known->n++] = owner_of_row(s, &c->arena);
        sqlite3_finalize(s);
        known->list = list;
    }
    *out = known->list;
    return known->n;
}
