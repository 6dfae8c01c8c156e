/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two directions of an atom cache against each other, against bytes as OTP writes them, and
 * against hostile ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/build.h"
#include "beamtop/etf/parse.h"
#include "link/atom_cache.h"
#include "link/control.h"
#include "link/frame.h"

#define MAX_BYTES 4096u

static const struct etf_pid pid = {.id = 7, .serial = 1, .creation = 99};
static const struct control_end end = {.node = "a@b", .pid = &pid};

struct ends {
    struct atom_cache *out, *in;
    struct frame_reader reader;
};

static void open_ends(struct ends *e)
{
    e->out = atom_cache_new();
    e->in = atom_cache_new();
    frame_reader_init(&e->reader, MAX_BYTES);
    frame_reader_expand(&e->reader, e->in);
}

static void close_ends(struct ends *e)
{
    frame_reader_clear(&e->reader);
    atom_cache_free(e->out);
    atom_cache_free(e->in);
}

/* The frame as it is is what is read when it was packed. Returns its packed bytes. */
static size_t expect_same(struct ends *e, const struct buf *plain)
{
    struct frame f;
    const struct buf *packed = atom_cache_pack(e->out, plain);
    frame_feed(&e->reader, packed->data, packed->len);
    if (frame_next(&e->reader, &f) != FRAME_MESSAGE)
        fail_msg("%s", e->reader.err.text);
    assert_int_equal(f.bytes, packed->len);
    assert_int_equal(plain->len, 5 + f.control.len + f.payload.len);
    assert_memory_equal(plain->data + 5, f.control.s, f.control.len);
    if (f.payload.len > 0)
        assert_memory_equal(plain->data + 5 + f.control.len, f.payload.s, f.payload.len);
    assert_int_equal(frame_next(&e->reader, &f), FRAME_MORE);
    return packed->len;
}

static void put_text(struct buf *out, const char *term)
{
    struct error err = {0};
    size_t len = 0;
    struct builder *b = builder_new();
    if (etf_parse(b, term, strlen(term), "a@b", &err) != 0)
        fail_msg("%s", err.text);
    const uint8_t *payload = builder_bytes(b, &len);
    control_put_send(out, end, payload, len);
    builder_free(b);
}

static size_t expect_same_text(struct ends *e, const char *term)
{
    struct buf plain;
    buf_init(&plain, 0);
    put_text(&plain, term);
    const size_t len = expect_same(e, &plain);
    buf_clear(&plain);
    return len;
}

TEST(test_both_ways)
{
    static const char *const terms[] = {
        "ok",
        "''",
        "a",
        "[ok, {ok, error}, \"text\", <<\"ok\">>, 1.5, -7, []]",
        "[<0.1.0>, <0.2.0>, [improper | tail]]",
        "['\xc3\xa9t\xc3\xa9', 'with space', \"\xe2\x82\xac\"]",
    };
    struct ends e;
    open_ends(&e);
    for (size_t i = 0; i < 3 * ARRAY_LEN(terms); i++)
        (void)expect_same_text(&e, terms[i % ARRAY_LEN(terms)]);
    close_ends(&e);
}

TEST(test_signals)
{
    struct ends e;
    struct buf plain;
    open_ends(&e);
    buf_init(&plain, 0);
    for (int i = 0; i < 2; i++) {
        control_put_exit(&plain, end, end, "noproc");
        (void)expect_same(&e, &plain);
        buf_reset(&plain);
    }
    control_put_tick(&plain);
    assert_ptr_equal(atom_cache_pack(e.out, &plain), &plain);
    buf_clear(&plain);
    close_ends(&e);
}

/* A pid costs half of what it does as it is, and an atom two bytes. */
TEST(test_second_message_is_short)
{
    struct ends e;
    open_ends(&e);
    const size_t first = expect_same_text(&e, "[<0.1.0>, message_queue_len]");
    const size_t second = expect_same_text(&e, "[<0.1.0>, message_queue_len]");
    assert_int_equal(second, 55);
    assert_int_equal(first, second + 1 + 3 + 1 + 17);
    close_ends(&e);
}

/* A list of n atoms, other ones for each `from`. */
static void put_atoms(struct buf *out, unsigned from, unsigned n, size_t wide)
{
    size_t len = 0;
    char name[1100];
    struct builder *b = builder_new();
    build_list(b, n);
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof name, "atom_%u", from + i);
        while (strlen(name) < wide)
            strcat(name, "\xe2\x82\xac");
        build_atom(b, name);
    }
    build_nil(b);
    const uint8_t *payload = builder_bytes(b, &len);
    control_put_send(out, end, payload, len);
    builder_free(b);
}

