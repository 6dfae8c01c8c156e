/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writer of recordings: a file from its making to its end, a tick at a time. */
#include <config.h>

#include "recorder_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/output/fields.h"
#include "recording_schema.h"

static int put_meta(struct recorder *r, const char *key, struct slice value, struct error *err)
{
    struct note_row row = {.key = slice_of(key), .text = value};
    return recorder_put(r, TABLE_META, &row, err);
}

static int put_meta_int(struct recorder *r, const char *key, int64_t value, struct error *err)
{
    struct note_row row = {.key = slice_of(key), .number = value};
    return recorder_put(r, TABLE_META_NUMBER, &row, err);
}

/* ---- open and close */

/* For who opens the file: what traces have put into it. */
static const char *note_of(const struct recorder_options *o)
{
    if (o->values && !o->redact)
        return "arguments, results and messages of traces are in this file as they were";
    return o->redact ? "of arguments, results and messages of traces this file has types and sizes"
                     : "this file has no arguments, results and messages of traces";
}

static int set_up(struct recorder *r, struct error *err)
{
    uint64_t most = r->options.max_bytes ? r->options.max_bytes : LIMIT_RECORDING_BYTES;
    char sql[160];
    if (db_exec(r->db,
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
                "PRAGMA auto_vacuum = INCREMENTAL;",
                err) != 0 ||
        schema_create(r->db, err) != 0)
        return (int)err->code;
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %lld",
             (long long)(most / (uint64_t)db_int(r->db, "PRAGMA page_size", 4096)));
    if (db_exec(r->db, sql, err) != 0)
        return (int)err->code;
    (void)put_meta(r, "format", slice_of(RECORDING_FORMAT), err);
    (void)put_meta(r, "beamtop", slice_of(PACKAGE_VERSION), err);
    (void)put_meta(r, "node", slice_of(r->options.node), err);
    (void)put_meta(r, "label", slice_of(r->options.label ? r->options.label : ""), err);
    (void)put_meta_int(r, "redacted", r->options.redact, err);
    (void)put_meta_int(r, "values", r->options.values, err);
    (void)put_meta(r, "note", slice_of(note_of(&r->options)), err);
    return put_meta_int(r, "interval_us", (int64_t)llround(r->options.interval_s * 1e6), err);
}

/* What lies beside it SQLite would write to, or play back: also through a link. */
static int check_nothing_beside(const char *path, struct error *err)
{
    static const char *const ends[] = {"-wal", "-shm", "-journal"};
    struct stat st;
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        char *name = alloc_printf("%s%s", path, ends[i]);
        bool there = lstat(name, &st) == 0;
        free(name);
        if (there)
            return error_set(err, ERR_USAGE, "%s%s exists: remove it, or choose another name", path,
                             ends[i]);
    }
    return 0;
}

/* A private file, for SQLite to fill: names and values of a production system go into it. */
static int make_file(const char *path, struct error *err)
{
    if (check_nothing_beside(path, err) != 0)
        return (int)err->code;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (errno == EEXIST)
        return error_set(err, ERR_USAGE,
                         "%s exists; a recording is never written over another file", path);
    return error_set_errno(err, errno, "%s", path);
}

static void open_db(struct recorder *r, const char *path, struct error *err)
{
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX; /* create: in memory */
    if (sqlite3_open_v2(path, &r->db, flags, NULL) != SQLITE_OK) {
        db_fail(r->db, err, path);
    } else {
        sqlite3_busy_timeout(r->db, LIMIT_RECORDER_BUSY_MS);
        set_up(r, err);
    }
}

int recorder_open(struct recorder **out, const char *path, const struct recorder_options *options,
                  struct error *err)
{
    bool in_memory = strcmp(path, ":memory:") == 0;
    if (!in_memory && make_file(path, err) != 0)
        return (int)err->code;
    struct recorder *r = alloc_zero(1, sizeof *r);
    r->options = *options;
    r->last = &r->first;
    arena_init(&r->arena);
    arena_init(&r->scratch);
    arena_init(&r->kept);
    if (in_memory)
        r->recent = recent_new();
    else
        open_db(r, path, err);
    if (err->code == ERR_NONE) {
        *out = r;
        return 0;
    }
    struct error ignored = {0};
    recorder_close(r, NULL, &ignored);
    unlink(path);
    return (int)err->code;
}

