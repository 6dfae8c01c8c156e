/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program prints of a node agrees with what the node says of itself just before and just
 * after: every number between the two, the top 20 by every column, filters, counts, names. On every
 * release that is here. The node writes its own view as JSON into
 * a file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "beamtop/base/attr.h"
#include "right.h"

static struct target targets[] = {
    {.release = "25"},
    {.release = "23", .root_name = "otp-23"},
    {.release = "27", .root_name = "otp-27"},
    {.release = "29", .root_name = "otp-29"},
};

int main(void)
{
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } checks[] = {
        {"top by every column", test_top_by_every_column},
        {"top by change", test_top_by_change},
        {"reversed", test_reversed},
        {"filters", test_filters},
        {"own processes", test_own},
        {"system", test_system},
        {"info", test_info},
        {"busy", test_busy},
        {"schedulers", test_schedulers},
        {"memory", test_memory},
        {"apps", test_apps},
        {"process", test_process},
        {"hostile names", test_hostile_names},
        {"births and deaths", test_births_and_deaths},
        {"crowd", test_crowd},
        {"company", test_company},
        {"head", test_head},
        {"bare and embedded", test_bare_and_embedded},
        {"elixir", test_elixir},
        {"end", test_end},
    };
    static struct CMUnitTest tests[ARRAY_LEN(targets) * ARRAY_LEN(checks)];
    static char names[ARRAY_LEN(targets) * ARRAY_LEN(checks)][64];
    if (!getenv("BEAMTOP") || !node_available(NULL)) {
        puts("1..0 # SKIP needs BEAMTOP (the program) and an Erlang on this machine");
        return 77;
    }
    for (size_t t = 0; t < ARRAY_LEN(targets); t++)
        for (size_t c = 0; c < ARRAY_LEN(checks); c++) {
            size_t i = t * ARRAY_LEN(checks) + c;
            snprintf(names[i], sizeof names[i], "OTP %s: %s", targets[t].release, checks[c].name);
            tests[i] = (struct CMUnitTest){names[i], checks[c].function, NULL, NULL, &targets[t]};
        }
    const char *only = getenv("BEAMTOP_TEST_ONLY"); /* by hand: a part of a name, with * */
    if (only)
        cmocka_set_test_filter(only);
    return _cmocka_run_group_tests("right", tests, ARRAY_LEN(tests), NULL, NULL);
}
