/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over periods of a recording: what reports and findings are made of. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/text.h"
#include "beamtop/output/number.h"
#include "beamtop/output/fields.h"
#include "recording_internal.h"

bool recording_has_column(struct recording *r, const char *table, const char *name)
{
    return sqlite3_table_column_metadata(r->db, NULL, table, name, NULL, NULL, NULL, NULL, NULL) ==
           SQLITE_OK;
}

const char *recording_system_column(struct recording *r, const char *key)
{
    const char *old = field_old_key(key);
    if (!number_find(key, strlen(key)))
        return NULL;
    return recording_has_column(r, "system", key)          ? key
           : old && recording_has_column(r, "system", old) ? old
                                                           : NULL;
}

const char recording_seconds_sql[] = "SELECT interval_us FROM tick WHERE id = ?";

/* The usual interval where that of the tick is not known. */
static double seconds_of(const struct recording_info *info, double interval_us)
{
    if (interval_us > 0)
        return interval_us / 1e6;
    return info->interval_s > 0 ? info->interval_s : 1;
}

double recording_seconds(struct recording *r, sqlite3_stmt *intervals, int64_t tick)
{
    if (r->recent)
        return seconds_of(recording_info(r), recent_tick(r->recent, tick)->interval_us);
    recording_ask_again(intervals, &tick);
    double us = recording_row(r, intervals) ? db_column_real(intervals, 0) : (double)NAN;
    return seconds_of(recording_info(r), us);
}

/* ---- the values of a column */

struct series {
    struct timed {
        double v, seconds;
        int64_t tick;
    } * values; /* in the order of ticks; of `rows` */
    size_t n;
    struct buf rows;
};

static void put_value(struct series *out, const struct recording *r, double v, double interval_us,
                      int64_t tick)
{
    const struct timed row = {v, seconds_of(recording_info(r), interval_us), tick};
    if (!isnan(v))
        buf_put(&out->rows, &row, sizeof row);
}

static void end_series(struct series *out)
{
    out->values = (struct timed *)(void *)out->rows.data;
    out->n = out->rows.len / sizeof *out->values;
}

/* Of rows of a value, the interval and the number of its tick; ends the statement. */
static struct series read_series(struct recording *r, sqlite3_stmt *s)
{
    struct series out = {0};
    while (recording_row(r, s))
        put_value(&out, r, db_column_real(s, 0), db_column_real(s, 1), db_column_int(s, 2));
    sqlite3_finalize(s);
    end_series(&out);
    return out;
}

static struct series recent_series(const struct recording *r, const char *key, int64_t from,
                                   int64_t to, int64_t least_us)
{
    const struct field *field = number_find(key, strlen(key));
    struct series out = {0};
    from = from < r->recent->first ? r->recent->first : from;
    to = to > r->info.ticks ? recent_last(r->recent) : to;
    for (int64_t i = from; field && i <= to && recent_tick(r->recent, i); i++) {
        const double us = recent_tick(r->recent, i)->interval_us;
        if (least_us <= 0 || us >= (double)least_us)
            put_value(&out, r, recent_system(r->recent, i, (size_t)(field - system_fields.fields)),
                      us, i);
    }
    end_series(&out);
    return out;
}

/* The known values of a column of `system`, with intervals and ticks; of ticks whose interval is
 * `least_us` or longer, where that is above 0. */
static struct series read_values(struct recording *r, const char *key, int64_t from, int64_t to,
                                 int64_t least_us)
{
    char sql[240];
    if (r->recent)
        return recent_series(r, key, from, to, least_us);
    const char *column = recording_system_column(r, key);
    if (!column)
        return (struct series){0};
    snprintf(sql, sizeof sql,
             "SELECT %s, interval_us, system.tick FROM system LEFT JOIN tick"
             " ON tick.id = system.tick WHERE system.tick BETWEEN ?1 AND ?2 AND %s NOT NULL"
             "%s ORDER BY system.tick",
             column, column, least_us > 0 ? " AND interval_us >= ?3" : "");
    return read_series(r, recording_ask(r, sql, NUMBERS(from, to, least_us)));
}

#define FEW 3 /* ticks: with fewer, short ones are better than none */

