/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the target says of counted calls (docs/calls.md). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "calls_internal.h"
#include "trace/log/decode.h"

static const struct refusal refusals[] = {
    {"session", "another beamtop counts the calls of this node: stop that count first"},
    {"no_memory", "heap words need OTP 26 or later"},
    {NULL, NULL},
};

/* Enters the answer's tuple. A refusal is read whole, into *refused; else that is empty. */
static bool enter_answer(struct cursor *c, const char *tag, size_t arity, char *refused)
{
    size_t found = 0;
    enum err code;
    refused[0] = '\0';
    if (!cursor_tuple(c, &found))
        return false;
    if (found == 2)
        return decode_refusal(c, refusals, refused, 400, &code);
    return (found == arity || cursor_fail(c, tag)) && cursor_atom_is(c, tag);
}

/* ---- sampled */

static const struct {
    const char *word, *text;
} reasons[] = {
    {"no_module", "no such module"},
    {"not_loaded", "its module is not loaded on the node, so it has not been called yet"},
    {"unknown", "its module is not loaded, and the node's code server or disk does not answer"},
    {"no_function", "no such function"},
    {"no_application", "no such application is loaded"},
};

/* A number of functions, or why there is none. */
static bool read_found(struct cursor *c, struct calls_sample *out, size_t index)
{
    struct slice word, text;
    uint64_t n = 0;
    char why[sizeof out->why];
    if (cursor_kind(c) == ETF_KIND_INTEGER)
        return cursor_uint64(c, &n);
    if (cursor_kind(c) == ETF_KIND_TUPLE) {
        if (!cursor_tuple_of(c, 2) || !cursor_atom_is(c, "bad_expression") ||
            !cursor_binary(c, &text))
            return false;
        snprintf(why, sizeof why, "invalid regex: %.*s", (int)(text.len < 100 ? text.len : 100),
                 text.s);
    } else {
        if (!cursor_atom(c, &word))
            return false;
        snprintf(why, sizeof why, "%.*s", (int)(word.len < 100 ? word.len : 100), word.s);
        for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
            if (slice_is(word, reasons[i].word))
                snprintf(why, sizeof why, "%s", reasons[i].text);
    }
    if (out->none == SIZE_MAX) {
        out->none = index;
        memcpy(out->why, why, sizeof why);
    }
    return true;
}

/* ---- counted */

/* Reads an application's name: empty for `undefined`. */
static bool read_application(struct cursor *c, struct slice *out)
{
    if (!cursor_atom(c, out))
        return false;
    if (slice_is(*out, "undefined"))
        *out = (struct slice){"", 0};
    return true;
}

static bool read_counted_mfa(struct cursor *c, struct calls_function *f)
{
    return cursor_atom(c, &f->module) && cursor_atom(c, &f->function) &&
           cursor_uint64(c, &f->arity) && (f->arity <= 255 || cursor_fail(c, "an arity"));
}

static bool read_row(struct cursor *c, struct calls_function *f)
{
    f->timed_calls = f->own_us = f->words = CALLS_UNKNOWN;
    return cursor_tuple_of(c, 5) && read_counted_mfa(c, f) &&
           read_application(c, &f->application) && cursor_uint64(c, &f->calls);
}

/* One that cannot be read is dropped, and counts as lost. */
static bool read_counted_rows(struct cursor *c, struct calls_kept *out)
{
    struct cursor_list list;
    struct cursor row;
    size_t n = 0;
    if (!answer_list(c, &list, LIMIT_CALLS_ROWS))
        return false;
    out->rows = arena_alloc(&out->arena, (list.count + 1) * sizeof *out->rows);
    for (size_t i = 0; i < list.count; i++) {
        struct calls_function f = {0};
        if (!cursor_apart(c, &row))
            return false;
        if (read_row(&row, &f))
            out->rows[n++] = f;
        else
            out->window.lost++;
    }
    out->window.rows = out->rows;
    out->window.n_rows = n;
    return cursor_list_end(c, &list);
}

/* The rows are borrowed from the bytes, which live as long as the window then. */
static const uint8_t *keep_answer(struct arena *a, const uint8_t *term, size_t len)
{
    uint8_t *copy = arena_alloc(a, len + 1);
    memcpy(copy, term, len);
    return copy;
}

int decode_calls_sample(struct calls_sample *out, struct calls_kept *hot, const uint8_t *term,
                        size_t len, struct error *err)
{
    struct cursor c;
    struct cursor_list list;
    *out = (struct calls_sample){.none = SIZE_MAX};
    cursor_init(&c, keep_answer(&hot->arena, term, len), len);
    bool ok = enter_answer(&c, "sampled", 8, out->refused);
    if (!ok || out->refused[0] != '\0')
        return cursor_end(&c, ok, "calls", err);
    ok = cursor_uint64(&c, &out->interval_ns) && cursor_uint64(&c, &out->schedulers) &&
         cursor_uint64(&c, &out->functions) && cursor_uint64(&c, &out->calls) &&
         cursor_list(&c, &list);
    for (size_t i = 0; ok && i < list.count; i++) {
        int64_t n;
        ok = list.string ? cursor_list_int64(&c, &list, &n) : read_found(&c, out, i);
    }
    ok = ok && cursor_list_end(&c, &list) && cursor_uint64(&c, &out->arms) &&
         read_counted_rows(&c, hot);
    return cursor_end(&c, ok, "calls", err);
}