/* Ends what BEGIN began: all of it is written, or none where an error came. */
static int end_transaction(struct recorder *r, struct error *err)
{
    if (err->code != ERR_NONE || db_exec(r->db, "COMMIT", err) != 0)
        sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
    return (int)err->code;
}

/* What came after the last tick is that tick's, but for answers: it has its own. */
static int put_leftovers(struct recorder *r, struct error *err)
{
    if (r->ended || r->ticks == 0 || !r->first || r->recent)
        return 0;
    if (db_exec(r->db, "BEGIN IMMEDIATE", err) != 0)
        return (int)err->code;
    r->ticks--;
    for (const struct pending *p = r->first; p && err->code == ERR_NONE; p = p->next)
        if (p->table != TABLE_ANSWER)
            recorder_put_pending(r, p, err);
    r->ticks++;
    return end_transaction(r, err);
}

/* On a full disk there is no room to move it; nor while another program reads what is in it. */
static int check_moved(const char *path, const char *wal, struct error *err)
{
    struct stat st;
    if (!*wal || stat(wal, &st) != 0 || st.st_size == 0)
        return 0;
    return error_set(err, ERR_LIMIT,
                     "the last ticks of %s are in %s, which could not be moved into it: keep both "
                     "files together",
                     path, wal);
}