/*
 * The known values of the period, owned by the caller. What is of an interval counts only where
 * that is half as long as asked for, or longer: the first is short, and most of what happens in it
 * is that our questions are read. */
static struct series series_of(struct recording *r, const char *key, int64_t from, int64_t to)
{
    int64_t least_us = llround(recording_info(r)->interval_s * 1e6 / 2);
    if ((text_ends_with(key, "_per_s") || text_ends_with(key, "_utilisation")) && least_us > 0) {
        struct series long_ones = read_values(r, key, from, to, least_us);
        if (long_ones.n >= FEW)
            return long_ones;
        buf_clear(&long_ones.rows);
    }
    return read_values(r, key, from, to, 0);
}

static int by_value(const void *a, const void *b)
{
    double x = ((const struct timed *)a)->v, y = ((const struct timed *)b)->v;
    return (x > y) - (x < y);
}

/*
 * How many independent values have as certain a mean: n (1 - r) / (1 + r), r the correlation of
 * each with the one before (of an AR(1) series). Memory goes up and stays; three are granted
 * anyhow. */
static double independent_values(const struct series *s, double mean)
{
    const struct timed *v = s->values;
    double products = 0, squares = 0;
    for (size_t i = 0; i < s->n; i++)
        squares += (v[i].v - mean) * (v[i].v - mean);
    for (size_t i = 1; i < s->n; i++)
        products += (v[i].v - mean) * (v[i - 1].v - mean);
    double r = squares > 0 && products > 0 ? products / squares : 0;
    return fmin((double)s->n, fmax(3, (double)s->n * (1 - r) / (1 + r)));
}

/* Of n parts of a whole: from the sum over them of part² / weight, with the weights' sum. */
static double deviation_of_parts(double squares, double sum, double weight, int64_t n)
{
    double mean = sum / weight, variance = squares / weight - mean * mean;
    if (n < 2 || !(weight > 0) || isnan(variance))
        return NAN;
    return sqrt(fmax(0, variance) * (double)n / (double)(n - 1));
}

/* Sorts the values. */
static struct period_stats stats_of_series(struct series *s)
{
    struct period_stats stats = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, (int64_t)s->n, 0},
                        *out = &stats;
    struct timed *v = s->values;
    double sum = 0, squares = 0, seconds = 0;
    size_t n = s->n;
    if (n == 0)
        return stats;
    out->first = v[0].v;
    out->last = v[n - 1].v;
    for (size_t i = 0; i < n; i++) {
        sum += v[i].seconds * v[i].v;
        seconds += v[i].seconds;
    }
    out->mean = sum / seconds;
    for (size_t i = 0; i < n; i++)
        squares += v[i].seconds * (v[i].v - out->mean) * (v[i].v - out->mean);
    out->stddev = deviation_of_parts(squares, 0, seconds, (int64_t)n);
    out->independent = independent_values(s, out->mean);
    qsort(v, n, sizeof *v, by_value);
    out->min = v[0].v;
    out->max = v[n - 1].v;
    out->p95 = v[(n * 95 + 99) / 100 - 1].v; /* nearest rank */
    return stats;
}

int recording_stats(struct recording *r, const char *system_key, int64_t from, int64_t to,
                    struct period_stats *out, struct error *err)
{
    const struct field *key = number_find(system_key, strlen(system_key));
    struct period_cache *c = period_cache_of(r, from, to);
    *out = (struct period_stats){NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0};
    if (!key)
        return error_set(err, ERR_USAGE, "\"%s\" is nothing that a recording has", system_key);
    size_t at = (size_t)(key - system_fields.fields);
    if (!c->stats)
        c->stats = alloc_zero(system_fields.n, sizeof *c->stats);
    if (!c->stats[at].known) {
        struct series series = series_of(r, system_key, from, to);
        c->stats[at].value = stats_of_series(&series);
        c->stats[at].known = true;
        buf_clear(&series.rows);
    }
    *out = c->stats[at].value;
    return 0;
}