static bool read_sums(struct cursor *c, struct calls_kept *out, bool modules,
                      struct calls_sum **sums, size_t *n)
{
    struct cursor_list list;
    if (!answer_list(c, &list, LIMIT_CALLS_ROWS))
        return false;
    *sums = arena_alloc(&out->arena, (list.count + 1) * sizeof **sums);
    for (size_t i = 0; i < list.count; i++) {
        struct calls_sum *s = &(*sums)[i];
        s->module = (struct slice){"", 0};
        if (!cursor_tuple_of(c, modules ? 4 : 3) || (modules && !cursor_atom(c, &s->module)) ||
            !read_application(c, &s->application) || !cursor_uint64(c, &s->functions) ||
            !cursor_uint64(c, &s->calls))
            return false;
    }
    *n = list.count;
    return cursor_list_end(c, &list);
}

static bool read_lost_modules(struct cursor *c, struct calls_kept *out)
{
    struct cursor_list list;
    if (!cursor_tuple_of(c, 2) || !cursor_uint64(c, &out->window.lost) ||
        !answer_list(c, &list, LIMIT_CALLS_ROWS))
        return false;
    struct slice *modules = arena_alloc(&out->arena, (list.count + 1) * sizeof *modules);
    for (size_t i = 0; i < list.count; i++)
        if (!cursor_atom(c, &modules[i]))
            return false;
    out->window.lost_modules = modules;
    out->window.n_lost_modules = list.count;
    return cursor_list_end(c, &list);
}

/* In nanoseconds there. */
static bool read_interval(struct cursor *c, uint64_t *us)
{
    uint64_t ns;
    if (!cursor_uint64(c, &ns))
        return false;
    *us = ns / 1000;
    return true;
}

/* Those of both windows are added up. */
static bool read_costs(struct cursor *c, struct calls_window *w)
{
    uint64_t listed, armed, read, off;
    if (!cursor_tuple_of(c, 4) || !cursor_uint64(c, &listed) || !cursor_uint64(c, &armed) ||
        !cursor_uint64(c, &read) || !cursor_uint64(c, &off))
        return false;
    w->listed_us += listed;
    w->armed_us += armed;
    w->read_us += read;
    w->disarmed_us += off;
    return true;
}

int decode_calls_counted(struct calls_kept *out, char *refused, const uint8_t *term, size_t len,
                         struct error *err)
{
    struct cursor c;
    struct calls_window *w = &out->window;
    int64_t mono;
    w->timed_interval_us = w->processes = w->asked_us = CALLS_UNKNOWN;
    cursor_init(&c, keep_answer(&out->arena, term, len), len);
    bool ok = enter_answer(&c, "counted", 12, refused);
    if (!ok || refused[0] != '\0')
        return cursor_end(&c, ok, "calls", err);
    ok = cursor_int64(&c, &mono) && cursor_int64(&c, &w->wall_us) &&
         read_interval(&c, &w->interval_us) && cursor_uint64(&c, &w->functions) &&
         cursor_uint64(&c, &w->called) && cursor_uint64(&c, &w->calls) &&
         read_lost_modules(&c, out) && read_counted_rows(&c, out) &&
         read_sums(&c, out, true, &out->modules, &w->n_modules) &&
         read_sums(&c, out, false, &out->applications, &w->n_applications) && read_costs(&c, w);
    w->modules = out->modules;
    w->applications = out->applications;
    return cursor_end(&c, ok, "calls", err);
}

/* ---- timed */

static struct calls_function *find_counted_row(struct calls_kept *out,
                                               const struct calls_function *f)
{
    for (size_t i = 0; i < out->window.n_rows; i++) {
        struct calls_function *row = &out->rows[i];
        if (row->arity == f->arity && slice_equal(row->function, f->function) &&
            slice_equal(row->module, f->module))
            return row;
    }
    return NULL;
}

/* A number, or `undefined`. */
static bool read_optional(struct cursor *c, uint64_t *out)
{
    if (cursor_peek_atom(c, "undefined"))
        return cursor_skip(c);
    return cursor_uint64(c, out);
}

static bool read_timed(struct cursor *c, struct calls_kept *out)
{
    struct calls_function f = {
        .own_us = CALLS_UNKNOWN, .words = CALLS_UNKNOWN, .timed_calls = CALLS_UNKNOWN};
    if (!cursor_tuple_of(c, 6) || !read_counted_mfa(c, &f))
        return false;
    f.lost = cursor_peek_atom(c, "lost");
    if (!(f.lost ? cursor_skip(c) : cursor_uint64(c, &f.timed_calls)) ||
        !read_optional(c, &f.own_us) || !read_optional(c, &f.words))
        return false;
    struct calls_function *row = find_counted_row(out, &f);
    if (row) {
        row->timed_calls = f.timed_calls;
        row->own_us = f.own_us;
        row->words = f.words;
        row->lost = f.lost;
    }
    return true;
}

int decode_calls_timed(struct calls_kept *out, char *refused, const uint8_t *term, size_t len,
                       struct error *err)
{
    struct cursor c;
    struct cursor_list list;
    struct calls_window *w = &out->window;
    int64_t mono;
    cursor_init(&c, term, len);
    bool ok = enter_answer(&c, "timed", 7, refused);
    if (!ok || refused[0] != '\0')
        return cursor_end(&c, ok, "calls", err);
    ok = cursor_int64(&c, &mono) && cursor_int64(&c, &w->wall_us) &&
         read_interval(&c, &w->timed_interval_us) && cursor_uint64(&c, &w->processes) &&
         answer_list(&c, &list, LIMIT_CALLS_ROWS);
    for (size_t i = 0; ok && i < list.count; i++) {
        struct cursor row;
        ok = cursor_apart(&c, &row);
        if (ok && !read_timed(&row, out))
            w->lost++;
    }
    ok = ok && cursor_list_end(&c, &list) && read_costs(&c, w);
    w->timed = ok;
    return cursor_end(&c, ok, "calls", err);
}
