/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What waits for its tick: kept when it comes, written with the tick's transaction. */
#include "recorder_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/model/column.h"
#include "beamtop/output/calls_sink.h"
#include "beamtop/output/json.h"

void *recorder_add(struct recorder *r, enum recording_table table, const void *row)
{
    const struct recording_columns *t = &recording_tables[table];
    struct pending *p = arena_alloc(&r->arena, sizeof *p);
    p->table = table;
    p->row = arena_alloc(&r->arena, t->row_bytes);
    memcpy(p->row, row, t->row_bytes);
    for (size_t i = 0; i < t->n; i++) {
        struct slice *text = (struct slice *)(void *)((char *)p->row + t->columns[i].at);
        if (t->columns[i].form == FORM_SLICE)
            *text = slice_keep(&r->arena, *text);
    }
    *r->last = p;
    r->last = &p->next;
    return p->row;
}

/* By name, in the order in which the rows have them: the order of an enum may change. */
static json_t *item_names(uint32_t items)
{
    json_t *names = json_array();
    for (int i = 0; i < PROC_ITEMS; i++)
        if ((items >> i) & 1)
            json_array_append_new(names, json_string(proc_item_name((enum proc_item)i)));
    return names;
}

/* Both are the caller's to free. */
static char *asked_text(const struct want_scan *asked)
{
    json_t *o = json_pack("{s:s,s:b,s:b,s:i,s:o,s:b,s:b}", "sort",
                          asked->sort_key ? asked->sort_key : "", "by_delta", asked->by_delta,
                          "ascending", asked->ascending, "rows", asked->rows, "items",
                          item_names(asked->items), "own", asked->own, "filtered", asked->filtered);
    char *text = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return text;
}

static struct slice deflate_bytes(const void *bytes, size_t len)
{
    uLongf size = compressBound((uLong)len);
    uint8_t *out = alloc_zero(size, 1);
    int rc = compress2(out, &size, bytes, (uLong)len, Z_BEST_SPEED + 2);
    assert(rc == Z_OK); /* the room is the bound's */
    (void)rc;
    return (struct slice){(const char *)out, size};
}

static void keep_answer(struct recorder *r, const char *question, const uint8_t *term, size_t len,
                        const struct want_scan *asked)
{
    char *text = asked ? asked_text(asked) : NULL;
    const struct note_row row = {.key = slice_of(question),
                                 .text = slice_of(text ? text : ""),
                                 .bytes = (int64_t)len,
                                 .blob = deflate_bytes(term, len)};
    (void)recorder_add(r, TABLE_ANSWER, &row);
    free((void *)(uintptr_t)row.blob.s);
    free(text);
}

void recorder_answer(struct recorder *r, const char *question, const uint8_t *term, size_t len,
                     const struct want_scan *asked)
{
    const bool hides = !r->options.values && strcmp(question, question_name(QUESTION_TERMS)) == 0;
    if (r->ended || r->recent)
        return;
    if (!hides) {
        keep_answer(r, question, term, len, asked);
        return;
    }
    struct builder *hidden = recorder_hide_atoms(term, len);
    size_t all = 0;
    const uint8_t *bytes = hidden ? builder_bytes(hidden, &all) : NULL;
    if (bytes) /* without the version byte, as the others are */
        keep_answer(r, question, bytes + 1, all - 1, asked);
    builder_free(hidden);
}

void recorder_fact(struct recorder *r, const char *key, const char *json)
{
    struct known_fact *f = r->facts;
    while (f && strcmp(f->key, key) != 0)
        f = f->next;
    if (r->ended || (f && strcmp(f->json, json) == 0))
        return;
    if (!f) {
        f = arena_alloc(&r->kept, sizeof *f);
        f->key = arena_strdup(&r->kept, key);
        f->next = r->facts;
        r->facts = f;
    }
    free(f->json);
    f->json = alloc_strdup(json);
    const struct note_row row = {.key = slice_of(key), .text = slice_of(json)};
    (void)recorder_add(r, TABLE_FACT, &row);
}

