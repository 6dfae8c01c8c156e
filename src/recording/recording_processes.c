/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes over a period of a recording: one pass over rows, then the texts of the leaders. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/hash.h"
#include "beamtop/model/kind.h"
#include "recording_internal.h"

#define MOST 1000u
#define NAMES 5 /* ids of `text`: name, application, initial call, label, current function */

/* A row: a process at a tick. */
struct sight {
    int64_t tick;
    struct slice pid; /* as text; of what is recent empty: `id` has it */
    struct etf_pid id;
    int64_t text[NAMES];
    double share, reductions, memory, queue;
    bool hibernates;
    struct slice kind;
};

struct known {
    struct period_process of; /* sums, until the end */
    uint32_t id[2];           /* of what is recent: the key */
    char pid[32];
    int64_t text[NAMES];
    char kind[24];
    int64_t votes;        /* for text[4], by majority */
    int64_t ticks_before; /* ticks with processes until it was first seen */
    int64_t ticks_until;  /* and until it was last seen */
    double first_at;      /* when it was first seen */
    double seconds; /* share, reductions and memory are each value times the seconds of its tick */
    double at, queue, at_at, at_queue, queue_queue; /* sums of the line */
    UT_hash_handle hh;
};

static double or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

/* The function that more than half of the sights had wins; others leave by chance of order. */
static void vote_function(struct known *k, int64_t function)
{
    if (k->votes == 0)
        k->text[4] = function;
    k->votes += k->text[4] == function ? 1 : -1;
}

static void add_queue(struct known *k, double at, double queue)
{
    struct period_process *p = &k->of;
    if (p->ticks == 1)
        p->queue_first = p->queue_min = p->queue_max = queue;
    p->queue_last = queue;
    p->queue_min = fmin(p->queue_min, queue);
    p->queue_max = fmax(p->queue_max, queue);
    p->queued += queue >= 1;
    k->at += at;
    k->queue += queue;
    k->at_at += at * at;
    k->at_queue += at * queue;
    k->queue_queue += queue * queue;
}

/* The first tick of a process has no reductions: what it did there is not known. */
static void add_sleep(struct period_process *p, bool hibernates, double queue, double reductions)
{
    bool asleep = hibernates && queue >= 1 && !isnan(reductions);
    p->asleep = asleep ? p->asleep + 1 : 0;
    p->asleep_reductions_per_s = asleep ? p->asleep_reductions_per_s + reductions : 0;
}

/* at, seconds: when its tick was, since the first one, and how long. */
static void add_row(struct known *k, const struct sight *s, double at, double seconds)
{
    struct period_process *p = &k->of;
    double queue = or_zero(s->queue);
    memcpy(k->text, s->text, (NAMES - 1) * sizeof *k->text);
    vote_function(k, s->text[NAMES - 1]);
    p->ticks++;
    k->first_at = p->ticks == 1 ? at : k->first_at;
    p->seen_s = at - k->first_at;
    k->seconds += seconds;
    p->share += seconds * or_zero(s->share);
    p->reductions_per_s += seconds * or_zero(s->reductions);
    p->memory_bytes += seconds * or_zero(s->memory);
    p->memory_first = p->ticks == 1 ? s->memory : p->memory_first;
    p->memory_last = s->memory;
    add_queue(k, at, queue);
    add_sleep(p, s->hibernates, queue, s->reductions);
    slice_to_chars(s->kind, k->kind, sizeof k->kind);
}

static struct known *find_recent(struct known **all, struct arena *arena, const struct etf_pid *pid)
{
    const uint32_t id[2] = {pid->id, pid->serial};
    struct known *k = NULL;
    HASH_FIND(hh, *all, id, sizeof id, k);
    if (!k) {
        k = arena_alloc(arena, sizeof *k);
        memcpy(k->id, id, sizeof id);
        snprintf(k->pid, sizeof k->pid, PID_FORMAT, PID_NUMBERS(pid));
        HASH_ADD(hh, *all, id, sizeof id, k);
    }
    return k;
}

