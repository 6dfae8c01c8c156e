/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where samples were taken, and native calls that held a scheduler. */
#include <string.h>

#include "../../test.h"
#include "app/sample/held.h"
#include "app/sample/spread.h"

/* Letters are places. */
TEST(test_spread)
{
    static const struct {
        const char *name, *places, *sorted;
        int64_t first, moves;
    } rows[] = {
        {"none", "", "", 0, 0},
        {"one", "aaa", "a", 3, 0},
        {"there and back", "aba", "ab", 2, 2},
        {"the most first", "abbbc", "bac", 3, 2},
        {"ties by number", "cba", "abc", 1, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spread s = {0};
        char sorted[16] = "";
        for (const char *at = rows[i].places; *at; at++)
            spread_add(&s, (uint32_t)(*at - 'a'));
        spread_sort(&s);
        for (size_t k = 0; k < s.n; k++)
            sorted[k] = (char)('a' + s.list[k].place);
        if (strcmp(sorted, rows[i].sorted) != 0 || s.moves != rows[i].moves ||
            (s.n > 0 && s.list[0].samples != rows[i].first))
            fail_msg("%s: %s, %d moves", rows[i].name, sorted, (int)s.moves);
        spread_clear(&s);
    }
}

/* What finds no room still counts, as samples and as moves. */
TEST(test_spread_is_bounded)
{
    struct spread s = {0};
    for (uint32_t place = 0; place < 2 * LIMIT_SAMPLED_PLACES; place++)
        spread_add(&s, place);
    assert_int_equal(s.n, LIMIT_SAMPLED_PLACES);
    assert_int_equal(s.samples, 2 * LIMIT_SAMPLED_PLACES);
    assert_int_equal(s.moves, 2 * LIMIT_SAMPLED_PLACES - 1);
    spread_clear(&s);
}

/* Samples of one thread, 10 ms apart: digits are calls, "." none. */
TEST(test_held)
{
    static const struct {
        const char *name, *calls;
        size_t n;
        unsigned longest_ms;
        int64_t samples;
    } rows[] = {
        {"nothing", "", 0, 0, 0},
        {"one sample is none", "1.2.1", 0, 0, 0},
        {"two samples", "1.22.", 1, 10, 2},
        {"the longest first", "11.2222.33", 3, 30, 4},
        {"one that lasts", "..1111", 1, 30, 4},
        {"the same again is another one", "111.111", 2, 20, 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct held h = {0};
        struct held_call now = {0};
        for (size_t k = 0; rows[i].calls[k]; k++) {
            const char c = rows[i].calls[k];
            const struct sample s = {.mono_ns = UINT64_C(10000000) * (k + 1),
                                     .call = c == '.' ? 0 : (uint64_t)(c - '0')};
            const bool began = held_take(&h, &now, &s);
            assert_true(began == (c != '.' && (k == 0 || rows[i].calls[k - 1] != c)));
        }
        held_keep(&h, &now);
        if (h.n != rows[i].n ||
            (h.n > 0 && (h.list[0].last_ns - h.list[0].first_ns != rows[i].longest_ms * 1000000u ||
                         h.list[0].samples != rows[i].samples)))
            fail_msg("%s: %zu", rows[i].name, h.n);
    }
}

/* The longest are kept, whatever came first. */
TEST(test_held_is_bounded)
{
    struct held h = {0};
    for (uint64_t i = 1; i <= 3 * LIMIT_SAMPLED_HELD; i++) {
        const uint64_t ns = i * 7919 % (3 * LIMIT_SAMPLED_HELD + 1);
        const struct held_call call = {.call = i, .last_ns = ns, .samples = 2};
        held_keep(&h, &call);
    }
    assert_int_equal(h.n, LIMIT_SAMPLED_HELD);
    for (size_t i = 0; i + 1 < h.n; i++)
        assert_true(h.list[i].last_ns >= h.list[i + 1].last_ns);
    assert_true(h.list[h.n - 1].last_ns > LIMIT_SAMPLED_HELD);
}
