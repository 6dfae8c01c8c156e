/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "../../test.h"
#include "app/source/feed.h"
#include "beamtop/model/snapshot.h"

#define SECOND UINT64_C(1000000000)
#define CREATION 7

/* A scan of a second ago, as leaders can take it; each row makes one thing otherwise. */
static const struct {
    const char *name;
    size_t rows;
    const char *sort_key;
    bool by_value, ascending, filtered, sorted_here;
    uint32_t creation;
    uint64_t age_ns;
    bool has_busiest;
} cases[] = {
    {.name = "as it is", .has_busiest = true},
    {.name = "few rows", .rows = 19},
    {.name = "by memory", .sort_key = "memory_bytes"},
    {.name = "by value, or the first one", .by_value = true},
    {.name = "the least first", .ascending = true},
    {.name = "filtered", .filtered = true},
    {.name = "sorted here", .sorted_here = true},
    {.name = "of another life of the node", .creation = CREATION + 1},
    {.name = "of nine seconds ago", .age_ns = 9 * SECOND, .has_busiest = true},
    {.name = "of ten seconds ago", .age_ns = 10 * SECOND},
};

TEST(test_busiest)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct proc_row rows[20] = {
            {.pid = {.id = 80, .creation = cases[i].creation ? cases[i].creation : CREATION}}};
        uint64_t now_ns = 100 * SECOND;
        struct proc_scan scan = {
            .mono_ns = now_ns - (cases[i].age_ns ? cases[i].age_ns : SECOND),
            .rows = rows,
            .n_rows = cases[i].rows ? cases[i].rows : ARRAY_LEN(rows),
            .sort_key = cases[i].sort_key ? cases[i].sort_key : "reductions_per_s",
            .by_delta = !cases[i].by_value,
            .ascending = cases[i].ascending,
            .filtered = cases[i].filtered,
            .sorted_among = cases[i].sorted_here ? 50 : -1,
        };
        if (feed_has_busiest(&scan, now_ns, CREATION) != cases[i].has_busiest)
            fail_msg("%s", cases[i].name);
    }
}

/* Two answers to `facts` say what passed in between: soon, and then as before. */
TEST(test_waits)
{
    static const struct {
        enum question question;
        int waits_s[4];
    } rows[] = {
        {QUESTION_FACTS, {10, 50, 60, 60}},
        {QUESTION_LEADERS, {10, 10, 10, 10}},
        {QUESTION_GROWTH, {10, 10, 10, 10}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (unsigned n = 0; n < ARRAY_LEN(rows[i].waits_s); n++)
            assert_int_equal(feed_wait_s(&question_rows[rows[i].question], n), rows[i].waits_s[n]);
}
