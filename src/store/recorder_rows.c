/* The columns of a tick that are made from the model: busiest processes, owners; and thinning. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "beamtop/base/buf.h"
#include "beamtop/etf/print.h"
#include "beamtop/model/detail.h"
#include "beamtop/model/kind.h"
#include "recorder_internal.h"
#include "recording_schema.h"

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

static int put_process(struct recorder *r, const struct proc_row *row, struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_PROCESS];
    const char *kind = proc_kind_name(proc_kind(row));
    struct buf pid;
    buf_init(&pid, 0);
    print_pid(&pid, &row->pid);
    sqlite3_bind_int64(s, 1, r->ticks + 1);
    sqlite3_bind_text64(s, 2, (const char *)pid.data, pid.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    buf_clear(&pid);
    if (recorder_bind_text(r, s, 3, row->name, err) != 0 ||
        recorder_bind_text(r, s, 4, row->application, err) != 0 ||
        recorder_bind_text(r, s, 5, row->initial_call, err) != 0 ||
        recorder_bind_text(r, s, 6, row->label, err) != 0 ||
        recorder_bind_text(r, s, 7, row->current_function, err) != 0)
        return (int)err->code;
    db_bind_real(s, 8, row->reductions_per_s);
    db_bind_real(s, 9, row->reductions_share);
    db_bind_int(s, 10, row->memory_bytes);
    db_bind_int(s, 11, row->message_queue_len);
    db_bind_real(s, 12, row->message_queue_per_s);
    db_bind_text(s, 13, (struct slice){kind, strlen(kind)});
    return db_run(r->db, s, err);
}

int recorder_put_processes(struct recorder *r, const struct model *m, struct error *err)
{
    const struct proc_scan *scan = fresh_scan(r, m);
    size_t n = 0;
    for (size_t i = 0; scan && i < scan->n_rows && n < PROCESS_ROWS; i++) {
        if (scan->rows[i].own)
            continue;
        if (put_process(r, &scan->rows[i], err) != 0)
            return (int)err->code;
        n++;
    }
    return 0;
}

/* ---- owners: sums over processes of one name of one sort */

struct owner {
    struct slice name;
    const char *kind;
    int64_t processes;
    double reductions_per_s, share, memory_bytes, message_queue_len;
    UT_hash_handle hh;
};

/* The module of "mod:fun/1". */
static struct slice module_of(struct slice initial_call)
{
    const char *colon = initial_call.len ? memchr(initial_call.s, ':', initial_call.len) : NULL;
    return colon ? (struct slice){initial_call.s, (size_t)(colon - initial_call.s)} : initial_call;
}

static struct slice by_module(const struct proc_row *row)
{
    return module_of(row->initial_call);
}
static struct slice by_name(const struct proc_row *row)
{
    return row->name;
}
static struct slice by_label(const struct proc_row *row)
{
    return row->label;
}
static struct slice by_application(const struct proc_row *row)
{
    return row->application;
}

static double or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

static void add_to(struct owner **owners, struct arena *arena, struct slice name,
                   const struct proc_row *row)
{
    struct owner *o = NULL;
    HASH_FIND(hh, *owners, name.s, name.len, o);
    if (!o) {
        o = arena_alloc(arena, sizeof *o);
        o->name = name;
        o->kind = proc_kind_name(proc_kind(row));
        HASH_ADD_KEYPTR(hh, *owners, o->name.s, o->name.len, o);
    }
    o->processes++;
    o->reductions_per_s += or_zero(row->reductions_per_s);
    o->share += or_zero(row->reductions_share);
    o->memory_bytes += row->memory_bytes > 0 ? (double)row->memory_bytes : 0;
    o->message_queue_len += row->message_queue_len > 0 ? (double)row->message_queue_len : 0;
    if (strcmp(o->kind, proc_kind_name(proc_kind(row))) != 0)
        o->kind = "";
}

static int put_owner(struct recorder *r, const char *by, const struct owner *o, struct error *err)
{
    sqlite3_stmt *s = r->stmts[STMT_OWNER];
    sqlite3_bind_int64(s, 1, r->ticks + 1);
    sqlite3_bind_text(s, 2, by, -1, SQLITE_STATIC);
    if (recorder_bind_text(r, s, 3, o->name, err) != 0)
        return (int)err->code;
    db_bind_int(s, 4, o->processes);
    db_bind_real(s, 5, o->reductions_per_s);
    db_bind_real(s, 6, o->share);
    db_bind_real(s, 7, o->memory_bytes);
    db_bind_real(s, 8, o->message_queue_len);
    db_bind_text(s, 9, (struct slice){o->kind, strlen(o->kind)});
    return db_run(r->db, s, err);
}