struct period_cost recording_cost(struct recording *r, int64_t from, int64_t to)
{
    struct period_cost cost = {NAN, NAN};
    sqlite3_stmt *s =
        recording_ask(r,
                      "SELECT sum(cost_us) / sum(interval_us), avg(bytes) FROM tick"
                      " WHERE id BETWEEN ? AND ? AND interval_us > 0 AND cost_us NOT NULL",
                      NUMBERS(from, to));
    if (recording_row(r, s) && sqlite3_column_type(s, 0) != SQLITE_NULL) {
        cost.share = db_column_real(s, 0);
        cost.bytes = db_column_real(s, 1);
    }
    sqlite3_finalize(s);
    return cost;
}

/* The mean from one time to another, in seconds since the first value's begin; from *at on, which
 * is of the value that began at *began. */
static double mean_between(const struct series *s, double from, double to, size_t *at,
                           double *began)
{
    double sum = 0, seconds = 0;
    while (true) {
        const struct timed *v = &s->values[*at];
        double end = *began + v->seconds;
        double within = fmin(end, to) - fmax(*began, from);
        if (within > 0) {
            sum += within * v->v;
            seconds += within;
        }
        if (end >= to || *at + 1 == s->n)
            break;
        *began = end;
        ++*at;
    }
    return seconds > 0 ? sum / seconds : s->values[*at].v;
}

/* Frees the series. */
static size_t means_of(struct series s, double *out, size_t most)
{
    size_t parts = s.n < most ? s.n : most, at = 0;
    double seconds = 0, began = 0;
    for (size_t i = 0; i < s.n; i++)
        seconds += s.values[i].seconds;
    for (size_t i = 0; i < parts; i++)
        out[i] = mean_between(&s, seconds * (double)i / (double)parts,
                              seconds * (double)(i + 1) / (double)parts, &at, &began);
    buf_clear(&s.rows);
    return parts;
}

struct period_run recording_longest(struct recording *r, const char *system_key, int64_t from,
                                    int64_t to, double least)
{
    struct series s = read_values(r, system_key, from, to, 0);
    struct period_run longest = {0}, run = {0};
    for (size_t i = 0; i < s.n; i++) {
        if (!(s.values[i].v >= least)) {
            run.seconds = 0;
            continue;
        }
        run.to = s.values[i].tick;
        run.from = run.seconds > 0 ? run.from : run.to;
        run.seconds += s.values[i].seconds;
        longest = run.seconds >= longest.seconds ? run : longest;
    }
    buf_clear(&s.rows);
    return longest;
}

size_t recording_series(struct recording *r, const char *system_key, int64_t from, int64_t to,
                        double *out, size_t most)
{
    return means_of(series_of(r, system_key, from, to), out, most);
}

size_t recording_queue_series(struct recording *r, const char *pid, int64_t from, int64_t to,
                              double *out, size_t most)
{
    sqlite3_stmt *s = recording_ask_text(
        r,
        "SELECT message_queue_len, interval_us, process.tick FROM process"
        " LEFT JOIN tick ON tick.id = process.tick WHERE process.tick BETWEEN ?1"
        " AND ?2 AND pid = ?3 AND message_queue_len NOT NULL ORDER BY process.tick",
        NUMBERS(from, to), pid);
    return means_of(read_series(r, s), out, most);
}

/* ---- calls */

/* And in how many of them all called functions are listed. */
static void sum_windows(struct recording *r, int64_t from, int64_t to, struct recorded_window *out,
                        int64_t *listed)
{
    sqlite3_stmt *s =
        recording_ask(r,
                      "SELECT min(wall_us), sum(ns), max(functions), sum(calls), sum(lost),"
                      " count(*), sum((SELECT ifnull(sum(c.calls), 0) FROM call c"
                      " WHERE c.window = w.id) >= w.calls)"
                      " FROM call_window w WHERE tick BETWEEN ? AND ?",
                      NUMBERS(from, to));
    *out = (struct recorded_window){
        .id = -1, .tick = from, .wall_us = -1, .ns = 0, .calls_per_s = NAN};
    if (recording_row(r, s)) {
        out->wall_us = db_column_int(s, 0);
        out->ns = db_column_count(s, 1);
        out->functions = db_column_int(s, 2);
        out->calls = db_column_count(s, 3);
        out->lost = db_column_count(s, 4);
        out->windows = db_column_count(s, 5);
        *listed = db_column_count(s, 6);
        if (out->ns > 0)
            out->calls_per_s = (double)out->calls * 1e9 / (double)out->ns;
    }
    sqlite3_finalize(s);
}