static struct known *find_known(struct known **all, struct arena *arena, const struct sight *s)
{
    char name[sizeof((struct known *)0)->pid];
    struct known *k = NULL;
    if (s->pid.len == 0)
        return find_recent(all, arena, &s->id);
    slice_to_chars(s->pid, name, sizeof name);
    HASH_FIND_STR(*all, name, k);
    if (!k) {
        k = arena_alloc(arena, sizeof *k);
        memcpy(k->pid, name, sizeof name);
        HASH_ADD_STR(*all, pid, k);
    }
    return k;
}

static int by_share(struct known *a, struct known *b)
{
    return a->of.share < b->of.share ? 1 : a->of.share > b->of.share ? -1 : strcmp(a->pid, b->pid);
}

/* The line through (seconds, messages). Means are over the ticks at which it was seen. */
static void fit_queue_line(struct period_process *p, const struct known *k)
{
    double n = (double)p->ticks;
    double xx = k->at_at - k->at * k->at / n, yy = k->queue_queue - k->queue * k->queue / n;
    double xy = k->at_queue - k->at * k->queue / n;
    p->queue_mean = k->queue / n;
    p->queue_stddev = n > 1 && yy > 0 ? sqrt(yy / (n - 1)) : 0;
    p->queue_slope = xx > 0 ? xy / xx : 0;
    p->queue_fit = xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

/* Makes means of its sums; each once. */
static struct period_process period_process_of(struct recording *r, sqlite3_stmt *texts,
                                               const struct known *k, double seconds, int64_t ticks,
                                               struct arena *arena)
{
    struct period_process p = k->of;
    struct slice *names[NAMES] = {&p.name, &p.application, &p.initial_call, &p.label,
                                  &p.current_function};
    for (int i = 0; i < NAMES; i++)
        *names[i] = recording_text(r, texts, k->text[i], arena);
    p.pid = slice_keep(arena, slice_of(k->pid));
    p.kind = slice_keep(arena, slice_of(k->kind));
    p.ticks_since = ticks - k->ticks_before;
    p.at_end = k->ticks_until == ticks;
    p.share = seconds > 0 ? p.share / seconds : (double)NAN;
    p.reductions_per_s = seconds > 0 ? p.reductions_per_s / seconds : (double)NAN;
    p.memory_bytes /= k->seconds;
    p.asleep_reductions_per_s =
        p.asleep > 0 ? p.asleep_reductions_per_s / (double)p.asleep : (double)NAN;
    fit_queue_line(&p, k);
    return p;
}

/* Behaviours of OTP 29 hibernate in a loop of their own, which hibernate/0 leaves as it is. */
static const char rows_sql[] =
    "SELECT tick, pid, name, application, initial_call, label, current_function, share,"
    " reductions_per_s, memory_bytes, message_queue_len, kind, current_function IN"
    "  (SELECT id FROM text WHERE text IN ('erlang:hibernate/3', 'erlang:hibernate/0')"
    "   OR text GLOB 'gen_*:loop_hibernate/[0-9]')"
    " FROM process"
    " WHERE tick BETWEEN ? AND ? ORDER BY tick";

/* Where the pass is: at one tick after the other. */
struct pass {
    sqlite3_stmt *rows, *intervals, *periods;
    int64_t next, to; /* of what is recent: the tick of the next row, and the last one */
    size_t row;       /* in that */
    int64_t tick, tick_of_shares;
    double at, seconds; /* of this tick, since the first one, and how long it was */
    double seconds_of_shares;
};

static double seconds_between(struct recording *r, const struct pass *p, int64_t from, int64_t to)
{
    return r->recent ? recording_period_s(r, from, to)
                     : recording_of_period(r, p->periods, from, to);
}

static void next_tick(struct recording *r, struct pass *p, int64_t tick)
{
    if (p->tick >= 0)
        p->at += or_zero(seconds_between(r, p, p->tick, tick));
    p->seconds = recording_seconds(r, p->intervals, tick);
    p->tick = tick;
}

static bool next_recent(const struct recent *r, struct pass *p, struct sight *out)
{
    size_t n = 0;
    const struct recent_process *rows = NULL;
    while (p->next <= p->to && (rows = recent_processes(r, p->next, &n), p->row >= n)) {
        p->next++;
        p->row = 0;
    }
    if (p->next > p->to)
        return false;
    const struct recent_process *row = &rows[p->row++];
    *out = (struct sight){
        .tick = p->next,
        .id = row->pid,
        .text = {row->name, row->application, row->initial_call, row->label, row->current_function},
        .share = (double)row->share,
        .reductions = (double)row->reductions_per_s,
        .memory = row->memory_bytes,
        .queue = (double)row->message_queue_len,
        .hibernates = row->hibernates,
        .kind = slice_of(proc_kind_name((enum proc_kind)row->kind))};
    return true;
}

/* False: there is none. Its texts are borrowed until the next one. */
static bool next_sight(struct recording *r, struct pass *p, struct sight *out)
{
    if (r->recent)
        return next_recent(r->recent, p, out);
    if (!recording_row(r, p->rows))
        return false;
    *out = (struct sight){.tick = sqlite3_column_int64(p->rows, 0),
                          .pid = db_column_text(p->rows, 1),
                          .share = db_column_real(p->rows, 7),
                          .reductions = db_column_real(p->rows, 8),
                          .memory = db_column_real(p->rows, 9),
                          .queue = db_column_real(p->rows, 10),
                          .hibernates = db_column_int(p->rows, 12) > 0,
                          .kind = db_column_text(p->rows, 11)};
    for (int i = 0; i < NAMES; i++)
        out->text[i] = db_column_int(p->rows, 2 + i);
    return true;
}

static void begin_pass(struct pass *p, struct recording *r, int64_t from, int64_t to)
{
    *p = (struct pass){.tick = -1, .tick_of_shares = -1};
    if (!r->recent) {
        p->rows = recording_ask(r, rows_sql, NUMBERS(from, to));
        p->intervals = recording_ask(r, recording_seconds_sql, NULL);
        p->periods = recording_ask(r, recording_period_sql, NULL);
    } else {
        p->next = from > r->recent->first ? from : r->recent->first;
        p->to = to < recent_last(r->recent) ? to : recent_last(r->recent);
    }
}

/* Seconds of the ticks that have shares: not of the first one. */
static double gather_rows(struct recording *r, int64_t from, int64_t to, struct known **all,
                          struct arena *arena, struct period_turnover *turnover)
{
    struct pass p;
    struct sight s;
    begin_pass(&p, r, from, to);
    while (next_sight(r, &p, &s)) {
        turnover->ticks += s.tick != p.tick;
        turnover->rows++;
        if (s.tick != p.tick)
            next_tick(r, &p, s.tick);
        if (!isnan(s.share) && s.tick != p.tick_of_shares) {
            p.seconds_of_shares += p.seconds;
            p.tick_of_shares = s.tick;
        }
        struct known *k = find_known(all, arena, &s);
        k->ticks_before = k->of.ticks == 0 ? turnover->ticks - 1 : k->ticks_before;
        k->ticks_until = turnover->ticks;
        add_row(k, &s, p.at, p.seconds);
    }
    if (!r->recent) {
        sqlite3_finalize(p.rows);
        sqlite3_finalize(p.periods);
        sqlite3_finalize(p.intervals);
    }
    return p.seconds_of_shares;
}

size_t recording_processes(struct recording *r, int64_t from, int64_t to, struct arena *arena,
                           const struct period_process **out, struct period_turnover *turnover)
{
    struct known *all = NULL, *k, *next;
    struct arena sums;
    size_t n = 0;
    *turnover = (struct period_turnover){0, 0, 0, 0};
    arena_init(&sums);
    double seconds = gather_rows(r, from, to, &all, &sums, turnover);
    turnover->pids = HASH_COUNT(all);
    HASH_SORT(all, by_share);
    size_t most = (size_t)turnover->pids < MOST ? (size_t)turnover->pids : MOST;
    struct period_process *p = arena_alloc(arena, (most + 1) * sizeof *p);
    *out = p;
    sqlite3_stmt *texts = r->recent ? NULL : recording_ask(r, recording_text_sql, NULL);
    HASH_ITER (hh, all, k, next) {
        turnover->pids_seen_once += k->of.ticks == 1;
        if (n < most)
            p[n++] = period_process_of(r, texts, k, seconds, turnover->ticks, arena);
    }
    HASH_CLEAR(hh, all);
    if (texts)
        sqlite3_finalize(texts);
    arena_clear(&sums);
    return n;
}
