/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/attr.h"
#include "local/maps.h"

static void test_line(void **state)
{
    (void)state;
    struct map map;
    assert_true(map_parse(&map, "7fa6cc000000-7fa6cce00000 rw-p 0001a000 fe:01 1234   /a b/c"));
    assert_int_equal(map.start, 0x7fa6cc000000);
    assert_int_equal(map.end, 0x7fa6cce00000);
    assert_true(map.readable && map.writable && map.is_private && !map.executable);
    assert_int_equal(map.offset, 0x1a000);
    assert_int_equal(map.device_major, 0xfe);
    assert_int_equal(map.device_minor, 1);
    assert_int_equal(map.inode, 1234);
    assert_string_equal(map.path, "/a b/c");
    assert_true(map_parse(&map, "1000-2000 r-xs 00000000 00:00 0 "));
    assert_true(map.readable && map.executable && !map.writable && !map.is_private);
    assert_string_equal(map.path, "");
}

static void test_other_lines(void **state)
{
    (void)state;
    static const char *const lines[] = {"",
                                        "x",
                                        "1000-2000",
                                        "1000-2000 rw-p",
                                        "2000-1000 rw-p 0 0:0 0 ",
                                        "1000-1000 rw-p 0 0:0 0 ",
                                        "1000-2000 rw 0 0:0 0 ",
                                        "1000-2000 rw-p 0 0:0"};
    struct map map;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        assert_false(map_parse(&map, lines[i]));
}

static void test_ours(void **state)
{
    (void)state;
    struct maps maps;
    struct map map;
    struct error err = {.code = ERR_NONE};
    bool code = false, stack = false;
    uint64_t last = 0;
    assert_int_equal(maps_open(&maps, getpid(), &err), 0);
    while (maps_next(&maps, &map)) {
        assert_true(map.start >= last);
        last = map.end;
        code = code || (map.executable && map.start <= (uintptr_t)&map_parse &&
                        (uintptr_t)&map_parse < map.end && strstr(map.path, "test_maps"));
        stack = stack || strcmp(map.path, "[stack]") == 0;
    }
    maps_close(&maps);
    assert_true(code && stack);
}

static void test_no_process(void **state)
{
    (void)state;
    struct maps maps;
    struct error err = {.code = ERR_NONE};
    assert_int_equal(maps_open(&maps, 0, &err), ERR_SYSTEM);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(err.code, ERR_SYSTEM);
    maps_close(&maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_other_lines),
        cmocka_unit_test(test_ours),
        cmocka_unit_test(test_no_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
