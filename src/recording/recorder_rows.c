/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of a tick that are made from the model: busiest processes, owners; and thinning. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/kind.h"
#include "beamtop/model/owners.h"
#include "recorder_internal.h"

/* Rows of a tick that get columns of their own; the answer, which is kept too, has all. */
#define PROCESS_ROWS 20
/* An owner with less than this share of a tick is part of its rest. */
#define LEAST_SHARE 0.002

/* A scan that this tick has taken; NULL when none is there. */
static const struct proc_scan *fresh_scan(const struct recorder *r, const struct model *m)
{
    const struct proc_scan *scan = model_scan(m);
    return scan && scan->mono_ns > r->last_mono_ns ? scan : NULL;
}

static void put_process(struct recorder *r, const struct proc_row *of, struct error *err)
{
    if (r->recent) {
        recent_add_process(r->recent, of);
        return;
    }
    struct process_row row = {.kind = slice_of(proc_kind_name(proc_kind(of))), .of = *of};
    struct buf pid;
    buf_init(&pid, 0);
    print_pid(&pid, &of->pid);
    row.pid = (struct slice){(const char *)pid.data, pid.len};
    (void)recorder_put(r, TABLE_PROCESS, &row, err);
    buf_clear(&pid);
}

/* Of the rest, those with the longest message queues and the most memory are kept too: they may not
   work at all. */
#define NOTED_ROWS 4
#define NOTED_MESSAGES 5

static double noted_messages(const struct proc_row *row)
{
    return row->message_queue_len >= NOTED_MESSAGES ? (double)row->message_queue_len : 0;
}

/* Functions in which a process handles no message: with any number of them it is found. */
static bool is_asleep(const struct proc_row *row)
{
    static const char *const functions[] = {
        "sys:suspend_loop",           "erlang:hibernate/",         "gen_server:loop_hibernate/",
        "gen_statem:loop_hibernate/", "gen_event:loop_hibernate/",
    };
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (slice_begins(row->current_function, functions[i]))
            return true;
    return false;
}

static double noted_asleep(const struct proc_row *row)
{
    return row->message_queue_len > 0 && is_asleep(row) ? (double)row->message_queue_len : 0;
}

static double noted_memory(const struct proc_row *row)
{
    return row->memory_bytes > 0 ? (double)row->memory_bytes : 0;
}

static void put_noted(struct recorder *r, const struct proc_row **rows, size_t n,
                      double (*number)(const struct proc_row *row), struct error *err)
{
    for (int k = 0; k < NOTED_ROWS; k++) {
        size_t best = n;
        for (size_t i = 0; i < n; i++)
            if (rows[i] && number(rows[i]) > 0 &&
                (best == n || number(rows[i]) > number(rows[best])))
                best = i;
        if (best == n)
            return;
        put_process(r, rows[best], err);
        rows[best] = NULL;
    }
}

/* All that are known at this moment: the ranked ones, and those that are watched. */
static struct proc_scan with_watched(struct arena *arena, const struct proc_scan *scan)
{
    struct proc_scan whole = *scan;
    whole.n_rows = scan->n_rows + scan->n_watched;
    whole.rows = arena_alloc(arena, (whole.n_rows + 1) * sizeof *whole.rows);
    if (scan->n_rows > 0)
        memcpy(whole.rows, scan->rows, scan->n_rows * sizeof *whole.rows);
    if (scan->n_watched > 0)
        memcpy(whole.rows + scan->n_rows, scan->watched, scan->n_watched * sizeof *whole.rows);
    return whole;
}

