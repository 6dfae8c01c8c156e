/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What waits for its tick: kept when it comes, written with the tick's transaction. */
#include "recorder_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/buf.h"
#include "beamtop/model/column.h"
#include "beamtop/output/calls_fields.h"
#include "beamtop/output/json.h"

static struct slice keep(struct recorder *r, const char *s, size_t len)
{
    return (struct slice){arena_strndup(&r->arena, s, len), len};
}

struct pending *recorder_add(struct recorder *r, enum statement what)
{
    struct pending *p = arena_alloc(&r->arena, sizeof *p);
    p->what = what;
    p->here_us = p->wall_us = -1;
    *r->last = p;
    r->last = &p->next;
    return p;
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

static char *asked_text(struct recorder *r, const struct want_scan *asked)
{
    json_t *o = json_pack("{s:s,s:b,s:b,s:i,s:o,s:b,s:b}", "sort",
                          asked->sort_key ? asked->sort_key : "", "by_delta", asked->by_delta,
                          "ascending", asked->ascending, "rows", asked->rows, "items",
                          item_names(asked->items), "own", asked->own, "filtered", asked->filtered);
    char *text = json_dumps(o, JSON_COMPACT);
    char *kept = arena_strdup(&r->arena, text);
    free(text);
    json_decref(o);
    return kept;
}

/* Kept in the arena. */
static struct slice deflated(struct recorder *r, const void *bytes, size_t len)
{
    uLongf size = compressBound((uLong)len);
    uint8_t *out = alloc_zero(size, 1);
    int rc = compress2(out, &size, bytes, (uLong)len, Z_BEST_SPEED + 2);
    assert(rc == Z_OK); /* the room is the bound's */
    (void)rc;
    struct slice kept = keep(r, (const char *)out, size);
    free(out);
    return kept;
}

void recorder_answer(struct recorder *r, const char *question, const uint8_t *term, size_t len,
                     const struct want_scan *asked)
{
    if (r->ended)
        return;
    struct pending *p = recorder_add(r, STMT_ANSWER);
    p->key = keep(r, question, strlen(question));
    p->blob = deflated(r, term, len);
    p->bytes = (int64_t)len;
    if (asked) {
        const char *text = asked_text(r, asked);
        p->text = slice_of(text);
    }
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
    struct pending *p = recorder_add(r, STMT_FACT);
    p->key = keep(r, key, strlen(key));
    p->text = keep(r, json, strlen(json));
}

void recorder_mark(struct recorder *r, int64_t here_us, int64_t wall_us, const char *text)
{
    if (r->ended)
        return;
    struct pending *p = recorder_add(r, STMT_MARK);
    p->here_us = here_us;
    p->wall_us = wall_us;
    p->text = keep(r, text, strlen(text));
}

void recorder_gap(struct recorder *r, int64_t here_us, const char *why)
{
    if (r->ended)
        return;
    struct pending *p = recorder_add(r, STMT_GAP);
    p->here_us = here_us;
    p->text = keep(r, why, strlen(why));
    r->last_mono_ns = 0;
}

void recorder_window(struct recorder *r, const struct recorded_window *w)
{
    if (r->ended)
        return;
    struct pending *p = recorder_add(r, STMT_WINDOW);
    struct recorded_call *top = arena_alloc(&r->arena, (w->n_top + 1) * sizeof *top);
    for (size_t i = 0; i < w->n_top; i++) {
        top[i] = w->top[i];
        top[i].module = keep(r, top[i].module.s, top[i].module.len);
        top[i].function = keep(r, top[i].function.s, top[i].function.len);
    }
    p->window = *w;
    p->window.top = top;
    if (!w->whole)
        return;
    struct buf line;
    buf_init(&line, 0);
    calls_json_put(&line, w->whole, slice_of(r->options.node));
    p->bytes = (int64_t)line.len;
    p->blob = deflated(r, line.data, line.len);
    buf_clear(&line);
}

static int64_t known(uint64_t v)
{
    return v == CALLS_UNKNOWN || v > INT64_MAX ? -1 : (int64_t)v;
}

void recorder_calls(struct recorder *r, const struct calls_window *w, bool whole)
{
    struct recorded_call *top = alloc_zero(w->n_rows + 1, sizeof *top);
    for (size_t i = 0; i < w->n_rows; i++) {
        const struct calls_function *f = &w->rows[i];
        top[i] = (struct recorded_call){.module = f->module,
                                        .function = f->function,
                                        .arity = (int64_t)f->arity,
                                        .calls = known(f->calls),
                                        .own_us = known(f->own_us),
                                        .words = known(f->words),
                                        .share = f->share};
    }
    const struct recorded_window window = {.wall_us = w->wall_us,
                                           .ns = (int64_t)w->interval_us * 1000,
                                           .functions = known(w->functions),
                                           .calls = known(w->calls),
                                           .lost = known(w->lost),
                                           .calls_per_s = w->calls_per_s,
                                           .top = top,
                                           .n_top = w->n_rows,
                                           .whole = whole ? w : NULL};
    recorder_window(r, &window);
    free(top);
}

/* ---- written with a tick */

static int put_window(struct recorder *r, const struct pending *p, struct error *err)
{
    const struct recorded_window *w = &p->window;
    sqlite3_stmt *s = r->stmts[STMT_WINDOW], *call = r->stmts[STMT_CALL];
    sqlite3_bind_int64(s, 1, r->ticks + 1);
    db_bind_int(s, 2, w->wall_us);
    db_bind_int(s, 3, w->ns);
    db_bind_int(s, 4, w->functions);
    db_bind_int(s, 5, w->calls);
    db_bind_real(s, 6, w->calls_per_s);
    db_bind_int(s, 7, w->lost);
    if (p->blob.len > 0) {
        sqlite3_bind_int64(s, 8, p->bytes);
        sqlite3_bind_blob64(s, 9, p->blob.s, p->blob.len, SQLITE_STATIC);
    }
    int rc = db_run(r->db, s, err);
    int64_t id = sqlite3_last_insert_rowid(r->db);
    for (size_t i = 0; rc == 0 && i < w->n_top; i++) {
        const struct recorded_call *c = &w->top[i];
        sqlite3_bind_int64(call, 1, id);
        if (recorder_bind_text(r, call, 2, c->module, err) != 0 ||
            recorder_bind_text(r, call, 3, c->function, err) != 0)
            return (int)err->code;
        sqlite3_bind_int64(call, 4, c->arity);
        db_bind_int(call, 5, c->calls);
        db_bind_real(call, 6, c->share);
        db_bind_int(call, 7, c->own_us);
        db_bind_int(call, 8, c->words);
        rc = db_run(r->db, call, err);
    }
    return rc;
}

int recorder_put(struct recorder *r, const struct pending *p, struct error *err)
{
    sqlite3_stmt *s = r->stmts[p->what];
    int64_t tick = r->ticks + 1;
    switch (p->what) {
    case STMT_WINDOW:
        return put_window(r, p, err);
    case STMT_ANSWER:
        sqlite3_bind_int64(s, 1, tick);
        db_bind_text(s, 2, p->key);
        db_bind_text(s, 3, p->text);
        sqlite3_bind_int64(s, 4, p->bytes);
        sqlite3_bind_blob64(s, 5, p->blob.s, p->blob.len, SQLITE_STATIC);
        break;
    case STMT_FACT:
        sqlite3_bind_int64(s, 1, tick);
        db_bind_text(s, 2, p->key);
        db_bind_text(s, 3, p->text);
        break;
    case STMT_TRACE:
    case STMT_EVENT:
    case STMT_TRACE_END:
        return recorder_put_trace(r, p, err);
    case STMT_SAMPLES:
        return recorder_put_samples(r, p, err);
    case STMT_SPANS:
        return recorder_put_spans(r, p, err);
    case STMT_MARK:
        sqlite3_bind_int64(s, 1, p->here_us);
        db_bind_int(s, 2, p->wall_us);
        sqlite3_bind_text64(s, 3, p->text.s, p->text.len, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case STMT_GAP:
        sqlite3_bind_int64(s, 1, r->ticks);
        sqlite3_bind_int64(s, 2, p->here_us);
        db_bind_text(s, 3, p->text);
        break;
    case STMT_TICK:
    case STMT_SYSTEM:
    case STMT_TEXT:
    case STMT_TEXT_ID:
    case STMT_PROCESS:
    case STMT_OWNER:
    case STMT_CALL:
    case STMT_FRAME:
    case STMT_FRAME_ID:
    case STMT_NODE:
    case STMT_SOURCE:
    case STMT_HELD:
    case STMT_SPAN_PROCESS:
    case STMT_SPAN_EVENT:
    case STMT_TRACE_PATTERN:
    case STMT_META:
    case STATEMENTS:
        assert(false); /* these wait for no tick */
    }
    return db_run(r->db, s, err);
}
