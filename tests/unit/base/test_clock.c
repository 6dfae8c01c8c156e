/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "beamtop/base/clock.h"

static void test_monotonic_does_not_go_back(void **state)
{
    (void)state;
    uint64_t last = clock_mono_ns();
    for (int i = 0; i < 1000; i++) {
        uint64_t now = clock_mono_ns();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_monotonic_does_not_go_back)};
    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