void recorder_put_processes(struct recorder *r, const struct model *m, struct error *err)
{
    static double (*const noted[])(const struct proc_row *row) = {noted_asleep, noted_messages,
                                                                  noted_memory};
    const struct proc_scan *scan = fresh_scan(r, m);
    struct arena arena;
    size_t n = 0;
    if (!scan)
        return;
    arena_init(&arena);
    const struct proc_scan all = with_watched(&arena, scan);
    const struct proc_row **rows = arena_alloc(&arena, (all.n_rows + 1) * sizeof *rows);
    for (size_t i = 0; i < all.n_rows; i++)
        if (!all.rows[i].own)
            rows[n++] = &all.rows[i];
    const size_t busiest = n < PROCESS_ROWS ? n : PROCESS_ROWS;
    for (size_t i = 0; i < busiest; i++)
        put_process(r, rows[i], err);
    for (size_t i = 0; i < ARRAY_LEN(noted); i++)
        put_noted(r, rows + busiest, n - busiest, noted[i], err);
    arena_clear(&arena);
}

/* ---- owners */

static void put_owner(struct recorder *r, enum owner_by by, const struct owner *o,
                      struct error *err)
{
    if (r->recent) {
        recent_add_owner(r->recent, by, o);
        return;
    }
    struct owner_row row = {
        .by = slice_of(owner_by_key(by)), .kind = slice_of(proc_kind_name(o->kind)), .of = *o};
    (void)recorder_put(r, TABLE_OWNER, &row, err);
}

/* Applications are counted over all processes where the node was asked for them. The row without an
 * owner is the rest. */
static void put_owners_by(struct recorder *r, enum owner_by by, const struct table_detail *apps,
                          const struct proc_scan *scan, struct error *err)
{
    struct arena arena;
    struct owners owners;
    arena_init(&arena);
    if (apps) {
        owners_of_apps(&owners, &arena, apps, scan, LEAST_SHARE);
    } else {
        const struct proc_scan whole = with_watched(&arena, scan);
        owners_of_scan(&owners, &arena, &whole, by, LEAST_SHARE);
    }
    const struct owner rest = {.processes = -1,
                               .reductions_per_s = NAN,
                               .share = owners.rest_share,
                               .memory_bytes = NAN,
                               .message_queue_len = NAN};
    for (size_t i = 0; i < owners.len; i++)
        put_owner(r, by, &owners.items[i], err);
    if (owners.has_shares)
        put_owner(r, by, &rest, err);
    arena_clear(&arena);
}

void recorder_put_owners(struct recorder *r, const struct model *m, struct error *err)
{
    const struct table_detail *apps = model_apps(m);
    const struct proc_scan *scan = fresh_scan(r, m);
    const bool waits = r->options.apps && apps;
    if (!apps || apps->mono_ns <= r->last_mono_ns)
        apps = NULL;
    if (apps || (scan && !waits))
        put_owners_by(r, OWNER_APPLICATION, apps, scan, err);
    for (enum owner_by by = OWNER_SUPERVISOR; scan && by <= OWNER_KIN; by++)
        put_owners_by(r, by, NULL, scan, err);
}

/* ---- thinning */

/* Whether rows went. Nothing does after an error. */
static bool drop_rows(struct recorder *r, const char *sql, int64_t upto, struct error *err)
{
    sqlite3_stmt *s = NULL;
    if (err->code != ERR_NONE || db_prepare(r->db, &s, sql, err) != 0)
        return false;
    if (sqlite3_bind_parameter_count(s) > 0)
        sqlite3_bind_int64(s, 1, upto);
    bool some = db_run(r->db, s, err) == 0 && sqlite3_changes(r->db) > 0;
    sqlite3_finalize(s);
    return some;
}

/* Every second of the ticks that are left in the older half, whatever earlier thinning took. */
static const char thin_ticks[] =
    "DELETE FROM tick WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n"
    " FROM tick WHERE id <= ?) WHERE n % 2 = 0)";

/* Traces stay, with their counters. */
static const char thin_events[] = "DELETE FROM event WHERE tick <= ?";
/* Runs for system events stay likewise. */
static const char thin_system_events[] = "DELETE FROM system_event WHERE tick <= ?";

