/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/check.h"
#include "beamtop/model/column.h"
#include "beamtop/output/json.h"
#include "recorder_internal.h"
#include "recording_schema.h"

/* ---- open */

static const char *meta_text(struct recording *r, const char *key)
{
    sqlite3_stmt *s = NULL;
    const char *text = "";
    struct error ignored = {.code = ERR_NONE};
    if (db_prepare(r->db, &s, "SELECT value FROM meta WHERE key = ?", &ignored) != 0)
        return text;
    sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW) {
        struct slice v = db_column_text(s, 0);
        text = arena_strndup(&r->arena, v.s, v.len);
    }
    sqlite3_finalize(s);
    return text;
}

static void take_info(struct recording *r)
{
    struct recording_info *i = &r->info;
    i->node = meta_text(r, "node");
    i->otp = meta_text(r, "otp");
    i->label = meta_text(r, "label");
    i->end = meta_text(r, "end");
    i->ticks = db_int(r->db, "SELECT max(id) FROM tick", 0);
    i->first_us = db_int(r->db, "SELECT wall_us FROM tick WHERE wall_us NOT NULL ORDER BY id LIMIT 1", -1);
    i->last_us = db_int(r->db, "SELECT wall_us FROM tick WHERE wall_us NOT NULL ORDER BY id DESC LIMIT 1", -1);
    i->interval_s = fmax(0, (double)db_int(r->db, "SELECT value FROM meta WHERE key = 'interval_us'", 0)) / 1e6;
    i->has_answers = db_int(r->db, "SELECT 1 FROM answer LIMIT 1", 0) == 1;
    i->has_processes = db_int(r->db, "SELECT 1 FROM process LIMIT 1", 0) == 1;
    i->has_calls = db_int(r->db, "SELECT 1 FROM call_window LIMIT 1", 0) == 1;
    i->has_windows = db_int(r->db, "SELECT 1 FROM call_window WHERE line NOT NULL LIMIT 1", 0) == 1;
    i->has_traces = db_int(r->db, "SELECT 1 FROM trace LIMIT 1", 0) == 1;
    i->values = db_int(r->db, "SELECT value FROM meta WHERE key = 'values'", 0) == 1;
    i->redacted = db_int(r->db, "SELECT value FROM meta WHERE key = 'redacted'", 0) == 1;
    i->thinned = db_int(r->db, "SELECT value FROM meta WHERE key = 'thinned'", -1) >= 0;
}

static void mark_cache_clear(struct mark_cache *c)
{
    free(c->marks);
    arena_clear(&c->arena);
    *c = (struct mark_cache){.is_known = false};
    arena_init(&c->arena);
}

static struct recording *recording_new(void)
{
    struct recording *r = alloc_zero(1, sizeof *r);
    r->file.fd = -1;
    arena_init(&r->arena);
    arena_init(&r->result);
    buf_init(&r->term, 0);
    span_cache_clear(&r->cache);
    arena_init(&r->marks.arena);
    return r;
}

int recording_of_recorder(struct recording **out, struct recorder *w, struct error *err)
{
    struct recording *r = recording_new();
    r->db = w->db;
    take_info(r);
    if (r->info.ticks == 0) {
        recording_close(r);
        return error_set(err, ERR_FORMAT, "nothing is recorded yet");
    }
    *out = r;
    return 0;
}

/* Numbers of ticks are counted with: a file may have any. */
static int check_ticks(struct recording *r, const char *path, struct error *err)
{
    int64_t first = db_int(r->db, "SELECT min(id) FROM tick", 0);
    if (r->file.overran)
        return error_set(err, ERR_FORMAT, "%s cannot be read with the work that a recording of its size "
                         "takes: it is damaged, or made to do harm", path);
    if (r->info.ticks == 0)
        return error_set(err, ERR_FORMAT, "%s has no tick: its recorder ended before the node had answered",
                         path);
    if (first < 1 || r->info.ticks > LIMIT_RECORDING_TICKS)
        return error_set(err, ERR_FORMAT, "%s is damaged: its ticks are numbered %lld to %lld", path,
                         (long long)first, (long long)r->info.ticks);
    return 0;
}

