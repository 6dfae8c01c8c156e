/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/parse.h"

/* A cursor over the term of a text; the builder owns its bytes. */
static struct builder *start(struct cursor *c, const char *text)
{
    struct builder *b = builder_new();
    struct error err = {0};
    if (etf_parse(b, text, strlen(text), "node@host", &err) != 0)
        fail_msg("%s: %s", text, err.text);
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    cursor_init(c, bytes, len);
    return b;
}

TEST(test_straight_through)
{
    struct cursor c;
    struct builder *b = start(
        &c, "{a,-7,18446744073709551,1.5,true,<0.41.2>,<<\"bin\">>,#{k => []},[x,y],skipped}");
    size_t n, pairs;
    int64_t i;
    uint64_t u;
    double d;
    bool yes;
    struct etf_pid pid;
    struct slice atom, node, bytes, raw;
    struct cursor_list list;
    assert_true(cursor_tuple(&c, &n));
    assert_int_equal(n, 10);
    assert_true(cursor_peek_atom(&c, "a"));
    assert_false(cursor_peek_atom(&c, "b"));
    assert_true(cursor_atom_is(&c, "a"));
    assert_true(cursor_int64(&c, &i));
    assert_int_equal(i, -7);
    assert_true(cursor_uint64(&c, &u));
    assert_true(u == 18446744073709551u);
    assert_true(cursor_number(&c, &d));
    assert_true(d == 1.5);
    assert_true(cursor_bool(&c, &yes) && yes);
    assert_true(cursor_pid(&c, &pid, &node));
    assert_int_equal(pid.id, 41);
    assert_int_equal(pid.serial, 2);
    assert_int_equal(node.len, strlen("node@host"));
    assert_true(cursor_binary(&c, &bytes));
    assert_memory_equal(bytes.s, "bin", 3);
    assert_true(cursor_map(&c, &pairs));
    assert_int_equal(pairs, 1);
    assert_true(cursor_atom(&c, &atom));
    assert_int_equal(cursor_kind(&c), ETF_KIND_NIL);
    assert_true(cursor_list(&c, &list));
    assert_int_equal(list.count, 0);
    assert_true(cursor_list_end(&c, &list));
    assert_true(cursor_list(&c, &list));
    assert_int_equal(list.count, 2);
    assert_true(cursor_skip(&c) && cursor_skip(&c));
    assert_true(cursor_list_end(&c, &list));
    assert_false(cursor_at_end(&c));
    assert_true(cursor_raw(&c, &raw));
    assert_int_equal(raw.len, 2 + strlen("skipped"));
    assert_true(cursor_at_end(&c));
    assert_false(cursor_failed(&c));
    builder_free(b);
}

TEST(test_lists_of_bytes)
{
    static const char *const texts[] = {"{\"\\001\\002\\377\",a}", "{[1,2,255|[]],a}"};
    for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
        struct cursor c;
        struct builder *b = start(&c, texts[t]);
        struct cursor_list list;
        int64_t v[3];
        assert_true(cursor_tuple_of(&c, 2));
        assert_true(cursor_list(&c, &list));
        assert_int_equal(list.count, 3);
        for (size_t i = 0; i < 3; i++)
            assert_true(cursor_list_int64(&c, &list, &v[i]));
        assert_int_equal(v[0] + v[1] + v[2], 258);
        assert_true(cursor_list_end(&c, &list));
        assert_true(cursor_atom_is(&c, "a"));
        builder_free(b);
    }
}

/* Inside a STRING_EXT only integers are read: its bytes are no tags. */
TEST(test_string_elements_are_no_terms)
{
    struct cursor c;
    struct builder *b = start(&c, "\"jj\"");
    struct cursor_list list;
    struct slice raw;
    assert_true(cursor_list(&c, &list));
    assert_int_equal(cursor_kind(&c), ETF_KIND_INTEGER);
    assert_true(cursor_skip(&c));
    assert_false(cursor_list_end(&c, &list)); /* one is left */
    assert_true(cursor_failed(&c));
    builder_free(b);
    b = start(&c, "\"jj\"");
    assert_true(cursor_list(&c, &list));
    assert_false(cursor_raw(&c, &raw));
    builder_free(b);
}

static bool read_int(struct cursor *c)
{
    int64_t v;
    return cursor_int64(c, &v);
}

static bool read_uint(struct cursor *c)
{
    uint64_t v;
    return cursor_uint64(c, &v);
}

static bool read_tuple2(struct cursor *c)
{
    return cursor_tuple_of(c, 2);
}

static bool read_ok(struct cursor *c)
{
    return cursor_atom_is(c, "ok");
}

static bool read_bool(struct cursor *c)
{
    bool v;
    return cursor_bool(c, &v);
}

static bool read_pid(struct cursor *c)
{
    struct etf_pid pid;
    return cursor_pid(c, &pid, NULL);
}

static bool read_list(struct cursor *c)
{
    struct cursor_list list;
    return cursor_list(c, &list) && cursor_skip(c) && cursor_list_end(c, &list);
}