/* More than a message has room for, more than there are places, and longer ones than go in. */
TEST(test_many_atoms)
{
    struct ends e;
    struct buf plain;
    open_ends(&e);
    buf_init(&plain, 0);
    for (unsigned i = 0; i < 60; i++) {
        put_atoms(&plain, i % 40 * 97, 1 + i * 5 % 290, 0);
        (void)expect_same(&e, &plain);
        buf_reset(&plain);
    }
    put_atoms(&plain, 0, 3, 300);
    (void)expect_same(&e, &plain);
    buf_reset(&plain);
    put_atoms(&plain, 0, 3, 200);
    (void)expect_same(&e, &plain);
    buf_clear(&plain);
    close_ends(&e);
}

/* Funs, one in the other: the size of each counts its atoms. */
TEST(test_funs)
{
    static const uint8_t head[] = {1,  1,  2,  3,  4, 5, 6, 7, 8, 9, 10, 11, 12,
                                   13, 14, 15, 16, 0, 0, 0, 0, 0, 0, 0,  1};
    static const uint8_t tail[] = "w\5shopsa\0a\1Xw\3a@b\0\0\0\1\0\0\0\0\0\0\0\2";
    struct ends e;
    struct buf fun, plain;
    open_ends(&e);
    buf_init(&fun, 0);
    buf_init(&plain, 0);
    buf_puts(&fun, "w\5shops");
    for (int depth = 0; depth < 3; depth++) {
        struct buf outer;
        buf_init(&outer, 0);
        buf_put_u8(&outer, ETF_NEW_FUN);
        buf_put_u32be(&outer, (uint32_t)(4 + sizeof head + sizeof tail - 1 + fun.len));
        buf_put(&outer, head, sizeof head);
        buf_put(&outer, tail, sizeof tail - 1);
        buf_put(&outer, fun.data, fun.len);
        buf_clear(&fun);
        fun = outer;
    }
    for (int i = 0; i < 2; i++) {
        struct builder *b = builder_new();
        size_t len = 0;
        build_raw(b, fun.data, fun.len);
        const uint8_t *payload = builder_bytes(b, &len);
        control_put_send(&plain, end, payload, len);
        builder_free(b);
        assert_true(expect_same(&e, &plain) < plain.len);
        buf_reset(&plain);
    }
    buf_clear(&fun);
    buf_clear(&plain);
    close_ends(&e);
}

/* Deeper than what is read from the wire: it goes as it is, behind a packed control term. */
TEST(test_too_deep)
{
    struct buf plain;
    size_t len = 0;
    struct atom_cache *out = atom_cache_new();
    struct builder *b = builder_new();
    buf_init(&plain, 0);
    for (unsigned i = 0; i <= LIMIT_TERM_DEPTH; i++)
        build_tuple(b, 1);
    build_atom(b, "inside");
    const uint8_t *payload = builder_bytes(b, &len);
    control_put_send(&plain, end, payload, len);
    const struct buf *packed = atom_cache_pack(out, &plain);
    assert_true(packed->len > len);
    assert_memory_equal(packed->data + packed->len - (len - 1), payload + 1, len - 1);
    assert_null(memchr(packed->data, ETF_VERSION, 4));
    builder_free(b);
    buf_clear(&plain);
    atom_cache_free(out);
}

/* ---- bytes as a node writes them */

#define BYTES(s)                                                                                   \
    {                                                                                              \
        (s), sizeof(s) - 1                                                                         \
    }

struct bytes {
    const char *s;
    size_t len;
};

static enum frame_event read_bytes(struct ends *e, struct bytes body, size_t step, struct frame *f)
{
    struct buf frame;
    enum frame_event event = FRAME_MORE;
    buf_init(&frame, 0);
    buf_put_u32be(&frame, (uint32_t)body.len);
    buf_put(&frame, body.s, body.len);
    for (size_t at = 0; at < frame.len && event == FRAME_MORE; at += step) {
        frame_feed(&e->reader, frame.data + at, frame.len - at < step ? frame.len - at : step);
        event = frame_next(&e->reader, f);
    }
    buf_clear(&frame);
    return event;
}

