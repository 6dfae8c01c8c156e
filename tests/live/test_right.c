/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the program prints of a node agrees with what the node says of itself just before and just
 * after: every number between the two, the top 20 by every column, filters, counts, names. The node
 * writes its own view as JSON into a file. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/attr.h"
#include "right.h"

static const struct {
    const char *name;
    CMUnitTestFunction function;
    enum { DIFFER, SAME, OWN } on; /* OWN: this system's own release */
} checks[] = {
    {"top by every column", test_top_by_every_column, DIFFER},
    {"rates", test_rates, SAME},
    {"reversed", test_reversed, SAME},
    {"filters", test_filters, SAME},
    {"own processes", test_own, SAME},
    {"system and info", test_info, DIFFER},
    {"busy", test_busy, SAME},
    {"schedulers", test_schedulers, SAME},
    {"memory", test_memory, DIFFER},
    {"apps", test_apps, SAME},
    {"process", test_process, DIFFER},
    {"hostile names", test_hostile_names, DIFFER},
    {"crowd", test_crowd, SAME},
    {"company", test_company, SAME},
    {"embedded", test_embedded, SAME},
    {"elixir", test_elixir, OWN},
};

static bool is_chosen(size_t check, const char *release)
{
    if (checks[check].on == DIFFER)
        return node_is_chosen(release);
    return node_is_chosen_once(release) && (checks[check].on == SAME || strcmp(release, "25") == 0);
}

int main(void)
{
    static struct CMUnitTest tests[NODE_RELEASES * ARRAY_LEN(checks)];
    static char names[NODE_RELEASES * ARRAY_LEN(checks)][64];
    static struct target targets[NODE_RELEASES];
    size_t n = 0;
    if (node_has_nothing_to_test())
        return 0;
    for (size_t t = 0; t < NODE_RELEASES; t++) {
        targets[t].release = node_releases[t];
        for (size_t c = 0; c < ARRAY_LEN(checks); c++) {
            if (!is_chosen(c, node_releases[t]))
                continue;
            snprintf(names[n], sizeof names[n], "OTP %s: %s", node_releases[t], checks[c].name);
            tests[n] = (struct CMUnitTest){names[n], checks[c].function, NULL, NULL, &targets[t]};
            n++;
        }
    }
    const char *only = getenv("BEAMTOP_TEST_ONLY"); /* by hand: a part of a name, with * */
    if (only)
        cmocka_set_test_filter(only);
    int failed = _cmocka_run_group_tests("right", tests, n, NULL, NULL);
    for (size_t t = 0; t < NODE_RELEASES; t++)
        target_end(&targets[t]);
    return failed;
}