TEST(test_other_types_fail)
{
    static const struct {
        const char *text;
        bool (*read)(struct cursor *c);
        const char *error;
    } rows[] = {
        {"a", read_int, "byte 1 of the term: expected an integer, found an atom"},
        {"1", read_pid, "byte 1 of the term: expected a pid, found an integer"},
        {"-1", read_uint,
         "byte 1 of the term: expected a positive integer of 64 bits, found an integer"},
        {"{a}", read_tuple2, "byte 1 of the term: expected a tuple of 2, found one of 1"},
        {"[]", read_tuple2, "byte 1 of the term: expected a tuple, found an empty list"},
        {"error", read_ok, "byte 1 of the term: expected the atom ok, found error"},
        {"maybe", read_bool, "byte 1 of the term: expected true or false, found an atom"},
        {"[a|b]", read_list, "byte 9 of the term: expected an empty list, found an atom"},
        {"{}", read_list, "byte 1 of the term: expected a list, found a tuple"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cursor c;
        struct builder *b = start(&c, rows[i].text);
        bool ok = rows[i].read(&c);
        if (ok || strcmp(c.err.text, rows[i].error) != 0)
            fail_msg("%s: expected \"%s\", found %d \"%s\"", rows[i].text, rows[i].error, ok,
                     c.err.text);
        /* sticky: nothing is read any more, and the first cause stays */
        assert_int_equal(cursor_kind(&c), ETF_KIND_NONE);
        assert_false(cursor_skip(&c));
        assert_string_equal(c.err.text, rows[i].error);
        builder_free(b);
    }
}

TEST(test_big_integers)
{
    static const struct {
        const char *name;
        uint8_t bytes[16];
        size_t len;
        bool fits_int, fits_uint;
        double number;
    } rows[] = {
        {"2^63", {110, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}, 11, false, true, 9223372036854775808.0},
        {"-2^63", {110, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0x80}, 11, true, false, -9223372036854775808.0},
        {"-2^63-1",
         {110, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0x80},
         11,
         false,
         false,
         -9223372036854775808.0},
        {"2^64", {110, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 12, false, false, 18446744073709551616.0},
        {"2^64 + 2049",
         {110, 9, 0, 1, 8, 0, 0, 0, 0, 0, 0, 1},
         12,
         false,
         false,
         18446744073709555712.0},
        {"1, zeros behind", {111, 0, 0, 0, 3, 0, 1, 0, 0}, 9, true, true, 1.0},
        {"0 as a bignum", {110, 0, 0}, 3, true, true, 0.0},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cursor c;
        double number = 0;
        int64_t v;
        uint64_t u;
        cursor_init(&c, rows[i].bytes, rows[i].len);
        if (cursor_int64(&c, &v) != rows[i].fits_int)
            fail_msg("%s: as int64", rows[i].name);
        cursor_init(&c, rows[i].bytes, rows[i].len);
        if (cursor_uint64(&c, &u) != rows[i].fits_uint)
            fail_msg("%s: as uint64", rows[i].name);
        cursor_init(&c, rows[i].bytes, rows[i].len);
        if (!cursor_number(&c, &number) || number != rows[i].number || !cursor_at_end(&c))
            fail_msg("%s: as number %.1f", rows[i].name, number);
    }
}

/* Unchecked bytes: every read stays within them. */
TEST(test_truncated)
{
    struct cursor c;
    struct builder *b =
        start(&c, "{a,1000,\"str\",[x],<<1,2>>,<0.1.2>,1.5,#{a => 1},-9223372036854775808}");
    size_t len;
    const uint8_t *bytes = builder_bytes(b, &len);
    for (size_t cut = 1; cut < len; cut++) {
        uint8_t exact[128];
        uint8_t *at =
            exact + sizeof(exact) - cut; /* the end of the array is the end of the bytes */
        memcpy(at, bytes, cut);
        size_t n;
        struct etf_pid pid;
        struct slice s;
        struct cursor_list list;
        double d;
        cursor_init(&c, at, cut);
        cursor_tuple(&c, &n);
        cursor_atom_is(&c, "a");
        read_int(&c);
        cursor_list(&c, &list);
        cursor_skip(&c);
        cursor_list_end(&c, &list);
        cursor_binary(&c, &s);
        cursor_pid(&c, &pid, &s);
        cursor_number(&c, &d);
        cursor_map(&c, &n);
        cursor_skip(&c);
        cursor_skip(&c);
        cursor_int64(&c, &(int64_t){0});
        if (!cursor_failed(&c))
            fail_msg("cut at %zu: not noticed", cut);
    }
    builder_free(b);
}

static void check_end(const char *text, bool read, const char *says)
{
    struct cursor c;
    struct error err = {0};
    struct builder *b = start(&c, text);
    bool ok = read ? cursor_skip(&c) : cursor_atom_is(&c, "a");
    int rc = cursor_end(&c, ok, "scan", &err);
    assert_int_equal(rc, *says ? ERR_FORMAT : 0);
    assert_string_equal(err.text, says);
    builder_free(b);
}

TEST(test_end_of_an_answer)
{
    struct cursor c;
    struct error err = {0};
    check_end("{a,1}", true, "");
    check_end("b", false,
              "the node's answer to `scan` is not understood: "
              "byte 1 of the term: expected the atom a, found b");
    struct builder *b = start(&c, "{a,1}");
    size_t arity;
    assert_true(cursor_tuple(&c, &arity));
    assert_int_equal(cursor_end(&c, true, "scan", &err), ERR_FORMAT);
    assert_string_equal(
        err.text, "the node's answer to `scan` is not understood: the end expected at byte 3");
    assert_false(cursor_fail(&c, "more")); /* the first one stays */
    assert_string_equal(c.err.text, "the end expected at byte 3");
    builder_free(b);
}