/* Of a large file only those who read all of it ask whether its pages are sound. */
static int check_pages(struct recording *r, const char *path, struct error *err)
{
    if (r->file.bytes > LIMIT_RECORDING_CHECKED_BYTES || recording_check(r, err) == 0)
        return 0;
    error_context(err, "%s", path);
    return (int)err->code;
}

int recording_open(struct recording **out, const char *path, struct error *err)
{
    struct recording *r = recording_new();
    if (recording_file_open(&r->file, path, err) == 0) {
        r->db = r->file.db;
        if (schema_check(r->db, path, err) == 0 && check_pages(r, path, err) == 0) {
            take_info(r);
            (void)check_ticks(r, path, err);
        }
    }
    if (err->code == ERR_NONE) {
        *out = r;
        return 0;
    }
    recording_close(r);
    return (int)err->code;
}

void recording_close(struct recording *r)
{
    if (!r)
        return;
    recording_file_close(&r->file);
    arena_clear(&r->arena);
    arena_clear(&r->result);
    buf_clear(&r->term);
    span_cache_clear(&r->cache);
    mark_cache_clear(&r->marks);
    free(r);
}

const struct recording_info *recording_info(const struct recording *r)
{
    return &r->info;
}

/* Of what SQLite says of a file: the first line only names it. */
static struct slice last_line(const struct slice *text)
{
    size_t at = text->len;
    while (at > 0 && text->s[at - 1] != '\n')
        at--;
    return (struct slice){text->s + at, text->len - at};
}

int recording_check(struct recording *r, struct error *err)
{
    sqlite3_stmt *s = NULL;
    if (r->is_checked)
        return 0;
    if (db_prepare(r->db, &s, "PRAGMA quick_check(1)", err) != 0)
        return (int)err->code;
    int rc = sqlite3_step(s);
    struct slice says = rc == SQLITE_ROW ? db_column_text(s, 0) : (struct slice){"", 0};
    if (rc != SQLITE_ROW)
        (void)db_fail(r->db, err, "the recording is damaged");
    else if (says.len != 2 || memcmp(says.s, "ok", 2) != 0)
        error_set(err, ERR_FORMAT, "the recording is damaged (%.*s)", (int)last_line(&says).len,
                  last_line(&says).s);
    sqlite3_finalize(s);
    r->is_checked = err->code == ERR_NONE;
    return (int)err->code;
}

/* ---- ticks */

int64_t recording_tick_at(struct recording *r, int64_t wall_us)
{
    return db_int_of(r->db,
                     "SELECT id FROM tick WHERE wall_us <= ? ORDER BY wall_us DESC LIMIT 1", wall_us,
                     0);
}

int64_t recording_tick_wall_us(struct recording *r, int64_t tick)
{
    return db_int_of(r->db, "SELECT wall_us FROM tick WHERE id = ?", tick, -1);
}

int64_t recording_tick_mono_ns(struct recording *r, int64_t tick)
{
    int64_t ns = -1;
    sqlite3_stmt *s = NULL;
    struct error ignored = {.code = ERR_NONE};
    if (db_prepare(r->db, &s, "SELECT mono_ns FROM tick WHERE id = ?", &ignored) != 0)
        return -1;
    sqlite3_bind_int64(s, 1, tick);
    if (sqlite3_step(s) == SQLITE_ROW)
        ns = db_column_signed(s, 0);
    sqlite3_finalize(s);
    return ns;
}

int64_t recording_tick_before(struct recording *r, int64_t tick)
{
    return db_int_of(r->db, "SELECT max(id) FROM tick WHERE id < ?", tick, 0);
}

int64_t recording_tick_after(struct recording *r, int64_t tick)
{
    return db_int_of(r->db, "SELECT min(id) FROM tick WHERE id > ?", tick, 0);
}