/* In order, by one reader. */
static const struct {
    struct bytes body, control, payload;
} good[] = {
    /* no atom */
    {BYTES("\203D\0h\2a\2j"), BYTES("\203h\2a\2j"), BYTES("")},
    /* new ones in segments 1, 7 and 0; the last is of use later */
    {BYTES("\203D\3\xf9\x08\5\2ok\377\5error\6\3fooh\2R\0R\1"), BYTES("\203h\2w\2okw\5error"),
     BYTES("")},
    {BYTES("\203D\2\x17\0\377\5h\1a\2h\2R\0R\1"), BYTES("\203h\1a\2"),
     BYTES("\203h\2w\5errorw\2ok")},
    {BYTES("\203D\1\0\6h\1R\0a\1"), BYTES("\203h\1w\3foo"), BYTES("\203a\1")},
    /* lengths of two bytes; no character at all */
    {BYTES("\203D\1\x18\6\0\2abR\0"), BYTES("\203w\2ab"), BYTES("")},
    {BYTES("\203D\1\x08\6\0R\0"), BYTES("\203w\0"), BYTES("")},
    /* another atom in its place, beside a plain one */
    {BYTES("\203D\1\x09\5\3newh\2R\0w\1x"), BYTES("\203h\2w\3neww\1x"), BYTES("")},
    {BYTES("\203D\1\1\5R\0"), BYTES("\203w\3new"), BYTES("")},
    {BYTES("\203D\1\0\6R\0"), BYTES("\203w\0"), BYTES("")},
    /* nodes and functions */
    {BYTES("\203D\1\x08\0\3n@hXR\0\0\0\0\1\0\0\0\2\0\0\0\3qR\0R\0a\1"),
     BYTES("\203Xw\3n@h\0\0\0\1\0\0\0\2\0\0\0\3"), BYTES("\203qw\3n@hw\3n@ha\1")},
};

static void expect_bytes(struct bytes expected, struct slice found)
{
    assert_int_equal(found.len, expected.len);
    if (found.len > 0)
        assert_memory_equal(found.s, expected.s, found.len);
}

TEST(test_messages_of_a_node)
{
    struct ends e;
    struct frame f;
    open_ends(&e);
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        print_message("# message %zu\n", i);
        if (read_bytes(&e, good[i].body, 100, &f) != FRAME_MESSAGE)
            fail_msg("%s", e.reader.err.text);
        expect_bytes(good[i].control, f.control);
        expect_bytes(good[i].payload, f.payload);
    }
    close_ends(&e);
}

/* The same bytes, cut at each place, are no message, and never a crash. */
TEST(test_truncated_messages)
{
    for (size_t i = 1; i < ARRAY_LEN(good); i++) {
        for (size_t len = 1; len < good[i].body.len; len++) {
            struct ends e;
            struct frame f;
            open_ends(&e);
            const struct bytes cut = {good[i].body.s, len};
            if (read_bytes(&e, cut, 100, &f) == FRAME_MESSAGE)
                assert_int_equal(f.payload.len, 0); /* right behind the control term */
            close_ends(&e);
        }
    }
}

/* An atom of 255 characters of three bytes. */
TEST(test_long_atom)
{
    struct ends e;
    struct frame f;
    struct buf body;
    open_ends(&e);
    for (unsigned characters = 255; characters <= 256; characters++) {
        buf_init(&body, 0);
        buf_put(&body, "\203D\1\x18\0", 5);
        buf_put_u16be(&body, (uint16_t)(3 * characters));
        for (unsigned i = 0; i < characters; i++)
            buf_puts(&body, "\xe2\x82\xac");
        buf_put(&body, "R\0", 2);
        const enum frame_event event =
            read_bytes(&e, (struct bytes){(const char *)body.data, body.len}, 5000, &f);
        assert_int_equal(event, characters == 255 ? FRAME_MESSAGE : FRAME_BROKEN);
        if (event == FRAME_MESSAGE)
            assert_int_equal(f.control.len, 1 + 3 + 3 * 255);
        buf_clear(&body);
    }
    close_ends(&e);
}

