/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/slice.h"

TEST(test_nothing)
{
    const struct slice none = {0};
    assert_true(slice_equal(none, slice_of("")));
    assert_true(slice_is(none, ""));
    assert_true(slice_begins(none, ""));
    assert_false(slice_begins(none, "a"));
    assert_int_equal(slice_order(none, none), 0);
    assert_true(slice_order(none, slice_of("a")) < 0);
    assert_int_equal(slice_without(none, "a").len, 0);
}

TEST(test_comparisons)
{
    const struct slice ab = {"abc", 2};
    assert_true(slice_is(ab, "ab"));
    assert_false(slice_is(ab, "abc"));
    assert_false(slice_is(ab, "a"));
    assert_false(slice_is(ab, "ac"));
    assert_true(slice_begins(ab, "a"));
    assert_true(slice_begins(ab, "ab"));
    assert_false(slice_begins(ab, "abc")); /* what stands behind it is not its own */
    assert_true(slice_order(ab, slice_of("abc")) < 0);
    assert_true(slice_order(slice_of("b"), ab) > 0);
    assert_true(slice_order(slice_of("\xC3\xA9"), slice_of("z")) > 0); /* bytes have no sign */
}

TEST(test_without)
{
    assert_true(slice_is(slice_without(slice_of("Elixir.Foo"), "Elixir."), "Foo"));
    assert_true(slice_is(slice_without(slice_of("Elixir."), "Elixir."), "Elixir."));
    assert_true(slice_is(slice_without(slice_of("foo"), "Elixir."), "foo"));
}

TEST(test_keep)
{
    struct arena arena;
    arena_init(&arena);
    char text[] = "abc";
    struct slice kept = slice_keep(&arena, (struct slice){text, 2});
    text[0] = 'x';
    assert_string_equal(kept.s, "ab");
    assert_string_equal(slice_keep(&arena, (struct slice){0}).s, "");
    arena_clear(&arena);
}

TEST(test_keep_of_a_buffer)
{
    struct arena arena;
    struct buf b;
    arena_init(&arena);
    buf_init(&b, 0);
    assert_string_equal(slice_take(&arena, &b).s, "");
    buf_puts(&b, "abc");
    struct slice kept = slice_take(&arena, &b);
    assert_int_equal(kept.len, 3);
    assert_string_equal(kept.s, "abc");
    assert_int_equal(b.len, 0);
    kept = slice_keep_safe(&arena, (struct slice){"a\x1b\xC3\xA9", 4}, true);
    assert_string_equal(kept.s, "a??");
    kept = slice_keep_safe(&arena, (struct slice){"a\x1b\xC3\xA9", 4}, false);
    assert_string_equal(kept.s, "a\xEF\xBF\xBD\xC3\xA9");
    assert_int_equal(kept.len, strlen(kept.s));
    assert_int_equal(slice_keep_safe(&arena, (struct slice){0}, true).len, 0);
    arena_clear(&arena);
}
