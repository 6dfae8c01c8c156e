/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "test.h"

static struct CMUnitTest tests[64]; /* cmocka leaves out those without a name */
static size_t n_tests;
static CMFixtureFunction before_all, after_all;

void test_add(const char *name, CMUnitTestFunction test, CMFixtureFunction set_up,
              CMFixtureFunction tear_down)
{
    if (n_tests == ARRAY_LEN(tests))
        abort();
    tests[n_tests++] = (struct CMUnitTest){name, test, set_up, tear_down, NULL};
}

void test_around(CMFixtureFunction before, CMFixtureFunction after)
{
    before_all = before;
    after_all = after;
}

/* Not a tail call: test_images looks for main() among the callers. */
int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* so that the log of one that hangs says how far it came */
    return cmocka_run_group_tests_name(program_invocation_short_name, tests, before_all,
                                       after_all) != 0;
}