/* What belonged to rows that went. */
static void drop_orphans(struct recorder *r, struct error *err)
{
    static const char *const orphans[] = {
        "DELETE FROM call WHERE window NOT IN (SELECT id FROM call_window)",
        "DELETE FROM sample_node WHERE run NOT IN (SELECT id FROM sample_run)",
        "DELETE FROM sample_source WHERE run NOT IN (SELECT id FROM sample_run)",
        "DELETE FROM sample_held WHERE run NOT IN (SELECT id FROM sample_run)",
        "DELETE FROM sample_frame WHERE id NOT IN (SELECT frame FROM sample_node)",
        "DELETE FROM span_process WHERE run NOT IN (SELECT id FROM span_run)",
        "DELETE FROM span_event WHERE run NOT IN (SELECT id FROM span_run)",
    };
    for (size_t i = 0; i < ARRAY_LEN(orphans); i++)
        (void)drop_rows(r, orphans[i], 0, err);
}

/* What goes with its tick. With many functions, windows of counted calls are most of a file. */
static void drop_of_ticks(struct recorder *r, int64_t upto, struct error *err)
{
    static const char *const tables[] = {"system",      "process",    "owner",   "answer",
                                         "call_window", "sample_run", "span_run"};
    enum { FIRST_WITH_OTHERS = 4 };
    bool others = false;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char sql[120];
        snprintf(sql, sizeof sql,
                 "DELETE FROM %s WHERE tick <= ? AND tick NOT IN (SELECT id FROM tick)", tables[i]);
        others = (drop_rows(r, sql, upto, err) && i >= FIRST_WITH_OTHERS) || others;
    }
    if (others)
        drop_orphans(r, err);
}

void recorder_drop_spans(struct recorder *r, int64_t newest, struct error *err)
{
    if (newest > LIMIT_RECORDED_SPAN_RUNS &&
        drop_rows(r, "DELETE FROM span_run WHERE id <= ?", newest - LIMIT_RECORDED_SPAN_RUNS, err))
        drop_orphans(r, err);
}

bool recorder_thin(struct recorder *r, struct error *err)
{
    int64_t middle = db_int(r->db,
                            "SELECT (min(tick) + max(tick)) / 2 FROM answer"
                            " WHERE question <> 'node'",
                            0);
    if (middle > 0) {
        (void)drop_rows(r, thin_events, middle, err);
        (void)drop_rows(r, thin_system_events, middle, err);
        return drop_rows(r, "DELETE FROM answer WHERE tick <= ? AND question <> 'node'", middle,
                         err);
    }
    middle = db_int(r->db,
                    "SELECT id FROM tick ORDER BY id LIMIT 1"
                    " OFFSET (SELECT count(*) / 2 FROM tick)",
                    0);
    bool some = drop_rows(r, thin_events, middle, err);
    some = drop_rows(r, thin_system_events, middle, err) || some;
    some = drop_rows(r, thin_ticks, middle, err) || some;
    if (some) {
        drop_of_ticks(r, middle, err);
        sqlite3_exec(r->db,
                     "INSERT OR REPLACE INTO meta SELECT 'thinned', wall_us FROM tick"
                     " ORDER BY id DESC LIMIT 1",
                     NULL, NULL, NULL);
    }
    return some && err->code == ERR_NONE;
}

/* ---- a ring of ticks */

/* Texts stay: they are few. */
static const char *const forget[] = {
    "DELETE FROM event WHERE tick <= ?",
    ("DELETE FROM trace_pattern"
     " WHERE trace IN (SELECT id FROM trace WHERE tick <= ? AND ending NOT NULL)"),
    "DELETE FROM trace WHERE tick <= ? AND ending NOT NULL",
};

int recorder_keep(struct recorder *r, int64_t ticks, struct error *err)
{
    int64_t upto = r->ticks - ticks;
    if (upto <= 0)
        return 0;
    recent_drop(r->recent, upto);
    if (!r->db)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(forget); i++)
        (void)drop_rows(r, forget[i], upto, err);
    drop_of_ticks(r, upto, err);
    return (int)err->code;
}