void recorder_mark(struct recorder *r, int64_t here_us, int64_t wall_us, const char *text)
{
    const struct note_row row = {.here_us = here_us, .wall_us = wall_us, .text = slice_of(text)};
    if (!r->ended && !r->recent)
        (void)recorder_add(r, TABLE_MARK, &row);
}

void recorder_gap(struct recorder *r, int64_t here_us, const char *why)
{
    const struct note_row row = {.here_us = here_us, .text = slice_of(why)};
    if (r->ended)
        return;
    if (!r->recent)
        (void)recorder_add(r, TABLE_GAP, &row);
    r->last_mono_ns = 0;
}

void recorder_calls(struct recorder *r, const struct calls_window *w, bool whole)
{
    struct window_row row = {.ns = (int64_t)w->interval_us * 1000, .bytes = -1, .of = *w};
    struct buf line;
    if (r->ended)
        return;
    buf_init(&line, 0);
    if (whole) {
        calls_json_put(&line, w, slice_of(r->options.node));
        row.line = deflate_bytes(line.data, line.len);
        row.bytes = (int64_t)line.len;
    }
    const struct window_row *window = recorder_add(r, TABLE_WINDOW, &row);
    for (size_t i = 0; i < w->n_rows; i++) {
        const struct call_row call = {.window = {.row = &window->id}, .of = w->rows[i]};
        (void)recorder_add(r, TABLE_CALL, &call);
    }
    free((void *)(uintptr_t)row.line.s);
    buf_clear(&line);
}

/* ---- written with a tick */

static void bind_slice(sqlite3_stmt *s, int at, const struct recording_column *c, struct slice v)
{
    const char *bytes = v.s ? v.s : "";
    if (v.len == 0 && column_may_be_null(c))
        sqlite3_bind_null(s, at);
    else if (strstr(c->sql, " BLOB"))
        sqlite3_bind_blob64(s, at, bytes, v.len, SQLITE_STATIC);
    else
        sqlite3_bind_text64(s, at, bytes, v.len, SQLITE_STATIC, SQLITE_UTF8);
}

/* Below 0: unknown. */
static void bind_int(sqlite3_stmt *s, int at, const struct recording_column *c, int64_t v)
{
    if (v < 0 && column_may_be_null(c))
        sqlite3_bind_null(s, at);
    else
        sqlite3_bind_int64(s, at, v);
}

/* The id of a text, made when it is new; of an empty one 0. */
static int bind_text_id(struct recorder *r, sqlite3_stmt *s, int at,
                        const struct recording_column *c, struct slice text, struct error *err)
{
    struct note_row row = {.text = text};
    int rc = text.len > 0 ? recorder_put(r, TABLE_TEXT, &row, err) : 0;
    bind_int(s, at, c, row.id > 0 || !column_may_be_null(c) ? row.id : -1);
    return rc;
}

static int bind_column(struct recorder *r, sqlite3_stmt *s, int at,
                       const struct recording_column *c, const void *v, struct error *err)
{
    switch (c->form) {
    case FORM_SLICE:
        if (column_is_id(c))
            return bind_text_id(r, s, at, c, *(const struct slice *)v, err);
        bind_slice(s, at, c, *(const struct slice *)v);
        break;
    case FORM_CHARS:
        bind_slice(s, at, c, slice_of(v));
        break;
    case FORM_INT:
    case FORM_COUNT: /* beyond what a file takes: unknown */
        bind_int(s, at, c, *(const int64_t *)v);
        break;
    case FORM_UINT:
        sqlite3_bind_int64(s, at, *(const unsigned *)v);
        break;
    case FORM_REAL:
        sqlite3_bind_double(s, at, *(const double *)v); /* NaN: NULL */
        break;
    case FORM_NS:
        sqlite3_bind_int64(s, at, *(const double *)v > 0 ? llround(*(const double *)v * 1e9) : 0);
        break;
    case FORM_BOOL:
        sqlite3_bind_int(s, at, *(const bool *)v);
        break;
    case FORM_RAW:
        if (*(const int64_t *)v != 0 || !column_may_be_null(c))
            sqlite3_bind_int64(s, at, *(const int64_t *)v);
        break;
    case FORM_REF:
        sqlite3_bind_int64(
            s, at, ((const struct row_ref *)v)->row ? *((const struct row_ref *)v)->row : 0);
        break;
    case FORM_TICK:
        sqlite3_bind_int64(s, at, r->ticks + 1);
        break;
    case FORM_LAST_TICK:
        sqlite3_bind_int64(s, at, r->ticks);
        break;
    case FORM_ID:
    case FORM_FIELDS:
        break;
    }
    return 0;
}