/* What no owner of that sort was found for: processes beyond the scan's rows, or without a name. */
static int put_rest(struct recorder *r, const char *by, double share_known, struct error *err)
{
    const struct owner rest = {.kind = "", .processes = -1, .reductions_per_s = NAN,
                               .share = share_known < 1 ? 1 - share_known : 0,
                               .memory_bytes = NAN, .message_queue_len = NAN};
    return put_owner(r, by, &rest, err);
}

static int put_sort(struct recorder *r, const char *by, const struct proc_scan *scan,
                    struct slice (*name_of)(const struct proc_row *), struct error *err)
{
    struct owner *owners = NULL, *o, *next;
    struct arena arena;
    double known = 0;
    bool any = false; /* at the first tick there are no shares */
    int rc = 0;
    arena_init(&arena);
    for (size_t i = 0; i < scan->n_rows; i++) {
        struct slice name = name_of(&scan->rows[i]);
        any = any || !isnan(scan->rows[i].reductions_share);
        if (!scan->rows[i].own && name.len > 0)
            add_to(&owners, &arena, name, &scan->rows[i]);
    }
    HASH_ITER(hh, owners, o, next) {
        if (rc == 0 && o->share >= LEAST_SHARE) {
            known += o->share;
            rc = put_owner(r, by, o, err);
        }
        HASH_DEL(owners, o);
    }
    if (rc == 0 && any)
        rc = put_rest(r, by, known, err);
    arena_clear(&arena);
    return rc;
}

/* Applications are counted over all processes where the node was asked for them. */
static int put_apps(struct recorder *r, const struct apps_detail *apps, struct error *err)
{
    double known = 0;
    bool any = false;
    for (size_t i = 0; i < apps->n_rows; i++) {
        const struct app_row *a = &apps->rows[i];
        const struct owner o = {.name = a->name, .kind = "", .processes = a->processes,
                                .reductions_per_s = a->reductions_per_s,
                                .share = a->reductions_share,
                                .memory_bytes = (double)a->memory_bytes,
                                .message_queue_len = (double)a->message_queue_len};
        any = any || !isnan(a->reductions_share);
        if (a->name.len == 0 || !(o.share >= LEAST_SHARE))
            continue;
        known += o.share;
        if (put_owner(r, "application", &o, err) != 0)
            return (int)err->code;
    }
    return any ? put_rest(r, "application", known, err) : 0;
}

int recorder_put_owners(struct recorder *r, const struct model *m, struct error *err)
{
    static const struct {
        const char *by;
        struct slice (*name_of)(const struct proc_row *);
    } sorts[] = {{"module", by_module}, {"name", by_name}, {"label", by_label}};
    const struct apps_detail *apps = model_apps(m);
    const struct proc_scan *scan = fresh_scan(r, m);
    if (apps && apps->mono_ns > r->last_mono_ns && put_apps(r, apps, err) != 0)
        return (int)err->code;
    if (!scan)
        return 0;
    if (!apps && put_sort(r, "application", scan, by_application, err) != 0)
        return (int)err->code;
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++)
        if (put_sort(r, sorts[i].by, scan, sorts[i].name_of, err) != 0)
            return (int)err->code;
    return 0;
}

/* ---- thinning */

static bool drop(struct recorder *r, const char *sql, int64_t upto, struct error *err)
{
    sqlite3_stmt *s = NULL;
    if (db_prepare(r->db, &s, sql, err) != 0)
        return false;
    sqlite3_bind_int64(s, 1, upto);
    bool some = db_run(r->db, s, err) == 0 && sqlite3_changes(r->db) > 0;
    sqlite3_finalize(s);
    return some;
}

/* Every second of the ticks that are left in the older half, whatever earlier thinning took. */
static const char thin_ticks[] =
    "DELETE FROM tick WHERE id IN (SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n"
    " FROM tick WHERE id <= ?) WHERE n % 2 = 0)";

bool recorder_thin(struct recorder *r, struct error *err)
{
    int64_t middle = db_int(r->db, "SELECT (min(tick) + max(tick)) / 2 FROM answer", 0);
    char sql[120];
    if (middle > 0)
        return drop(r, "DELETE FROM answer WHERE tick <= ?", middle, err);
    middle = db_int(r->db, "SELECT id FROM tick ORDER BY id LIMIT 1"
                           " OFFSET (SELECT count(*) / 2 FROM tick)", 0);
    bool some = drop(r, thin_ticks, middle, err);
    for (size_t i = 0; some && schema_tick_tables[i] && err->code == ERR_NONE; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s WHERE tick <= ? AND tick NOT IN (SELECT id FROM tick)",
                 schema_tick_tables[i]);
        (void)drop(r, sql, middle, err);
    }
    if (some)
        sqlite3_exec(r->db, "INSERT OR REPLACE INTO meta SELECT 'thinned', wall_us FROM tick"
                            " ORDER BY id DESC LIMIT 1", NULL, NULL, NULL);
    return some && err->code == ERR_NONE;
}