/* Closes the file, after which its -wal is gone, unless it could not be moved. */
static int close_file(struct recorder *r, bool moves, struct error *err)
{
    const char *name = sqlite3_db_filename(r->db, "main");
    char *path = alloc_strdup(name ? name : ""), *wal = alloc_printf("%s-wal", path);
    if (moves)
        sqlite3_exec(r->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    sqlite3_close(r->db);
    int rc = moves && *path ? check_moved(path, wal, err) : 0;
    free(path);
    free(wal);
    return rc;
}

int recorder_close(struct recorder *r, const char *why, struct error *err)
{
    int rc = 0;
    struct error second = {0};
    if (!r)
        return 0;
    if (why && r->db) {
        rc = put_leftovers(r, err);
        if (put_meta(r, "end", slice_of(why), &second) != 0 && rc == 0) {
            *err = second;
            rc = (int)second.code;
        }
    }
    for (int i = 0; i < TABLES; i++) {
        sqlite3_finalize(r->stmts[i].put);
        sqlite3_finalize(r->stmts[i].find);
    }
    error_clear(&second);
    if (r->db && close_file(r, why != NULL, &second) != 0) {
        if (rc != 0)
            error_clear(err); /* that the disk is full says who wrote the last tick */
        *err = second;
        rc = (int)second.code;
    }
    for (struct known_fact *f = r->facts; f; f = f->next)
        free(f->json);
    recent_free(r->recent);
    arena_clear(&r->arena);
    arena_clear(&r->scratch);
    arena_clear(&r->kept);
    free(r);
    return rc;
}

/* ---- a tick: one transaction */

static void put_tick_row(struct recorder *r, const struct system_sample *sample,
                         const struct tick_cost *cost, int64_t here_us, struct error *err)
{
    struct tick_row row = {.here_us = here_us,
                           .wall_us = -1,
                           .interval_us = (double)NAN,
                           .cost = {(double)NAN, (double)NAN, (double)NAN}};
    if (sample) {
        row.wall_us = sample->wall_us;
        row.mono_ns = (int64_t)(sample->mono_ns ^ (UINT64_C(1) << 63));
        row.interval_us = sample->interval_s * 1e6;
    }
    if (cost)
        row.cost = *cost;
    if (r->recent)
        recent_add_tick(r->recent, &row, sample);
    else
        (void)recorder_put(r, TABLE_TICK, &row, err);
}

/* What the node has reported of itself, and when it began. */
static void put_node(struct recorder *r, const struct model *m, int64_t here_us, struct error *err)
{
    const struct node_info *node = model_node(m);
    if (r->kept_node || !node)
        return;
    (void)put_meta(r, "otp", node->otp, err);
    r->kept_node = put_meta_int(r, "started_us", here_us, err) == 0;
}

static void put_all(struct recorder *r, const struct model *m, int64_t here_us, struct error *err)
{
    const struct system_sample *sample = model_system(m);
    bool is_new = sample && sample->mono_ns != r->last_mono_ns;
    put_tick_row(r, is_new ? sample : NULL, model_cost(m), here_us, err);
    if (is_new && !r->recent)
        (void)recorder_put(r, TABLE_SYSTEM, &(struct system_row){.sample = *sample}, err);
    if (!r->recent)
        put_node(r, m, here_us, err);
    recorder_put_processes(r, m, err);
    recorder_put_owners(r, m, err);
    for (const struct pending *p = r->first; p && err->code == ERR_NONE; p = p->next)
        recorder_put_pending(r, p, err);
    if (!r->recent)
        (void)put_meta_int(r, "ended_us", here_us, err);
}

/* Without SQLite as long as only what is recent comes. */
static int keep_tick(struct recorder *r, const struct model *m, int64_t here_us, struct error *err)
{
    const uint64_t most = r->options.max_bytes ? r->options.max_bytes : LIMIT_RECORDING_BYTES;
    for (const struct pending *p = r->first; p && !r->db && err->code == ERR_NONE; p = p->next)
        if (p->table != TABLE_FACT)
            open_db(r, ":memory:", err);
    if (err->code != ERR_NONE || (r->db && db_exec(r->db, "BEGIN", err) != 0))
        return (int)err->code;
    put_all(r, m, here_us, err);
    if (r->db)
        (void)end_transaction(r, err);
    if (err->code == ERR_NONE && recent_bytes(r->recent) > most)
        return error_set(err, ERR_LIMIT, "the ticks in memory are larger than %llu bytes",
                         (unsigned long long)most);
    return (int)err->code;
}

static int write_tick(struct recorder *r, const struct model *m, int64_t here_us, struct error *err)
{
    if (r->recent)
        return keep_tick(r, m, here_us, err);
    if (db_exec(r->db, "BEGIN IMMEDIATE", err) != 0)
        return (int)err->code;
    put_all(r, m, here_us, err);
    if (end_transaction(r, err) != 0)
        r->kept_node = r->kept_node && r->ticks > 0;
    return (int)err->code;
}

static int wait_for_next(struct recorder *r, int64_t here_us, struct error *err)
{
    if (r->locked_us == 0) {
        r->locked_us = here_us;
        recorder_gap(r, here_us, "the file was locked");
    }
    if (here_us - r->locked_us < LIMIT_RECORDER_LOCKED_S * INT64_C(1000000))
        return ERR_TIMEOUT;
    error_clear(err);
    return error_set(err, ERR_SYSTEM, "another program has kept the file locked for %d s",
                     LIMIT_RECORDER_LOCKED_S);
}

int recorder_tick(struct recorder *r, const struct model *m, int64_t here_us, struct error *err)
{
    if (r->ended)
        return error_set(err, ERR_USAGE, "the recording has ended");
    recorder_note(r, m);
    int rc = write_tick(r, m, here_us, err);
    while (rc == ERR_LIMIT && r->options.thin) {
        struct error thinning = {0};
        if (!recorder_thin(r, &thinning))
            break;
        error_clear(err);
        rc = write_tick(r, m, here_us, err);
    }
    if (rc == ERR_TIMEOUT && (rc = wait_for_next(r, here_us, err)) == ERR_TIMEOUT)
        return rc;
    if (rc == 0) {
        const struct system_sample *sample = model_system(m);
        r->locked_us = 0;
        r->last_mono_ns = sample ? sample->mono_ns : r->last_mono_ns;
        r->ticks++;
    }
    r->ended = rc != 0;
    arena_reset(&r->arena);
    r->first = NULL;
    r->last = &r->first;
    return rc;
}

int64_t recorder_ticks(const struct recorder *r)
{
    return r->ticks;
}

uint64_t recorder_bytes(const struct recorder *r)
{
    if (r->recent)
        return recent_bytes(r->recent);
    int64_t pages = db_int(r->db, "PRAGMA page_count", 0);
    return (uint64_t)(pages * db_int(r->db, "PRAGMA page_size", 4096));
}
