/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "app/command/condition.h"

static const struct {
    const char *text;
    bool holds;
} good[] = {
    {"run_queue > 8", true},
    {"run_queue>9", false},
    {"  run_queue >= 9  ", true},
    {"run_queue < 9", false},
    {"run_queue <= 9", true},
    {"run_queue = 9", true},
    {"run_queue == 9", true},
    {"run_queue != 9", false},
    {"memory_total_bytes >= 2GiB", true},
    {"memory_total_bytes > 2 GiB", false},
    {"scheduler_utilisation > 80%", true},
    {"scheduler_utilisation > 0.95", false},
    /* unknown numbers fulfil nothing */
    {"rss_bytes > 0", false},
    {"rss_bytes < 1", false},
    {"rss_bytes != 1", false},
    {"ports < 1000000", false},
};

static const struct {
    const char *text, *says;
} bad[] = {
    {"", "there is no number “”"},
    {"run_queu > 8", "run_queue"},
    {"run_queue", "must follow “run_queue”"},
    {"run_queue 8", "must follow"},
    {"run_queue > ", "is not a number"},
    {"run_queue > many", "“many” is not a number"},
    {"run_queue > 8 and more", "is not a number"},
    {"run_queue > nan", "is not a number"},
};

TEST(test_good)
{
    struct system_sample s = {.run_queue = 9, .use_normal = 0.9, .ports = -1};
    s.memory_bytes[MEMORY_TOTAL] = 2147483648.0;
    s.rss_bytes = (double)NAN;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct condition c;
        struct error err = {0};
        if (condition_parse(&c, good[i].text, &err) != 0)
            fail_msg("%s: %s", good[i].text, err.text);
        if (condition_holds(&c, &s) != good[i].holds)
            fail_msg("%s: is %d", good[i].text, !good[i].holds);
    }
}

TEST(test_bad)
{
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct condition c;
        struct error err = {0};
        assert_int_equal(condition_parse(&c, bad[i].text, &err), ERR_USAGE);
        if (!strstr(err.text, bad[i].says))
            fail_msg("“%s” says: %s", bad[i].text, err.text);
    }
}