int64_t recording_last_answer(struct recording *r, const char *question, int64_t tick)
{
    sqlite3_stmt *s = NULL;
    struct error ignored = {.code = ERR_NONE};
    int64_t v = 0;
    /* Backwards over the ticks: it is mostly among the last few. */
    if (db_prepare(r->db, &s, "SELECT tick FROM answer WHERE tick <= ? AND question = ?"
                              " ORDER BY tick DESC LIMIT 1", &ignored) != 0)
        return 0;
    sqlite3_bind_int64(s, 1, tick);
    sqlite3_bind_text(s, 2, question, -1, SQLITE_STATIC);
    if (sqlite3_step(s) == SQLITE_ROW)
        v = db_column_count(s, 0);
    sqlite3_finalize(s);
    return v;
}

int64_t recording_first_answers(struct recording *r)
{
    return db_int(r->db, "SELECT tick FROM answer WHERE question <> 'node' ORDER BY tick LIMIT 1", 0);
}

/* A monotonic clock that went back is another VM's, which began after the tick before. */
static const char span_sql[] =
    "SELECT sum(CASE WHEN mono_ns > mono0 THEN (mono_ns - mono0) / 1e9 ELSE max(here_us - here0, 0) / 1e6 END)"
    " FROM (SELECT mono_ns, here_us, lag(mono_ns) OVER ticks AS mono0, lag(here_us) OVER ticks AS here0"
    " FROM tick WHERE id BETWEEN ? AND ? WINDOW ticks AS (ORDER BY id)) WHERE here0 NOT NULL";

/* One number of the ticks of a span; `unknown` where it cannot be asked for, 0 where there is none. */
static double of_span(struct recording *r, const char *sql, int64_t from, int64_t to, double unknown)
{
    sqlite3_stmt *s = NULL;
    struct error ignored = {.code = ERR_NONE};
    double v = 0;
    if (db_prepare(r->db, &s, sql, &ignored) != 0)
        return unknown;
    sqlite3_bind_int64(s, 1, from);
    sqlite3_bind_int64(s, 2, to);
    if (sqlite3_step(s) == SQLITE_ROW)
        v = sqlite3_column_type(s, 0) == SQLITE_NULL ? 0 : db_column_real(s, 0);
    sqlite3_finalize(s);
    return v;
}

double recording_span_s(struct recording *r, int64_t from, int64_t to)
{
    return of_span(r, span_sql, from, to, (double)NAN);
}

struct slice recording_keep(struct recording *r, struct slice text)
{
    return slice_keep(&r->result, text);
}

const void *recording_keep_rows(struct recording *r, void *rows, size_t bytes)
{
    void *kept = arena_alloc(&r->result, bytes + 1);
    if (bytes > 0)
        memcpy(kept, rows, bytes);
    free(rows);
    return kept;
}

bool recording_has(struct recording *r, const char *question)
{
    return recording_last_answer(r, question, INT64_MAX) > 0;
}

bool recording_gap_before(struct recording *r, int64_t tick)
{
    return db_int_of(r->db, "SELECT 1 FROM gap WHERE from_tick = ?", tick - 1, -1) == 1;
}

int64_t recording_gaps(struct recording *r, int64_t from, int64_t to)
{
    return (int64_t)of_span(r, "SELECT count(*) FROM gap WHERE from_tick >= ? AND from_tick < ?", from, to, 0);
}

static const char marks_sql[] =
    "SELECT wall, text, (SELECT id FROM tick WHERE wall_us <= wall ORDER BY wall_us DESC LIMIT 1)"
    " FROM (SELECT coalesce(wall_us, here_us) AS wall, text FROM mark) ORDER BY wall LIMIT ?";

