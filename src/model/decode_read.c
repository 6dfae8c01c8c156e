/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <math.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/limits.h"
#include "beamtop/etf/print.h"

static const struct slice empty = {"", 0};

void decoder_init(struct decoder *d, struct arena *arena, const uint8_t *term, size_t len)
{
    cursor_init(&d->c, term, len);
    d->arena = arena;
    memset(d->kept, 0, sizeof d->kept);
    buf_init(&d->scratch, LIMIT_TERM_TEXT_BYTES);
}

int decoder_end(struct decoder *d, const char *what, struct error *err)
{
    buf_clear(&d->scratch);
    return cursor_end(&d->c, !cursor_failed(&d->c), what, err);
}

static struct slice keep_bytes(struct decoder *d, const char *s, size_t len)
{
    if (len == 0)
        return empty;
    struct slice *kept = &d->kept[(len ^ (unsigned char)*s) % ARRAY_LEN(d->kept)];
    if (!slice_equal(*kept, (struct slice){s, len}))
        *kept = (struct slice){arena_strndup(d->arena, s, len), len};
    return *kept;
}

static struct slice keep_scratch(struct decoder *d)
{
    struct slice s = keep_bytes(d, (const char *)d->scratch.data, d->scratch.len);
    buf_reset(&d->scratch);
    return s;
}

bool decode_undefined(struct decoder *d)
{
    return cursor_peek_atom(&d->c, "undefined") && cursor_skip(&d->c);
}

bool decode_int(struct decoder *d, int64_t *out)
{
    *out = -1;
    return decode_undefined(d) || cursor_int64(&d->c, out);
}

bool decode_age(struct decoder *d, double *age_s)
{
    int64_t ms = -1;
    bool ok = decode_int(d, &ms);
    *age_s = ms >= 0 ? (double)ms / 1000 : (double)NAN;
    return ok;
}

bool decode_older(struct decoder *d, int64_t *out, bool *older, double *age_s)
{
    *age_s = 0;
    *older = cursor_kind(&d->c) == ETF_KIND_TUPLE;
    if (!*older)
        return decode_int(d, out);
    return cursor_tuple_of(&d->c, 3) && cursor_atom_is(&d->c, "older") && decode_int(d, out) &&
           decode_age(d, age_s);
}

/* A VM's clock starts far below zero: flipping the sign bit gives the order of unsigned numbers. */
bool decode_mono(struct decoder *d, uint64_t *out)
{
    int64_t ns = 0;
    bool ok = cursor_int64(&d->c, &ns);
    *out = (uint64_t)ns ^ (UINT64_C(1) << 63);
    return ok;
}

bool decode_binary(struct decoder *d, struct slice *out)
{
    *out = empty;
    if (decode_undefined(d))
        return true;
    struct slice s;
    if (!cursor_binary(&d->c, &s))
        return false;
    *out = keep_bytes(d, s.s, s.len);
    return true;
}

bool decode_atom(struct decoder *d, struct slice *out)
{
    *out = empty;
    if (decode_undefined(d))
        return true;
    struct slice s;
    if (!cursor_atom(&d->c, &s))
        return false;
    *out = keep_bytes(d, s.s, s.len);
    return true;
}

struct slice decode_keep_mfa(struct decoder *d, struct slice mod, struct slice fun, int64_t arity)
{
    print_mfa(&d->scratch, mod, fun, arity);
    return keep_scratch(d);
}

struct slice decode_keep_pid(struct decoder *d, const struct etf_pid *pid)
{
    print_pid(&d->scratch, pid);
    return keep_scratch(d);
}

bool decode_mfa(struct decoder *d, struct slice *out)
{
    *out = empty;
    if (decode_undefined(d))
        return true;
    struct slice mod, fun;
    int64_t arity;
    if (!cursor_tuple_of(&d->c, 3) || !cursor_atom(&d->c, &mod) || !cursor_atom(&d->c, &fun) ||
        !cursor_int64(&d->c, &arity))
        return false;
    *out = decode_keep_mfa(d, mod, fun, arity);
    return true;
}

bool decode_name(struct decoder *d, struct slice *out)
{
    enum etf_kind kind = cursor_kind(&d->c);
    if (kind == ETF_KIND_BINARY)
        return decode_binary(d, out);
    return kind == ETF_KIND_TUPLE ? decode_mfa(d, out) : decode_atom(d, out);
}

bool decode_printed(struct decoder *d, struct slice *out)
{
    static const struct print_limits limits = {.depth = 8, .items = 20, .bytes = 400, .cuts = true};
    struct slice raw;
    *out = empty;
    if (!cursor_raw(&d->c, &raw))
        return false;
    print_term(&d->scratch, (const uint8_t *)raw.s, raw.len, &limits);
    *out = keep_scratch(d);
    return true;
}

bool decode_bool(struct decoder *d, bool *out)
{
    *out = false;
    return cursor_bool(&d->c, out);
}

bool decode_list(struct decoder *d, struct cursor_list *list, size_t cap, size_t size, void *items)
{
    void **out = items;
    if (cursor_kind(&d->c) == ETF_KIND_STRING)
        return cursor_fail(&d->c, "a list of terms");
    if (!cursor_list(&d->c, list))
        return false;
    if (list->count > cap) {
        error_set(&d->c.err, ERR_LIMIT, "a list of %zu elements, at most %zu are taken",
                  list->count, cap);
        return false;
    }
    *out = arena_alloc(d->arena, (list->count + 1) * size);
    return true;
}
