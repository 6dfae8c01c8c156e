/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/check.h"
#include "beamtop/model/column.h"
#include "beamtop/output/json.h"
#include "recorder_internal.h"
#include "recording_schema.h"

/* ---- reading: what fails is kept until the next use begins, and nothing more is read in
 * this one */

static void fail_reading(struct recording *r, enum err code, const char *fmt, ...)
    ATTR_PRINTF(3, 4);
static void fail_reading(struct recording *r, enum err code, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    error_set(&r->failed, code, "%s%s%s", r->file.path ? r->file.path : "",
              r->file.path ? ": " : "", text);
}

void recording_refuse(struct recording *r, const char *why)
{
    if (r->failed.code == ERR_NONE)
        fail_reading(r, ERR_FORMAT, "%s", why);
}

static void fail_of_db(struct recording *r)
{
    struct error err = {0};
    if (r->file.overran)
        fail_reading(r, ERR_FORMAT,
                     "it cannot be read with the work that a recording of its size takes: it is "
                     "damaged, or made to do harm");
    else
        fail_reading(r, (enum err)db_fail(r->db, &err, "the recording cannot be read"), "%s",
                     err.text);
}

void recording_begin(struct recording *r)
{
    if (r->failed.code != ERR_NONE) { /* what is kept may lack rows */
        period_cache_clear(&r->cache);
        r->marks.is_known = false;
    }
    error_clear(&r->failed);
    recording_file_begin(&r->file);
}

int recording_failed(const struct recording *r, struct error *err)
{
    return r->failed.code == ERR_NONE ? 0 : error_set(err, r->failed.code, "%s", r->failed.text);
}

sqlite3_stmt *recording_ask_text(struct recording *r, const char *sql, const int64_t *numbers,
                                 const char *text)
{
    sqlite3_stmt *s = NULL;
    if (r->failed.code != ERR_NONE || !r->db)
        return NULL;
    int rc = sqlite3_prepare_v2(r->db, sql, -1, &s, NULL);
    if (rc != SQLITE_OK &&
        rc != SQLITE_ERROR) /* that is a table or column that an earlier program did not make */
        fail_of_db(r);
    if (!s)
        return NULL;
    if (text)
        sqlite3_bind_text(s, sqlite3_bind_parameter_count(s), text, -1, SQLITE_STATIC);
    for (int i = sqlite3_bind_parameter_count(s) - (text != NULL); numbers && i > 0; i--)
        sqlite3_bind_int64(s, i, numbers[i - 1]);
    return s;
}

sqlite3_stmt *recording_ask(struct recording *r, const char *sql, const int64_t *numbers)
{
    return recording_ask_text(r, sql, numbers, NULL);
}

void recording_ask_again(sqlite3_stmt *s, const int64_t *numbers)
{
    sqlite3_reset(s);
    for (int i = sqlite3_bind_parameter_count(s); i > 0; i--)
        sqlite3_bind_int64(s, i, numbers[i - 1]);
}

sqlite3_stmt *recording_select(struct recording *r, enum recording_table table, const char *rest,
                               const int64_t *numbers)
{
    struct buf sql;
    buf_init(&sql, 0);
    tables_select(&sql, table);
    buf_puts(&sql, rest);
    sqlite3_stmt *s = recording_ask(r, buf_cstr(&sql), numbers);
    buf_clear(&sql);
    return s;
}

bool recording_row(struct recording *r, sqlite3_stmt *s)
{
    int rc = s && r->failed.code == ERR_NONE ? sqlite3_step(s) : SQLITE_DONE;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        fail_of_db(r);
    return rc == SQLITE_ROW;
}

int64_t recording_int(struct recording *r, const char *sql, int64_t arg, int64_t otherwise)
{
    sqlite3_stmt *s = recording_ask(r, sql, &arg);
    int64_t v = recording_row(r, s) ? db_column_clamped(s, 0, otherwise) : otherwise;
    sqlite3_finalize(s);
    return v;
}

