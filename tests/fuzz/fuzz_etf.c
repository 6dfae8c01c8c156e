/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of a term: whatever passes the check can be walked and printed to its end. */
#include <string.h>

#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/check.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/print.h"
#include "fuzz.h"

/* Subterms still to come at each nesting; the check bounds both. */
struct walk {
    size_t left[LIMIT_TERM_DEPTH + 2];
    size_t depth;
};

static void enter(struct walk *w, size_t count)
{
    if (count > 0)
        w->left[w->depth++] = count;
}

static void read_one(struct cursor *c, struct walk *w)
{
    struct cursor_list list;
    struct slice slice;
    struct etf_pid pid;
    size_t n;
    double v;
    switch (cursor_kind(c)) {
    case ETF_KIND_TUPLE:
        FUZZ_REQUIRE(cursor_tuple(c, &n));
        enter(w, n);
        return;
    case ETF_KIND_MAP:
        FUZZ_REQUIRE(cursor_map(c, &n));
        enter(w, 2 * n);
        return;
    case ETF_KIND_LIST:
        FUZZ_REQUIRE(cursor_list(c, &list));
        enter(w, list.count + 1);
        return;
    case ETF_KIND_STRING:
        FUZZ_REQUIRE(cursor_list(c, &list));
        for (size_t i = 0; i < list.count; i++) {
            int64_t byte;
            FUZZ_REQUIRE(cursor_list_int64(c, &list, &byte) && byte >= 0 && byte <= 255);
        }
        FUZZ_REQUIRE(cursor_list_end(c, &list));
        return;
    case ETF_KIND_INTEGER:
    case ETF_KIND_FLOAT:
        FUZZ_REQUIRE(cursor_number(c, &v));
        return;
    case ETF_KIND_ATOM:
        FUZZ_REQUIRE(cursor_atom(c, &slice) && slice.len <= 1020);
        return;
    case ETF_KIND_PID:
        FUZZ_REQUIRE(cursor_pid(c, &pid, &slice));
        return;
    case ETF_KIND_BINARY:
        FUZZ_REQUIRE(cursor_binary(c, &slice));
        return;
    case ETF_KIND_NIL:
    case ETF_KIND_PORT:
    case ETF_KIND_REF:
    case ETF_KIND_FUN:
    case ETF_KIND_RECORD:
        FUZZ_REQUIRE(cursor_skip(c));
        return;
    case ETF_KIND_NONE:
        FUZZ_REQUIRE(false); /* a checked term has a kind */
    }
}

static void walk(const uint8_t *data, size_t used)
{
    struct walk w = {0};
    struct cursor c;
    cursor_init(&c, data, used);
    enter(&w, 1);
    while (w.depth > 0) {
        FUZZ_REQUIRE(w.depth <= LIMIT_TERM_DEPTH + 1);
        size_t level = w.depth - 1;
        w.left[level]--;
        read_one(&c, &w);
        while (w.depth > 0 && w.left[w.depth - 1] == 0)
            w.depth--;
    }
    FUZZ_REQUIRE(cursor_at_end(&c));
}

/* "#Bad" stands for bytes that cannot be read; an atom or string of that text is quoted. */
static void print(const uint8_t *data, size_t size, bool checked)
{
    static const struct print_limits limits[] = {
        {0},
        {.depth = 3, .items = 2, .bytes = 40},
        {.syntax = PRINT_ELIXIR},
        {.depth = 3, .items = 2, .bytes = 40, .syntax = PRINT_ELIXIR, .cuts = true},
    };
    struct buf out;
    buf_init(&out, 0);
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        buf_reset(&out);
        print_term(&out, data, size, &limits[i]);
        size_t max = limits[i].bytes > 0 ? limits[i].bytes : LIMIT_TERM_TEXT_BYTES;
        FUZZ_REQUIRE(out.len > 0 && out.len <= max + strlen("..."));
        size_t bad = strlen("#Bad");
        if (checked && out.len >= bad)
            FUZZ_REQUIRE(memcmp(out.data + out.len - bad, "#Bad", bad) != 0);
        for (size_t k = 0; k < out.len; k++)
            FUZZ_REQUIRE(out.data[k] >= 0x20 && out.data[k] != 0x7F);
    }
    buf_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error err = {0};
    size_t used = 0;
    if (etf_check(data, size, &used, &err) == 0) {
        FUZZ_REQUIRE(used > 1 && used <= size);
        walk(data, used);
        print(data, used, true);
    } else {
        FUZZ_REQUIRE(err.code == ERR_FORMAT || err.code == ERR_LIMIT);
        FUZZ_REQUIRE(err.text[0] != '\0');
        print(data, size, false); /* bounded by itself, whatever the bytes */
    }
    return 0;
}
