/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "shape.h"

#include <inttypes.h>

#include "beamtop/etf/cursor.h"

#define SHAPE_DEPTH 4
#define SHAPE_ELEMENTS 16

struct shaper {
    struct buf *out;
    bool cuts;
};

static void put_shape(const struct shaper *s, struct cursor *c, unsigned depth);

static void put_size(const struct shaper *s, struct cursor *c, const char *what, size_t size)
{
    buf_printf(s->out, "%s:%zu", what, size);
    (void)cursor_skip(c);
}

/* {'$cut', FullBytes, Head} */
static bool put_cut_shape(const struct shaper *s, const struct cursor *c, unsigned depth)
{
    uint64_t full_bytes = 0;
    struct cursor inside = *c;
    if (!s->cuts || !cursor_tuple_of(&inside, 3) || !cursor_peek_atom(&inside, "$cut") ||
        !cursor_skip(&inside) || !cursor_uint64(&inside, &full_bytes))
        return false;
    put_shape(s, &inside, depth);
    buf_printf(s->out, "... (%" PRIu64 " bytes)", full_bytes);
    return true;
}

static void put_tuple(const struct shaper *s, struct cursor *c, unsigned depth)
{
    size_t arity = 0;
    struct cursor inside = *c;
    if (put_cut_shape(s, c, depth)) {
        (void)cursor_skip(c);
        return;
    }
    if (!cursor_tuple(&inside, &arity) || (depth >= SHAPE_DEPTH && arity > 0)) {
        put_size(s, c, "tuple", arity);
        return;
    }
    buf_puts(s->out, "{");
    for (size_t i = 0; i < arity; i++) {
        buf_puts(s->out, i > 0 ? ", " : "");
        if (i == SHAPE_ELEMENTS) {
            buf_printf(s->out, "... %zu more", arity - i);
            break;
        }
        put_shape(s, &inside, depth + 1);
    }
    buf_puts(s->out, "}");
    (void)cursor_skip(c);
}

static void put_sized(const struct shaper *s, struct cursor *c, enum etf_kind kind)
{
    struct cursor inside = *c;
    struct cursor_list list = {0};
    struct slice bytes = {0};
    size_t pairs = 0;
    if (kind == ETF_KIND_MAP) {
        (void)cursor_map(&inside, &pairs);
        put_size(s, c, "map", pairs);
    } else if (kind == ETF_KIND_BINARY) {
        (void)cursor_binary(&inside, &bytes);
        put_size(s, c, "binary", bytes.len);
    } else {
        (void)cursor_list(&inside, &list);
        put_size(s, c, "list", list.count);
    }
}

static void put_shape(const struct shaper *s, struct cursor *c, unsigned depth)
{
    static const char *const words[] = {
        [ETF_KIND_NONE] = "unknown",  [ETF_KIND_INTEGER] = "integer", [ETF_KIND_FLOAT] = "float",
        [ETF_KIND_ATOM] = "atom",     [ETF_KIND_PID] = "pid",         [ETF_KIND_PORT] = "port",
        [ETF_KIND_REF] = "reference", [ETF_KIND_FUN] = "fun",         [ETF_KIND_RECORD] = "record"};
    enum etf_kind kind = cursor_kind(c);
    if (kind == ETF_KIND_TUPLE) {
        put_tuple(s, c, depth);
    } else if (!words[kind]) {
        put_sized(s, c, kind);
    } else {
        const bool cut = kind == ETF_KIND_ATOM && s->cuts && cursor_peek_atom(c, "...");
        buf_puts(s->out, cut ? "..." : words[kind]);
        (void)cursor_skip(c);
    }
}

void shape_put(struct buf *out, struct slice term, bool cuts)
{
    const struct shaper s = {out, cuts};
    struct cursor c;
    cursor_init(&c, (const uint8_t *)term.s, term.len);
    put_shape(&s, &c, 0);
}