static void read_marks(struct recording *r, struct mark_cache *c)
{
    sqlite3_stmt *s = NULL;
    struct error ignored = {.code = ERR_NONE};
    size_t cap = 0;
    if (db_prepare(r->db, &s, marks_sql, &ignored) != 0)
        return;
    sqlite3_bind_int64(s, 1, LIMIT_RECORDING_MARKS);
    while (sqlite3_step(s) == SQLITE_ROW) {
        struct slice text = db_column_text(s, 1);
        if (c->n == cap) {
            cap = cap > 0 ? cap * 2 : 64;
            c->marks = alloc_resize(c->marks, cap, sizeof *c->marks);
        }
        c->marks[c->n++] = (struct recording_mark){
            db_column_int(s, 0), db_column_count(s, 2), arena_strndup(&c->arena, text.s, text.len)};
    }
    sqlite3_finalize(s);
}

size_t recording_marks(struct recording *r, const struct recording_mark **out)
{
    struct mark_cache *c = &r->marks;
    int64_t version = db_int(r->db, "PRAGMA data_version", -1);
    int64_t changes = sqlite3_total_changes(r->db);
    if (!c->is_known || c->version != version || c->changes != changes) {
        mark_cache_clear(c);
        read_marks(r, c);
        c->is_known = true;
        c->version = version;
        c->changes = changes;
    }
    *out = c->marks;
    return c->n;
}

/* ---- answers */

/* How a scan was asked for; false: the text is none that we wrote. */
static bool read_asked(struct slice text, struct want_scan *out)
{
    const char *sort = "";
    int by_delta = 0, ascending = 0, own = 0, filtered = 0;
    json_int_t rows = 0, items = 0;
    json_t *o = json_loadb(text.s, text.len, 0, NULL);
    bool ok = o && json_unpack(o, "{s:s,s:b,s:b,s:I,s:I,s:b,s:b}", "sort", &sort, "by_delta",
                               &by_delta, "ascending", &ascending, "rows", &rows, "items", &items,
                               "own", &own, "filtered", &filtered) == 0;
    memset(out, 0, sizeof *out);
    const struct proc_column *column = ok && *sort ? proc_column_find(sort) : NULL;
    out->sort_key = column ? column->key : NULL;
    out->by_delta = by_delta;
    out->ascending = ascending;
    out->own = own;
    out->filtered = filtered;
    out->rows = rows > 0 && rows <= LIMIT_ROWS ? (int)rows : LIMIT_ROWS;
    out->items = (uint32_t)items;
    json_decref(o);
    return ok;
}

static int inflate_term(struct recording *r, sqlite3_stmt *s, struct error *err)
{
    size_t used = 0;
    struct error bad = {.code = ERR_NONE};
    int rc = db_column_inflate(s, 3, db_column_int(s, 2), &r->term);
    if (rc == ERR_LIMIT)
        return error_set(err, ERR_FORMAT, "an answer of the recording has a size it cannot have");
    if (rc != 0 || etf_check_bare(r->term.data, r->term.len, &used, &bad) != 0 ||
        used != r->term.len)
        return error_set(err, ERR_FORMAT, "an answer of the recording is damaged");
    return 0;
}

int recording_answers(struct recording *r, int64_t tick, recording_answer_fn *fn, void *arg,
                      struct error *err)
{
    sqlite3_stmt *s = NULL;
    if (db_prepare(r->db, &s, "SELECT question, asked, bytes, term FROM answer WHERE tick = ?"
                              " ORDER BY question <> 'node', question <> 'system'", err) != 0)
        return (int)err->code;
    sqlite3_bind_int64(s, 1, tick);
    int rc = 0;
    while (rc == 0 && sqlite3_step(s) == SQLITE_ROW) {
        struct want_scan asked;
        bool has_asked = read_asked(db_column_text(s, 1), &asked);
        char question[32] = "";
        struct slice name = db_column_text(s, 0);
        if (name.len >= sizeof question)
            continue;
        memcpy(question, name.s, name.len);
        rc = inflate_term(r, s, err);
        if (rc == 0)
            rc = fn(arg, question, r->term.data, r->term.len, has_asked ? &asked : NULL, err);
    }
    sqlite3_finalize(s);
    return rc;
}
