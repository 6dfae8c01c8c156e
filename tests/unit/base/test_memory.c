/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/alloc.h"
#include "beamtop/base/arena.h"
#include "beamtop/base/buf.h"
#include "beamtop/base/ring.h"

TEST(test_alloc)
{
    int *zeros = alloc_zero(3, sizeof(*zeros));
    assert_int_equal(zeros[0] | zeros[1] | zeros[2], 0);
    zeros[2] = 7;
    zeros = alloc_resize(zeros, 1000, sizeof(*zeros));
    assert_int_equal(zeros[2], 7);
    free(zeros);
    free(alloc_zero(0, 8));
    free(alloc_resize(NULL, 0, 8));
    char *s = alloc_strndup("ab\0cd", 5);
    assert_memory_equal(s, "ab\0cd", 6);
    free(s);
    s = alloc_strdup("");
    assert_string_equal(s, "");
    free(s);
    s = alloc_printf("%s-%d", "x", 12);
    assert_string_equal(s, "x-12");
    free(s);
}

TEST(test_arena)
{
    struct arena a;
    arena_init(&a);
    for (int round = 0; round < 3; round++) {
        char *last = NULL;
        for (size_t n = 0; n < 2000; n++) {
            char *p = arena_alloc(&a, n);
            assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(p[i], 0); /* also after a reset */
            memset(p, 0xAA, n);
            assert_ptr_not_equal(p, last);
            last = p;
        }
        assert_true(a.used_bytes >= 2000 * 1999 / 2);
        assert_string_equal(arena_printf(&a, "%d/%s", 4, "x"), "4/x");
        assert_string_equal(arena_strdup(&a, "dup"), "dup");
        assert_memory_equal(arena_strndup(&a, "a\0b", 3), "a\0b", 4);
        arena_reset(&a);
        assert_int_equal(a.used_bytes, 0);
        assert_non_null(a.head);
    }
    char *large = arena_alloc(&a, 1000000);
    large[999999] = 1;
    arena_reset(&a); /* an oversized block is not kept */
    assert_null(a.head);
    arena_clear(&a);
    arena_clear(&a);
}

TEST(test_buf_appends)
{
    struct buf b;
    buf_init(&b, 0);
    assert_string_equal(buf_cstr(&b), "");
    buf_put_u8(&b, 1);
    buf_put_u16be(&b, 0x0203);
    buf_put_u32be(&b, 0x04050607);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(b.data[i], i + 1);
    buf_drop_front(&b, 6);
    assert_int_equal(b.len, 1);
    assert_int_equal(b.data[0], 7);
    buf_reset(&b);
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, "%d,", i % 10);
    assert_int_equal(b.len, 2000);
    assert_int_equal(strlen(buf_cstr(&b)), 2000);
    char *taken = buf_take(&b);
    assert_int_equal(b.len, 0);
    assert_int_equal(strlen(taken), 2000);
    free(taken);
    taken = buf_take(&b);
    assert_string_equal(taken, "");
    free(taken);
    buf_clear(&b);
}

TEST(test_buf_has_a_cap)
{
    struct buf b;
    buf_init(&b, 8);
    buf_puts(&b, "12345678");
    assert_false(b.overflow);
    buf_put(&b, "", 0);
    assert_false(b.overflow);
    buf_printf(&b, "%d", 9);
    assert_true(b.overflow);
    assert_string_equal(buf_cstr(&b), "12345678");
    buf_drop_front(&b, 4);
    buf_put_u8(&b, 'x'); /* what comes after a gap is dropped too */
    assert_string_equal(buf_cstr(&b), "5678");
    buf_reset(&b);
    assert_false(b.overflow);
    buf_put(&b, "123456789", 9);
    assert_int_equal(b.len, 0);
    assert_true(b.overflow);
    buf_clear(&b);
    buf_puts(&b, "again");
    assert_string_equal(buf_cstr(&b), "again");
    buf_clear(&b);
}

TEST(test_ring)
{
    struct ring r;
    ring_init(&r, 3);
    assert_true(isnan(ring_at(&r, 0)));
    ring_push(&r, 9);
    ring_push(&r, NAN);
    assert_true(isnan(ring_at(&r, 0)));
    assert_true(ring_at(&r, 1) == 9);
    assert_true(isnan(ring_at(&r, 2)));
    ring_push(&r, -1);
    ring_push(&r, -2); /* 9 falls out */
    assert_int_equal(r.len, 3);
    assert_true(ring_at(&r, 0) == -2 && ring_at(&r, 1) == -1 && isnan(ring_at(&r, 2)));
    ring_clear(&r);
}
