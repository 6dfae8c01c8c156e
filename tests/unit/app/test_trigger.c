/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "app/command/trigger.h"

/* One tick a second; the run queue at each, and at which ticks it fires ('x'). */
static const struct {
    const char *name, *when;
    double every_s;
    const char *queue, *fires;
} rows[] = {
    {"once", NULL, 0, "000000", "x....."},
    {"every two seconds", "", 2, "000000", "x.x.x."},
    {"each crossing", "run_queue > 5", 0, "099029",
     "."
     "x..."
     "x"},
    {"never", "run_queue > 5", 1, "012345", "......"},
    {"while it holds", "run_queue > 5", 2, "999990", "x.x.x."},
    {"a crossing within the pause", "run_queue > 5", 3, "909099", "x.x.x."},
};

TEST(test_rows)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trigger t;
        struct error err = {0};
        char fired[16] = "";
        assert_int_equal(trigger_init(&t, rows[i].when, rows[i].every_s, &err), 0);
        for (size_t k = 0; rows[i].queue[k]; k++) {
            struct system_sample s = {.run_queue = rows[i].queue[k] - '0'};
            fired[k] = trigger_fires(&t, &s, (k + 1) * 1000000000u) ? 'x' : '.';
        }
        if (strcmp(fired, rows[i].fires) != 0)
            fail_msg("%s: %s, not %s", rows[i].name, fired, rows[i].fires);
    }
}

TEST(test_bad_condition)
{
    struct trigger t;
    struct error err = {0};
    assert_int_equal(trigger_init(&t, "nonsense", 0, &err), ERR_USAGE);
}