static void bind_field(sqlite3_stmt *s, int at, const struct field *f, const void *base)
{
    struct value v = field_value(f, base);
    if (v.kind == VALUE_BOOL)
        sqlite3_bind_int(s, at, v.boolean);
    else if (v.kind == VALUE_NUMBER && v.is_integer)
        sqlite3_bind_int64(s, at, v.integer);
    else if (v.kind == VALUE_NUMBER)
        sqlite3_bind_double(s, at, v.number);
}

static int bind_row(struct recorder *r, sqlite3_stmt *s, const struct recording_columns *t,
                    const void *row, struct error *err)
{
    int at = 0;
    for (size_t i = 0; i < t->n; i++) {
        const struct recording_column *c = &t->columns[i];
        const char *v = (const char *)row + c->at;
        for (size_t f = c->first; c->fields && f < c->fields->n; f++)
            bind_field(s, ++at, &c->fields->fields[f], v);
        if (!c->fields && c->form != FORM_ID && bind_column(r, s, ++at, c, v, err) != 0)
            return (int)err->code;
    }
    return 0;
}

/* Prepared at its first use. */
static sqlite3_stmt *prepare_once(struct recorder *r, sqlite3_stmt **s, enum recording_table table,
                                  void put(struct buf *sql, enum recording_table table),
                                  struct error *err)
{
    struct buf sql;
    if (*s)
        return *s;
    buf_init(&sql, 0);
    put(&sql, table);
    (void)db_prepare(r->db, s, buf_cstr(&sql), err);
    buf_clear(&sql);
    return *s;
}

/* 0: it is not there. */
static int64_t find_row(struct recorder *r, enum recording_table table, const void *row,
                        struct error *err)
{
    sqlite3_stmt *s = prepare_once(r, &r->stmts[table].find, table, tables_find, err);
    int64_t id = 0;
    if (s && bind_row(r, s, &recording_tables[table], row, err) == 0 &&
        sqlite3_step(s) == SQLITE_ROW)
        id = sqlite3_column_int64(s, 0);
    sqlite3_reset(s);
    return id;
}

int recorder_put(struct recorder *r, enum recording_table table, void *row, struct error *err)
{
    const struct recording_columns *t = &recording_tables[table];
    bool is_once = table == TABLE_TEXT || table == TABLE_SAMPLE_FRAME;
    if (err->code != ERR_NONE)
        return (int)err->code;
    int64_t id = is_once ? find_row(r, table, row, err) : 0;
    if (id == 0 && err->code == ERR_NONE) {
        sqlite3_stmt *s = prepare_once(
            r, &r->stmts[table].put, table,
            table == TABLE_TRACE_END || table == TABLE_EVENTS_END ? tables_update : tables_insert,
            err);
        if (!s || bind_row(r, s, t, row, err) != 0 || db_run(r->db, s, err) != 0)
            return (int)err->code;
        id = sqlite3_last_insert_rowid(r->db);
    }
    if (t->columns[0].form == FORM_ID)
        *(int64_t *)(void *)((char *)row + t->columns[0].at) = id;
    return (int)err->code;
}

void recorder_put_pending(struct recorder *r, const struct pending *p, struct error *err)
{
    if (r->recent && p->table == TABLE_FACT) {
        const struct note_row *row = p->row;
        recent_add_fact(r->recent, row->key, row->text);
        return;
    }
    if (recorder_put(r, p->table, p->row, err) == 0 && p->table == TABLE_SPAN_RUN)
        recorder_drop_spans(r, ((const struct span_run_row *)p->row)->id, err);
}
