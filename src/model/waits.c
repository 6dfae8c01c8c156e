/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/model/waits.h"

#include <math.h>
#include <stdlib.h>

#include "beamtop/base/buf.h"
#include "beamtop/model/process_name.h"
#include "internal.h"

/* A call takes 15 reductions or more; each read is one, and an answer reads some five times. */
#define MOVED_REDUCTIONS 14
#define WORDS_MOST 20 /* processes of a cycle or a chain in words */

/* ---- which waits for which */

static int order_pids(const struct etf_pid *a, const struct etf_pid *b)
{
    if (a->serial != b->serial)
        return a->serial < b->serial ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static int order_places(const void *a, const void *b)
{
    return order_pids(&(*(const struct waits_row *const *)a)->pid,
                      &(*(const struct waits_row *const *)b)->pid);
}

static const struct waits_row **sort_rows(struct arena *arena, const struct waits_row *rows,
                                          size_t n)
{
    const struct waits_row **places = arena_alloc(arena, (n + 1) * sizeof(void *));
    for (size_t i = 0; i < n; i++)
        places[i] = &rows[i];
    qsort(places, n, sizeof(void *), order_places);
    return places;
}

static const struct waits_row *find_row(const struct waits_row *const *places, size_t n,
                                        const struct etf_pid *pid)
{
    const struct waits_row key = {.pid = *pid}, *at = &key;
    const struct waits_row *const *found = bsearch(&at, places, n, sizeof(void *), order_places);
    return found ? *found : NULL;
}

void waits_graph_make(struct waits_graph *g, struct arena *arena, const struct waits_row *rows,
                      size_t n)
{
    const struct waits_row **places = sort_rows(arena, rows, n);
    *g = (struct waits_graph){.rows = rows,
                              .n = n,
                              .to = arena_alloc(arena, (n + 1) * sizeof(size_t)),
                              .first = arena_alloc(arena, (n + 1) * sizeof(size_t)),
                              .next = arena_alloc(arena, (n + 1) * sizeof(size_t))};
    for (size_t i = 0; i < n; i++) {
        const struct waits_row *to = rows[i].has_for ? find_row(places, n, &rows[i].for_pid) : NULL;
        g->to[i] = to ? (size_t)(to - rows) : n;
        g->first[i] = g->next[i] = n;
    }
    for (size_t i = n; i-- > 0;)
        if (g->to[i] < n) {
            g->next[i] = g->first[g->to[i]];
            g->first[g->to[i]] = i;
        }
}

/* ---- sums */

/* Of each row, without those of a cycle that it is in: how many wait behind it, how deep. */
struct walk {
    size_t *left;   /* who waits for it and was not counted yet; in the end of those in cycles 1 */
    size_t *behind; /* processes */
    size_t *depth;  /* the longest way to it */
    size_t *from;   /* where that comes from; n: nowhere */
};

/* Begins with those that nobody waits for. */
static struct walk walk_graph(const struct waits_graph *g, struct arena *arena)
{
    const size_t n = g->n;
    struct walk w = {.left = arena_alloc(arena, (n + 1) * sizeof(size_t)),
                     .behind = arena_alloc(arena, (n + 1) * sizeof(size_t)),
                     .depth = arena_alloc(arena, (n + 1) * sizeof(size_t)),
                     .from = arena_alloc(arena, (n + 1) * sizeof(size_t))};
    size_t *queue = arena_alloc(arena, (n + 1) * sizeof(size_t)), at = 0, end = 0;
    for (size_t i = 0; i < n; i++) {
        w.left[g->to[i]]++; /* to may be n */
        w.from[i] = n;
    }
    for (size_t i = 0; i < n; i++)
        if (w.left[i] == 0)
            queue[end++] = i;
    while (at < end) {
        const size_t i = queue[at++], to = g->to[i];
        if (to == n)
            continue;
        w.behind[to] += w.behind[i] + 1;
        if (w.depth[i] + 1 > w.depth[to]) {
            w.depth[to] = w.depth[i] + 1;
            w.from[to] = i;
        }
        if (--w.left[to] == 0)
            queue[end++] = to;
    }
    return w;
}

/* The cycle of a row that is in one. It is a deadlock where none of it has moved between the two
 * looks. */
static void sum_cycle(const struct waits_graph *g, const struct walk *w, struct waits_row *rows,
                      size_t start, int64_t *deadlocks)
{
    bool is_steady = true;
    size_t all = 0, i = start;
    do {
        all += w->behind[i] + 1;
        is_steady = is_steady && rows[i].steady;
        i = g->to[i];
    } while (i != start);
    *deadlocks += is_steady;
    do {
        rows[i].behind = (int64_t)all - 1;
        rows[i].deadlock = is_steady ? *deadlocks : -1;
        w->left[i] = 0;
        i = g->to[i];
    } while (i != start);
}

void waits_graph_sum(const struct waits_graph *g, struct arena *arena, struct waits_row *rows)
{
    const struct walk w = walk_graph(g, arena);
    int64_t deadlocks = 0;
    for (size_t i = 0; i < g->n; i++) {
        rows[i].waiters = 0;
        rows[i].behind = (int64_t)w.behind[i];
        rows[i].deadlock = -1;
        for (size_t k = g->first[i]; k < g->n; k = g->next[k])
            rows[i].waiters++;
    }
    for (size_t i = 0; i < g->n; i++)
        if (w.left[i] > 0)
            sum_cycle(g, &w, rows, i, &deadlocks);
}

size_t waits_graph_chain(const struct waits_graph *g, struct arena *arena, size_t *out)
{
    const struct walk w = walk_graph(g, arena);
    size_t best = g->n, n = 0;
    for (size_t i = 0; i < g->n; i++)
        if (w.depth[i] > 0 && (best == g->n || w.depth[i] > w.depth[best]))
            best = i;
    for (size_t i = best; i < g->n; i = w.from[i])
        out[n++] = i;
    for (size_t i = 0; i < n / 2; i++) {
        const size_t last = out[n - 1 - i];
        out[n - 1 - i] = out[i];
        out[i] = last;
    }
    return n;
}

/* ---- in words */

struct slice waits_name(struct arena *arena, const struct waits_row *row, bool with_pid)
{
    const struct slice pid = slice_of(arena_printf(arena, PID_FORMAT, PID_NUMBERS(&row->pid)));
    const struct process_names names = {
        .name = row->name, .label = row->label, .initial_call = row->initial_call, .pid = pid};
    if (row->name.len > 0 || row->label.len > 0)
        return process_name(&names);
    if (row->initial_call.len == 0 || process_call_is_generic(row->initial_call))
        return pid;
    const struct slice call = process_call_name(row->initial_call);
    if (!with_pid)
        return call;
    return slice_of(arena_printf(arena, "%.*s %s", (int)call.len, call.s, pid.s));
}

static void put_name(struct buf *to, struct arena *arena, const struct waits_row *row)
{
    const struct slice name = waits_name(arena, row, true);
    buf_put(to, name.s, name.len);
}

static struct slice chain_in_words(const struct waits_graph *g, struct arena *arena)
{
    size_t *chain = arena_alloc(arena, (g->n + 1) * sizeof *chain);
    const size_t n = waits_graph_chain(g, arena, chain);
    struct buf words;
    buf_init(&words, 0);
    if (n > 2)
        for (size_t i = 0; i < n; i++) {
            if (i < WORDS_MOST / 2 || i + WORDS_MOST / 2 >= n)
                put_name(&words, arena, &g->rows[chain[i]]);
            else if (i > WORDS_MOST / 2)
                continue;
            else
                buf_printf(&words, "(%zu more)", n - WORDS_MOST);
            if (i + 1 < n)
                buf_puts(&words, " -> ");
        }
    return slice_take(arena, &words);
}

struct waits_cycle waits_cycle_of(const struct waits_graph *g, struct arena *arena, size_t start)
{
    struct waits_cycle out = {.seen_s = (double)INFINITY};
    struct buf words;
    size_t i = start;
    buf_init(&words, 0);
    do {
        if (out.n++ < WORDS_MOST) {
            put_name(&words, arena, &g->rows[i]);
            buf_puts(&words, " -> ");
        }
        out.seen_s = fmin(out.seen_s, g->rows[i].locked_s);
        i = g->to[i];
    } while (i != start);
    if (out.n > WORDS_MOST)
        buf_puts(&words, "… -> ");
    put_name(&words, arena, &g->rows[start]);
    out.words = slice_take(arena, &words);
    return out;
}

static struct slice first_cycle(const struct waits_graph *g, struct arena *arena)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->rows[i].deadlock == 1)
            return waits_cycle_of(g, arena, i).words;
    return (struct slice){0};
}