TEST(test_bad_messages)
{
    static const struct {
        struct bytes body;
        const char *error;
    } cases[] = {
        {BYTES("p\203j"), "it starts with 112 in place of 131"},
        {BYTES("\203Ej"), "its header has tag 69 in place of 68"},
        {BYTES("\203"), "its header is truncated"},
        {BYTES("\203D"), "its header is truncated"},
        {BYTES("\203D\2\0"), "its header is truncated"},
        {BYTES("\203D\1\x08\5"), "its header is truncated"},
        {BYTES("\203D\1\x18\5\0"), "its header is truncated"},
        {BYTES("\203D\1\x08\5\3ab"), "its header is truncated"},
        {BYTES("\203D\1\0\5R\0"), "its header names atom 5, which never came"},
        {BYTES("\203D\1\7\377R\0"), "its header names atom 2047, which never came"},
        {BYTES("\203D\1\x18\5\377\377"), "an atom of 65535 bytes in its header"},
        {BYTES("\203D\1\x08\5\2\xc3(R\0"), "an atom of its header: malformed term at byte 2: an "
                                           "atom that is not UTF-8"},
        {BYTES("\203D\1\x08\5\2okR\1"), "malformed term at byte 0: atom 1 of a header with 1"},
        {BYTES("\203D\0R\0"), "malformed term at byte 0: atom 0 of a header with 0"},
        {BYTES("\203D\1\x08\5\2okR"), "truncated term: byte 1 needs 1 more bytes and there are 0"},
        {BYTES("\203D\1\x08\5\2ok"), "truncated term: byte 0 needs 1 more bytes and there are 0"},
        {BYTES("\203D\0\203j"), "malformed term at byte 0: unknown tag 131"},
        {BYTES("\203D\0jjj"), "1 bytes follow its payload"},
        {BYTES("\203D\1\x08\5\2okXa"), "malformed term at byte 1: expected the atom of a node's "
                                       "name"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ends e;
        struct frame f;
        char expected[256];
        open_ends(&e);
        snprintf(expected, sizeof expected, "the node sent a frame that cannot be read: %s",
                 cases[i].error);
        assert_int_equal(read_bytes(&e, cases[i].body, 100, &f), FRAME_BROKEN);
        assert_string_equal(e.reader.err.text, expected);
        close_ends(&e);
    }
}

/* ---- too large */

/* The header of a frame that is skipped counts, however it is cut. */
TEST(test_skipped_header_is_taken)
{
    for (size_t step = 1; step < 100; step += step) {
        static char body[MAX_BYTES + 100] = "\203D\2\x88\0\1\3one\2\3two";
        struct ends e;
        struct frame f;
        open_ends(&e);
        assert_int_equal(read_bytes(&e, (struct bytes){body, sizeof body}, step, &f),
                         FRAME_SKIPPED);
        assert_int_equal(f.bytes, sizeof body + 4);
        assert_int_equal(read_bytes(&e, (struct bytes)BYTES("\203D\2\0\0\2\1h\2R\0R\1"), step, &f),
                         FRAME_MESSAGE);
        expect_bytes((struct bytes)BYTES("\203h\2w\3twow\3one"), f.control);
        close_ends(&e);
    }
}

TEST(test_skipped_bad_header)
{
    static char body[MAX_BYTES + 100] = "\203D\1\0\1";
    struct ends e;
    struct frame f;
    open_ends(&e);
    assert_int_equal(read_bytes(&e, (struct bytes){body, sizeof body}, 7, &f), FRAME_BROKEN);
    close_ends(&e);
}

/* A frame that is too large once it is expanded is skipped as well. */
TEST(test_expanded_above_the_limit)
{
    struct ends e;
    struct frame f;
    struct buf body;
    open_ends(&e);
    buf_init(&body, 0);
    buf_puts(&body, "\203D\1\x08\1\306");
    for (size_t i = 0; i < 198; i++)
        buf_put_u8(&body, 'x');
    buf_put(&body, "jl\0\0\0\50", 6);
    for (size_t i = 0; i < 40; i++)
        buf_put(&body, "R\0", 2);
    buf_put_u8(&body, 'j');
    assert_int_equal(read_bytes(&e, (struct bytes){(const char *)body.data, body.len}, 100, &f),
                     FRAME_SKIPPED);
    assert_int_equal(f.bytes, body.len + 4);
    assert_int_equal(f.control.len, 0);
    assert_int_equal(read_bytes(&e, (struct bytes)BYTES("\203D\1\0\1R\0"), 100, &f), FRAME_MESSAGE);
    assert_int_equal(f.control.len, 1 + 2 + 198);
    buf_clear(&body);
    close_ends(&e);
}
