#include "recording_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/check.h"
#include "beamtop/model/column.h"
#include "json.h"
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
    i->interval_s = (double)db_int(r->db, "SELECT value FROM meta WHERE key = 'interval_us'", 0) / 1e6;
    i->has_answers = db_int(r->db, "SELECT 1 FROM answer LIMIT 1", 0) == 1;
    i->has_processes = db_int(r->db, "SELECT 1 FROM process LIMIT 1", 0) == 1;
    i->has_calls = db_int(r->db, "SELECT 1 FROM call_window LIMIT 1", 0) == 1;
    i->has_windows = db_int(r->db, "SELECT 1 FROM call_window WHERE line NOT NULL LIMIT 1", 0) == 1;
    i->has_traces = db_int(r->db, "SELECT 1 FROM trace LIMIT 1", 0) == 1;
    i->values = db_int(r->db, "SELECT value FROM meta WHERE key = 'values'", 0) == 1;
    i->redacted = db_int(r->db, "SELECT value FROM meta WHERE key = 'redacted'", 0) == 1;
    i->thinned = db_int(r->db, "SELECT value FROM meta WHERE key = 'thinned'", -1) >= 0;
}

static struct recording *recording_new(void)
{
    struct recording *r = alloc_zero(1, sizeof *r);
    arena_init(&r->arena);
    arena_init(&r->result);
    buf_init(&r->term, 0);
    span_cache_clear(&r->cache);
    return r;
}

int recording_of_recorder(struct recording **out, struct recorder *w, struct error *err)
{
    struct recording *r = recording_new();
    r->db = w->db;
    r->shared = true;
    take_info(r);
    if (r->info.ticks == 0) {
        recording_close(r);
        return error_set(err, ERR_FORMAT, "nothing is recorded yet");
    }
    *out = r;
    return 0;
}

int recording_open(struct recording **out, const char *path, struct error *err)
{
    if (access(path, R_OK) != 0)
        return error_set(err, ERR_NOT_FOUND, "%s cannot be read: %s", path, strerror(errno));
    struct recording *r = recording_new();
    /* A file whose recorder was killed has its last ticks beside it, which only a writer may take in. */
    int modes[] = {SQLITE_OPEN_READWRITE, SQLITE_OPEN_READONLY};
    int rc = SQLITE_ERROR;
    for (size_t i = 0; i < ARRAY_LEN(modes) && rc != SQLITE_OK; i++) {
        sqlite3_close(r->db);
        rc = sqlite3_open_v2(path, &r->db, modes[i] | SQLITE_OPEN_NOMUTEX, NULL);
    }
    /* Another program that closes the file has it to itself for a moment. */
    sqlite3_busy_timeout(r->db, LIMIT_RECORDING_BUSY_MS);
    if (rc != SQLITE_OK)
        db_fail(r->db, err, path);
    else if (schema_check(r->db, path, err) == 0)
        take_info(r);
    if (err->code == ERR_NONE && r->info.ticks == 0)
        error_set(err, ERR_FORMAT, "%s has no tick: its recorder ended before the node had answered", path);
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
    if (!r->shared)
        sqlite3_close(r->db);
    arena_clear(&r->arena);
    arena_clear(&r->result);
    buf_clear(&r->term);
    span_cache_clear(&r->cache);
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
        ns = sqlite3_column_int64(s, 0);
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
        v = sqlite3_column_int64(s, 0);
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
        v = sqlite3_column_double(s, 0);
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

size_t recording_marks(struct recording *r, const struct recording_mark **out)
{
    sqlite3_stmt *s = NULL;
    struct error ignored = {.code = ERR_NONE};
    size_t n = 0;
    int64_t most = db_int(r->db, "SELECT count(*) FROM mark", 0);
    arena_reset(&r->result);
    struct recording_mark *marks = arena_alloc(&r->result, ((size_t)most + 1) * sizeof *marks);
    *out = marks;
    if (db_prepare(r->db, &s, "SELECT coalesce(wall_us, here_us), text FROM mark ORDER BY 1", &ignored) != 0)
        return 0;
    while (n < (size_t)most && sqlite3_step(s) == SQLITE_ROW) {
        struct slice text = db_column_text(s, 1);
        marks[n++] = (struct recording_mark){sqlite3_column_int64(s, 0),
                                             arena_strndup(&r->result, text.s, text.len)};
    }
    sqlite3_finalize(s);
    return n;
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
    int64_t bytes = sqlite3_column_int64(s, 2);
    const void *blob = sqlite3_column_blob(s, 3);
    uLongf size = (uLongf)bytes;
    if (bytes <= 0 || bytes > (int64_t)LIMIT_RECORDED_TERM_BYTES || !blob)
        return error_set(err, ERR_FORMAT, "an answer of the recording has a size it cannot have");
    uint8_t *term = alloc_zero((size_t)bytes, 1);
    int rc = uncompress(term, &size, blob, (uLong)sqlite3_column_bytes(s, 3));
    buf_reset(&r->term);
    if (rc == Z_OK)
        buf_put(&r->term, term, size);
    free(term);
    size_t used = 0;
    struct error bad = {.code = ERR_NONE};
    if (rc != Z_OK || etf_check_bare(r->term.data, r->term.len, &used, &bad) != 0 ||
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