/* One that sys:suspend/1 holds has a kind, and waits for nobody. */
static bool is_waiting(const struct waits_row *row)
{
    return row->kind.len > 0 && !row->suspended;
}

static struct waits_sums *sum_rows(const struct waits_graph *g, struct arena *arena)
{
    struct waits_sums *s = arena_alloc(arena, sizeof *s);
    for (size_t i = 0; i < g->n; i++) {
        const struct waits_row *r = &g->rows[i];
        s->waiting += is_waiting(r);
        s->elsewhere += r->node.len > 0;
        s->unknown += is_waiting(r) && r->among != 1;
        s->deadlocks = r->deadlock > s->deadlocks ? r->deadlock : s->deadlocks;
    }
    s->deadlock = first_cycle(g, arena);
    s->chain = chain_in_words(g, arena);
    return s;
}

/* ---- an answer */

static bool is_same_wait(const struct waits_row *before, const struct waits_row *now)
{
    const double moved = (double)now->reductions - (double)before->reductions;
    return before->kind.len > 0 && slice_equal(before->kind, now->kind) &&
           slice_equal(before->function, now->function) && before->has_for == now->has_for &&
           (!now->has_for || pid_same(&before->for_pid, &now->for_pid)) && moved >= 0 &&
           moved <= MOVED_REDUCTIONS;
}

