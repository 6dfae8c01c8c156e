/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TEST(name) { … } is a test. The tests of a program run in the order of their lines. */
#ifndef TESTS_TEST_H
#define TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "beamtop/base/attr.h"

/* For main(), which is that of main.c. */
void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down);
void test_around(CMFixtureFunction before, CMFixtureFunction after);

#define TEST_IN_ORDER __attribute__((constructor(1000 + __LINE__)))

#define TEST_OF(name, set_up, tear_down, state)                                                    \
    static void name(void **);                                                                     \
    TEST_IN_ORDER static void name##_add(void)                                                     \
    {                                                                                              \
        test_add(#name, name, set_up, tear_down);                                                  \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))
#define TEST(name) TEST_OF(name, NULL, NULL, unused)

/* With functions that run before the test and after it, and `state` that they set; NULL: none. */
#define TEST_WITH(name, set_up, tear_down) TEST_OF(name, set_up, tear_down, state)

/* Once before all tests of the program, and once after them; NULL: none. */
#define TESTS_WITH(before, after)                                                                  \
    TEST_IN_ORDER static void test_add_around(void)                                                \
    {                                                                                              \
        test_around(before, after);                                                                \
    }                                                                                              \
    _Static_assert(1, "takes the semicolon")

#endif
