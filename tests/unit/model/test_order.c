/* SPDX-License-Identifier: GPL-3.0-or-later */

#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "model/internal.h"

#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

/* Four processes in the order of the target's answer: c, a, one without a name, b. */
static const struct proc_row answer[] = {
    {.pid = {.id = 7}, .name = TEXT("c"), .initial_call = TEXT("m:c/0"), .age_s = 1},
    {.pid = {.id = 1, .serial = 1}, .name = TEXT("a"), .initial_call = TEXT("m:z/0"), .age_s = 3},
    {.pid = {.id = 9}, .initial_call = TEXT("m:b/0"), .age_s = 2},
    {.pid = {.id = 2}, .name = TEXT("b"), .age_s = 3},
};

static const struct {
    const char *key;
    bool ascending;      /* the other way round, for text */
    int rows, asked_pid; /* id of a followed process; 0: none */
    const char *ids;
    int64_t total, among;
} rows[] = {
    {"name", false, 4, 0, "1 2 7 9 ", 4, -1}, /* the unnamed one goes by its initial call, m:b/0 */
    {"name", true, 4, 0, "9 7 2 1 ", 4, -1},
    {"initial_call", false, 4, 0, "9 7 1 2 ", 4, -1}, /* unknown is last */
    {"initial_call", true, 4, 0, "1 7 9 2 ", 4, -1},  /* both ways */
    {"pid", false, 4, 0, "2 7 9 1 ", 4, -1},          /* by serial first */
    {"age_s", false, 4, 0, "1 2 9 7 ", 4, -1}, /* numbers go down; equal ones keep their order */
    {"age_s", true, 4, 0, "7 9 1 2 ", 4, -1},
    {"name", false, 2, 0, "1 2 ", 4, -1},
    {"name", false, 2, 9, "1 2 9 ", 4, -1},
    {"name", false, 2, 0, "1 2 ", 100, 4},
};

TEST(test_rows)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct proc_row copy[ARRAY_LEN(answer)];
        char ids[64] = "";
        struct proc_scan scan = {
            .rows = copy, .n_rows = ARRAY_LEN(answer), .matching = rows[i].total};
        struct want_scan asked = {.rows = rows[i].rows, .ascending = rows[i].ascending};
        memcpy(copy, answer, sizeof copy);
        if (rows[i].asked_pid)
            asked.pids[asked.n_pids++] = (struct etf_pid){.id = (uint32_t)rows[i].asked_pid};
        order_rows(&scan, proc_column_find(rows[i].key), &asked);
        for (size_t k = 0; k < scan.n_rows; k++)
            snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%u ", scan.rows[k].pid.id);
        if (strcmp(ids, rows[i].ids) != 0)
            fail_msg("row %zu, %s: %s, not %s", i, rows[i].key, ids, rows[i].ids);
        assert_int_equal(scan.sorted_among, rows[i].among);
    }
}
