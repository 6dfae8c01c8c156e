/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scans that were kept, shown in other orders, numbers, and with a filter. */

#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "answers.h"
#include "beamtop/model/filter.h"

/* By reductions: 41, 42, 43, 44. Memory 4000, 1000, 3000, 2000; two of the shop. */
#define ROW(id, name, app, delta, memory)                                                          \
    "{<0." id ".0>, " delta ", " delta ", {{" name ", {m,f,1}, undefined, " app                    \
    ", {proc_lib,init_p,5}}, 9000, 3, " memory ", {gen_server,loop,7}}}"
#define SCAN                                                                                       \
    "{scan, -576460100000000000, 1000000000, 1234, 50, 50, 2, [" ROW(                              \
        "41", "d", "shop", "900",                                                                  \
        "4000") ", " ROW("42", "a", "kernel", "800",                                               \
                         "1000") ", " ROW("43", "c", "shop", "700",                                \
                                          "3000") ", " ROW("44", "b", "stdlib", "600",             \
                                                           "2000") "], []}"

static const struct {
    const char *sort;
    bool by_delta, ascending;
    int rows;
    const char *filter, *ids;
    int64_t matching, among; /* 50 processes were there, 4 are recorded */
} rows[] = {
    {"reductions_per_s", true, false, 10, "", "41 42 43 44 ", 50, -1},
    {"reductions_per_s", true, false, 2, "", "41 42 ", 50, -1},
    {"reductions_per_s", true, true, 10, "", "44 43 42 41 ", 50, 4},
    {"memory_bytes", false, false, 10, "", "41 43 44 42 ", 50, 4},
    {"memory_bytes", false, true, 1, "", "42 ", 50, 4},
    {"name", false, false, 10, "", "42 44 43 41 ", 50, 4},
    {"reductions_per_s", true, false, 10, "app=shop", "41 43 ", 2, -1},
    {"memory_bytes", false, true, 1, "app=shop", "43 ", 2, 4},
    {"name", false, false, 10, "app=nobody", "", 0, 4},
    {"reductions_per_s", true, false, 10, "", "41 42 43 44 ", 50,
     -1}, /* nothing of all that stays */
};

static bool matches(void *arg, const struct proc_row *row)
{
    return filter_match_row(arg, row);
}

TEST(test_rows)
{
    struct term t = term_of(SCAN);
    struct error err = {0};
    struct model *m = model_new();
    struct filter *f = filter_new();
    size_t len = 0, offset = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    const struct want_scan asked = {
        .sort_key = "reductions_per_s", .by_delta = true, .rows = 60, .items = SCAN_ITEMS};
    assert_int_equal(model_take_recorded(m, QUESTION_SCAN, bytes + 1, len - 1, &asked, 1, &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct want_scan shown = {.sort_key = rows[i].sort,
                                        .by_delta = rows[i].by_delta,
                                        .ascending = rows[i].ascending,
                                        .rows = rows[i].rows};
        char ids[64] = "";
        assert_int_equal(filter_set(f, rows[i].filter, &offset, &err), 0);
        model_show_recorded(m, &shown, *rows[i].filter ? matches : NULL, f);
        const struct proc_scan *scan = model_scan(m);
        for (size_t k = 0; k < scan->n_rows; k++)
            snprintf(ids + strlen(ids), sizeof ids - strlen(ids), "%u ", scan->rows[k].pid.id);
        if (strcmp(ids, rows[i].ids) != 0 || scan->matching != rows[i].matching ||
            scan->sorted_among != rows[i].among || scan->recorded != 4 || scan->total != 50)
            fail_msg("row %zu, %s: %s, not %s; %lld matching, among %lld", i, rows[i].sort, ids,
                     rows[i].ids, (long long)scan->matching, (long long)scan->sorted_among);
    }
    filter_free(f);
    model_free(m);
    term_free(&t);
}

/* Who is watched and was ranked is there beside the rows when another order leaves it out of them.
 */
TEST(test_watched)
{
    struct term t = term_of(SCAN);
    struct error err = {0};
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    struct want_scan asked = {.sort_key = "name", .rows = 2, .items = SCAN_ITEMS, .n_watched = 2};
    struct model *m = model_new();
    asked.watched[0] = (struct etf_pid){.id = 41};
    asked.watched[1] = (struct etf_pid){.id = 42};
    assert_int_equal(model_take(m, QUESTION_SCAN, bytes + 1, len - 1, &asked, 1, &err), 0);
    const struct proc_scan *scan = model_scan(m);
    assert_int_equal(scan->n_rows, 2);
    assert_int_equal(scan->rows[0].pid.id, 42);
    assert_int_equal(scan->n_watched, 1);
    assert_int_equal(scan->watched[0].pid.id, 41);
    model_free(m);
    term_free(&t);
}

/* A live scan is not a kept one: there is nothing to show of it in another order. */
TEST(test_live)
{
    struct term t = term_of(SCAN);
    struct error err = {0};
    struct model *m = model_new();
    size_t len = 0;
    const uint8_t *bytes = builder_bytes(t.builder, &len);
    const struct want_scan asked = {
        .sort_key = "reductions_per_s", .by_delta = true, .rows = 60, .items = SCAN_ITEMS};
    const struct want_scan other = {.sort_key = "name", .rows = 1};
    model_show_recorded(m, &other, NULL, NULL); /* before any */
    assert_int_equal(model_take(m, QUESTION_SCAN, bytes + 1, len - 1, &asked, 1, &err), 0);
    model_show_recorded(m, &other, NULL, NULL);
    assert_int_equal(model_scan(m)->n_rows, 4);
    assert_int_equal(model_scan(m)->recorded, -1);
    model_free(m);
    term_free(&t);
}