/* Once its waiters are counted. */
static void follow_seen(struct table_detail *now, const struct table_detail *before,
                        struct arena *arena)
{
    struct waits_row *rows = now->rows;
    const size_t n = before ? before->n_rows : 0;
    const struct waits_row **places = sort_rows(arena, n > 0 ? before->rows : NULL, n);
    for (size_t i = 0; i < now->n_rows; i++) {
        const struct waits_row *was = n > 0 ? find_row(places, n, &rows[i].pid) : NULL;
        const bool follows = was && now->interval_s > 0;
        rows[i].seen_s = rows[i].kind.len > 0 ? 0 : (double)NAN;
        rows[i].crowded_s = rows[i].locked_s = 0;
        if (follows && is_same_wait(was, &rows[i]))
            rows[i].seen_s = was->seen_s + now->interval_s;
        if (follows && was->deadlock > 0 && rows[i].deadlock > 0 &&
            pid_same(&was->for_pid, &rows[i].for_pid))
            rows[i].locked_s = was->locked_s + now->interval_s;
        if (follows && was->waiters > WAITS_CROWD && rows[i].waiters > WAITS_CROWD)
            rows[i].crowded_s = was->crowded_s + now->interval_s;
    }
}

static void name_targets(const struct waits_graph *g, struct waits_row *rows)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->to[i] < g->n) {
            const struct waits_row *to = &rows[g->to[i]];
            const struct slice name = to->name.len > 0 ? to->name : to->label;
            if (name.len > 0)
                rows[i].for_name = name;
        }
}

/* Deadlocks first, those of one together. */
static int order_by_weight(const void *a, const void *b)
{
    const struct waits_row *x = a, *y = b;
    const uint64_t p = (uint64_t)x->deadlock, q = (uint64_t)y->deadlock; /* none is the last */
    if (p != q)
        return p < q ? -1 : 1;
    if (x->behind != y->behind)
        return x->behind > y->behind ? -1 : 1;
    if (x->waiters != y->waiters)
        return x->waiters > y->waiters ? -1 : 1;
    return order_pids(&x->pid, &y->pid);
}

void waits_follow(struct table_detail *now, const struct table_detail *before, struct arena *arena)
{
    struct waits_graph g;
    struct waits_row *rows = now->rows;
    now->interval_s = before ? rate_interval(before->mono_ns, now->mono_ns) : (double)NAN;
    waits_graph_make(&g, arena, rows, now->n_rows);
    waits_graph_sum(&g, arena, rows);
    follow_seen(now, before, arena);
    if (now->n_rows > 0)
        qsort(rows, now->n_rows, sizeof *rows, order_by_weight);
    waits_graph_make(&g, arena, rows, now->n_rows);
    name_targets(&g, rows);
    now->sums = sum_rows(&g, arena);
}