bool recording_is_at(struct recording *r, struct file_state *state)
{
    struct file_state now = {r->recent ? recent_last(r->recent) : 0,
                             r->recent ? r->recent->first : 0};
    if (!r->recent) /* a recorder in memory writes only with a tick */
        now = (struct file_state){recording_int(r, "PRAGMA data_version", 0, -1),
                                  sqlite3_total_changes(r->db)};
    const bool is_at = now.version == state->version && now.changes == state->changes;
    *state = now;
    return is_at;
}

/* ---- open */

static const char *meta_text(struct recording *r, const char *key)
{
    sqlite3_stmt *s = recording_ask_text(r, "SELECT value FROM meta WHERE key = ?", NULL, key);
    const char *text = "";
    if (recording_row(r, s)) {
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
    i->ticks = recording_int(r, "SELECT max(id) FROM tick", 0, 0);
    i->first_us = recording_int(
        r, "SELECT wall_us FROM tick WHERE wall_us NOT NULL ORDER BY id LIMIT 1", 0, -1);
    i->last_us = recording_int(
        r, "SELECT wall_us FROM tick WHERE wall_us NOT NULL ORDER BY id DESC LIMIT 1", 0, -1);
    i->interval_s =
        fmax(0,
             (double)recording_int(r, "SELECT value FROM meta WHERE key = 'interval_us'", 0, 0)) /
        1e6;
    i->has_answers = recording_int(r, "SELECT 1 FROM answer LIMIT 1", 0, 0) == 1;
    i->has_processes = recording_int(r, "SELECT 1 FROM process LIMIT 1", 0, 0) == 1;
    i->has_calls = recording_int(r, "SELECT 1 FROM call_window LIMIT 1", 0, 0) == 1;
    i->has_windows =
        recording_int(r, "SELECT 1 FROM call_window WHERE line NOT NULL LIMIT 1", 0, 0) == 1;
    i->has_traces = recording_int(r, "SELECT 1 FROM trace LIMIT 1", 0, 0) == 1;
    i->has_samples = recording_int(r, "SELECT 1 FROM sample_run LIMIT 1", 0, 0) == 1;
    i->has_spans = recording_int(r, "SELECT 1 FROM span_run LIMIT 1", 0, 0) == 1;
    i->has_events = recording_int(r, "SELECT 1 FROM system_event_run LIMIT 1", 0, 0) == 1;
    i->values = recording_int(r, "SELECT value FROM meta WHERE key = 'values'", 0, 0) == 1;
    i->redacted = recording_int(r, "SELECT value FROM meta WHERE key = 'redacted'", 0, 0) == 1;
    i->thinned = recording_int(r, "SELECT value FROM meta WHERE key = 'thinned'", 0, -1) >= 0;
}

static void mark_cache_clear(struct mark_cache *c)
{
    buf_clear(&c->marks);
    arena_clear(&c->arena);
    *c = (struct mark_cache){0};
    arena_init(&c->arena);
}

static struct recording *recording_new(void)
{
    struct recording *r = alloc_zero(1, sizeof *r);
    r->file.fd = -1;
    arena_init(&r->arena);
    arena_init(&r->result);
    buf_init(&r->term, 0);
    period_cache_clear(&r->cache);
    arena_init(&r->marks.arena);
    return r;
}

int recording_of_recorder(struct recording **out, struct recorder *w, struct error *err)
{
    struct recording *r = recording_new();
    r->db = w->db;
    r->recent = w->recent;
    r->info = (struct recording_info){
        .node = "", .otp = "", .label = "", .end = "", .first_us = -1, .last_us = -1};
    if (r->db)
        take_info(r);
    if (r->recent) {
        r->info.ticks = recent_last(r->recent);
        r->info.interval_s = fmax(0, w->options.interval_s);
    }
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
    int64_t first = recording_int(r, "SELECT min(id) FROM tick", 0, 0);
    if (recording_failed(r, err) != 0)
        return (int)err->code;
    if (r->info.ticks == 0)
        return error_set(err, ERR_FORMAT,
                         "%s has no tick: its recorder ended before the node had answered", path);
    if (first < 1 || r->info.ticks > LIMIT_RECORDING_TICKS)
        return error_set(err, ERR_FORMAT, "%s is damaged: its ticks are numbered %lld to %lld",
                         path, (long long)first, (long long)r->info.ticks);
    return 0;
}

/* Of a large file only those who read all of it ask whether its pages are sound. */
static int check_pages(struct recording *r, struct error *err)
{
    return r->file.bytes > LIMIT_RECORDING_CHECKED_BYTES ? 0 : recording_check(r, err);
}

int recording_open(struct recording **out, const char *path, struct error *err)
{
    struct recording *r = recording_new();
    if (recording_file_open(&r->file, path, err) == 0) {
        r->db = r->file.db;
        if (schema_check(r->db, path, err) == 0 && check_pages(r, err) == 0) {
            recording_begin(r);
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
    period_cache_clear(&r->cache);
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
    if (r->is_checked)
        return 0;
    recording_begin(r);
    sqlite3_stmt *s = recording_ask(r, "PRAGMA quick_check(1)", NULL);
    if (recording_row(r, s)) {
        struct slice says = db_column_text(s, 0), line = last_line(&says);
        if (!slice_is(says, "ok"))
            fail_reading(r, ERR_FORMAT, "the recording is damaged (%.*s)", (int)line.len, line.s);
    }
    sqlite3_finalize(s);
    r->is_checked = recording_failed(r, err) == 0;
    return (int)err->code;
}

/* ---- ticks */

int64_t recording_tick_at(struct recording *r, int64_t wall_us)
{
    if (r->recent)
        return recent_tick_at(r->recent, wall_us);
    return recording_int(r, "SELECT id FROM tick WHERE wall_us <= ? ORDER BY wall_us DESC LIMIT 1",
                         wall_us, 0);
}

int64_t recording_tick_wall_us(struct recording *r, int64_t tick)
{
    const struct recent_tick *recent = r->recent ? recent_tick(r->recent, tick) : NULL;
    if (r->recent)
        return recent ? recent->wall_us : -1;
    return recording_int(r, "SELECT wall_us FROM tick WHERE id = ?", tick, -1);
}

int64_t recording_tick_mono_ns(struct recording *r, int64_t tick)
{
    sqlite3_stmt *s = recording_ask(r, "SELECT mono_ns FROM tick WHERE id = ?", &tick);
    int64_t ns = recording_row(r, s) ? db_column_signed(s, 0) : -1;
    sqlite3_finalize(s);
    return ns;
}

int64_t recording_tick_before(struct recording *r, int64_t tick)
{
    if (r->recent)
        return recent_tick(r->recent, tick - 1) ? tick - 1 : 0;
    return recording_int(r, "SELECT max(id) FROM tick WHERE id < ?", tick, 0);
}

int64_t recording_tick_after(struct recording *r, int64_t tick)
{
    if (r->recent)
        return recent_tick(r->recent, tick + 1) ? tick + 1 : 0;
    return recording_int(r, "SELECT min(id) FROM tick WHERE id > ?", tick, 0);
}

int64_t recording_last_answer(struct recording *r, const char *question, int64_t tick)
{
    /* Backwards over the ticks: it is mostly among the last few. */
    sqlite3_stmt *s = recording_ask_text(r,
                                         "SELECT tick FROM answer WHERE tick <= ? AND question = ?"
                                         " ORDER BY tick DESC LIMIT 1",
                                         &tick, question);
    int64_t v = recording_row(r, s) ? db_column_count(s, 0) : 0;
    sqlite3_finalize(s);
    return v;
}

int64_t recording_first_answers(struct recording *r)
{
    return recording_int(
        r, "SELECT tick FROM answer WHERE question <> 'node' ORDER BY tick LIMIT 1", 0, 0);
}

/* A monotonic clock that went back is another VM's, which began after the tick before. */
const char recording_period_sql[] =
    "SELECT sum(CASE WHEN mono_ns > mono0 THEN (mono_ns - mono0) / 1e9 ELSE max(here_us - here0, "
    "0) / 1e6 END)"
    " FROM (SELECT mono_ns, here_us, lag(mono_ns) OVER ticks AS mono0, lag(here_us) OVER ticks AS "
    "here0"
    " FROM tick WHERE id BETWEEN ? AND ? WINDOW ticks AS (ORDER BY id)) WHERE here0 NOT NULL";

double recording_of_period(struct recording *r, sqlite3_stmt *s, int64_t from, int64_t to)
{
    recording_ask_again(s, NUMBERS(from, to));
    if (!recording_row(r, s) || sqlite3_column_type(s, 0) == SQLITE_NULL)
        return 0;
    return db_column_real(s, 0);
}

/* The same, asked once; `unknown` where it cannot be asked for. */
static double of_period(struct recording *r, const char *sql, int64_t from, int64_t to,
                        double unknown)
{
    sqlite3_stmt *s = recording_ask(r, sql, NULL);
    double v = s ? recording_of_period(r, s, from, to) : unknown;
    sqlite3_finalize(s);
    return v;
}

double recording_period_s(struct recording *r, int64_t from, int64_t to)
{
    int64_t ignored;
    if (r->recent)
        return recent_period_s(r->recent, from, to, &ignored);
    return of_period(r, recording_period_sql, from, to, (double)NAN);
}

bool recording_restarted(struct recording *r, int64_t from, int64_t to)
{
    int64_t restarts;
    if (r->recent) {
        (void)recent_period_s(r->recent, from, to, &restarts);
        return restarts > 0;
    }
    return of_period(
               r,
               "SELECT count(*) FROM (SELECT mono_ns, lag(mono_ns) OVER (ORDER BY id) AS mono0"
               " FROM tick WHERE id BETWEEN ? AND ?) WHERE mono_ns < mono0",
               from, to, 0) > 0;
}

struct slice recording_keep(struct recording *r, struct slice text)
{
    return slice_keep(&r->result, text);
}

const char recording_text_sql[] = "SELECT text FROM text WHERE id = ?";

struct slice recording_text(struct recording *r, sqlite3_stmt *texts, int64_t id,
                            struct arena *arena)
{
    if (r->recent)
        return slice_keep(arena, recent_text(r->recent, id));
    recording_ask_again(texts, &id);
    bool there = id >= 0 && recording_row(r, texts);
    return there ? slice_keep(arena, db_column_text(texts, 0)) : (struct slice){"", 0};
}

bool recording_has(struct recording *r, const char *question)
{
    return recording_last_answer(r, question, INT64_MAX) > 0;
}

bool recording_gap_before(struct recording *r, int64_t tick)
{
    return recording_int(r, "SELECT 1 FROM gap WHERE from_tick = ?", tick - 1, -1) == 1;
}

int64_t recording_gaps(struct recording *r, int64_t from, int64_t to)
{
    return (int64_t)of_period(r, "SELECT count(*) FROM gap WHERE from_tick >= ? AND from_tick < ?",
                              from, to, 0);
}

static const char marks_sql[] =
    "SELECT wall, text, (SELECT id FROM tick WHERE wall_us <= wall ORDER BY wall_us DESC LIMIT 1)"
    " FROM (SELECT coalesce(wall_us, here_us) AS wall, text FROM mark) ORDER BY wall LIMIT ?";

static void read_marks(struct recording *r, struct mark_cache *c)
{
    sqlite3_stmt *s = recording_ask(r, marks_sql, NUMBERS(LIMIT_RECORDING_MARKS));
    while (recording_row(r, s)) {
        const struct recording_mark mark = {db_column_int(s, 0), db_column_count(s, 2),
                                            slice_keep(&c->arena, db_column_text(s, 1)).s};
        buf_put(&c->marks, &mark, sizeof mark);
    }
    sqlite3_finalize(s);
}

size_t recording_marks(struct recording *r, const struct recording_mark **out)
{
    struct mark_cache *c = &r->marks;
    struct file_state of = c->of;
    if (!recording_is_at(r, &of) || !c->is_known) {
        mark_cache_clear(c);
        read_marks(r, c);
        c->is_known = true;
        c->of = of;
    }
    *out = (const struct recording_mark *)(const void *)c->marks.data;
    return c->marks.len / sizeof **out;
}

/* ---- answers */

/* Versions 1 and 2 have a number instead of names, with a bit for each of these. */
/* clang-format off */
static const char *const early_items[] = {
    "id", "reductions", "message_queue_len", "memory", "total_heap_size", "heap_size", "stack_size",
    "status", "priority", "current_function", "links", "monitors", "monitored_by", "binary",
    "dictionary", "garbage_collection", "group_leader", "trap_exit", "message_queue_data",
    "suspending", "supervisor",
};
/* clang-format on */

static int refuse_items(struct recording *r, const char *name, struct error *err)
{
    return error_set(err, ERR_FORMAT,
                     "this beamtop cannot read the item “%.60s” of recorded processes. "
                     "Read the file with beamtop %.40s, which wrote it",
                     name ? name : "?", meta_text(r, "beamtop"));
}

/* What the rows have, in their order, which has to be ours. */
static int read_items(struct recording *r, const json_t *items, uint32_t *out, struct error *err)
{
    bool early = json_is_integer(items);
    json_int_t bits = early ? json_integer_value(items) : 0;
    size_t n = early ? ARRAY_LEN(early_items) : json_array_size(items);
    int last = -1;
    if (early && bits >> ARRAY_LEN(early_items) != 0)
        return refuse_items(r, NULL, err);
    for (size_t i = 0; i < n; i++) {
        const char *name = early ? early_items[i] : json_string_value(json_array_get(items, i));
        if (early && !((bits >> i) & 1))
            continue;
        int item = (int)proc_item_find(name ? name : "");
        if (item == PROC_ITEMS || item <= last)
            return refuse_items(r, name, err);
        *out |= UINT32_C(1) << item;
        last = item;
    }
    return 0;
}

/* How a scan was asked for. *has: the text is one that we wrote. */
static int read_asked(struct recording *r, struct slice text, struct want_scan *out, bool *has,
                      struct error *err)
{
    const char *sort = "";
    int by_delta = 0, ascending = 0, own = 0, filtered = 0;
    json_int_t rows = 0;
    json_t *items = NULL, *o = json_loadb(text.s, text.len, 0, NULL);
    *has = o && json_unpack(o, "{s:s,s:b,s:b,s:I,s:o,s:b,s:b}", "sort", &sort, "by_delta",
                            &by_delta, "ascending", &ascending, "rows", &rows, "items", &items,
                            "own", &own, "filtered", &filtered) == 0;
    const struct field *column = *has && *sort ? proc_column_find(sort) : NULL;
    *out = (struct want_scan){
        .sort_key = column ? column->key : NULL,
        .by_delta = by_delta,
        .ascending = ascending,
        .own = own,
        .filtered = filtered,
        .rows = rows > 0 && rows <= LIMIT_ROWS ? (int)rows : LIMIT_ROWS,
    };
    int rc = *has ? read_items(r, items, &out->items, err) : 0;
    json_decref(o);
    return rc;
}

static int inflate_term(struct recording *r, sqlite3_stmt *s, struct error *err)
{
    static const char what[] = "an answer of the recording";
    size_t used = 0;
    struct error bad = {0};
    int rc = db_column_inflate(s, 3, what, &r->term, err);
    if (rc == 0 &&
        (etf_check_bare(r->term.data, r->term.len, &used, &bad) != 0 || used != r->term.len))
        return error_set(err, ERR_FORMAT, "%s is damaged", what);
    return rc;
}

int recording_answers(struct recording *r, int64_t tick, recording_answer_fn *fn, void *arg,
                      struct error *err)
{
    sqlite3_stmt *s = recording_ask(r,
                                    "SELECT question, asked, bytes, term FROM answer WHERE tick = ?"
                                    " ORDER BY question <> 'node', question <> 'system'",
                                    &tick);
    int rc = 0;
    while (rc == 0 && recording_row(r, s)) {
        struct want_scan asked;
        bool has_asked = false;
        char question[32] = "";
        struct slice name = db_column_text(s, 0);
        if (name.len >= sizeof question)
            continue;
        memcpy(question, name.s, name.len);
        rc = read_asked(r, db_column_text(s, 1), &asked, &has_asked, err);
        if (rc == 0)
            rc = inflate_term(r, s, err);
        if (rc == 0)
            rc = fn(arg, question, r->term.data, r->term.len, has_asked ? &asked : NULL, err);
    }
    sqlite3_finalize(s);
    return rc == 0 ? recording_failed(r, err) : rc;
}