/* A window is partial when it does not list all functions called in it. */
static const char calls_sql[] =
    "SELECT m.text, f.text, arity, sum(call.calls), sum(own_us), sum(words), sum(call.calls "
    "ISNULL),"
    " sum(w.part), sum(1.0 * call.calls * call.calls / w.ns), sum(1.0 * call.calls * call.calls / "
    "w.calls)"
    " FROM (SELECT v.id, v.ns, v.calls, ifnull(sum(c.calls), 0) < v.calls AS part FROM call_window "
    "v"
    " JOIN call c ON c.window = v.id WHERE v.tick BETWEEN ? AND ? GROUP BY v.id) w"
    " JOIN call ON call.window = w.id JOIN text m ON m.id = module JOIN text f ON f.id = function"
    " GROUP BY module, function, arity ORDER BY 4 DESC, 1, 2, 3 LIMIT 1000";

/* Where all called functions are listed, a missing one was not called. */
static void take_spread(struct recorded_call *c, sqlite3_stmt *s,
                        const struct recorded_window *sums, int64_t listed)
{
    double calls = db_column_real(s, 3);
    int64_t unlisted = sums->windows - listed - db_column_count(s, 7);
    bool lost = db_column_count(s, 6) > 0;
    int64_t n = c->windows = unlisted == 0 && !lost ? sums->windows : 0;
    c->calls_per_s_stddev =
        1e9 * deviation_of_parts(db_column_real(s, 8), calls, (double)sums->ns, n);
    c->share_stddev = deviation_of_parts(db_column_real(s, 9), calls, (double)sums->calls, n);
}

size_t recording_calls(struct recording *r, int64_t from, int64_t to,
                       const struct recorded_call **out, struct recorded_window *sums)
{
    size_t n = 0;
    int64_t listed = 0;
    arena_reset(&r->result);
    *out = NULL;
    if (!r->db) {
        *sums = (struct recorded_window){.id = -1, .tick = from, .wall_us = -1, .calls_per_s = NAN};
        return 0;
    }
    struct recorded_call *calls = arena_alloc(&r->result, 1000 * sizeof *calls);
    *out = calls;
    sum_windows(r, from, to, sums, &listed);
    sqlite3_stmt *s = recording_ask(r, calls_sql, NUMBERS(from, to));
    while (n < 1000 && recording_row(r, s)) {
        struct recorded_call *c = &calls[n++];
        take_spread(c, s, sums, listed);
        c->module = recording_keep(r, db_column_text(s, 0));
        c->function = recording_keep(r, db_column_text(s, 1));
        c->arity = db_column_count(s, 2);
        c->calls = db_column_int(s, 3);
        c->own_us = db_column_int(s, 4);
        c->words = db_column_int(s, 5);
        c->share = sums->calls > 0 ? (double)c->calls / (double)sums->calls : (double)NAN;
        c->calls_per_s = sums->ns > 0 ? (double)c->calls * 1e9 / (double)sums->ns : (double)NAN;
    }
    sqlite3_finalize(s);
    sums->top = calls;
    sums->n_top = n;
    return n;
}

int64_t recording_window_tick(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT max(tick) FROM call_window WHERE tick <= ?", tick, 0);
}

int64_t recording_windows(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT count(*) FROM call_window WHERE tick <= ?", tick, 0);
}

const char *recording_fact(struct recording *r, const char *key, int64_t tick)
{
    if (r->recent)
        return recent_fact(r->recent, key, tick);
    sqlite3_stmt *s = recording_ask_text(r,
                                         "SELECT value FROM fact WHERE tick <= ? AND key = ?"
                                         " ORDER BY tick DESC LIMIT 1",
                                         &tick, key);
    const char *json = NULL;
    arena_reset(&r->result);
    if (recording_row(r, s))
        json = recording_keep(r, db_column_text(s, 0)).s;
    sqlite3_finalize(s);
    return json;
}
