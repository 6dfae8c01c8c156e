/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When what a node refused is tried again, and what of it is told. */

#include "../../test.h"
#include "app/recorder/record_retry.h"

#define S_NS UINT64_C(1000000000)

TEST(test_waits)
{
    static const struct {
        const char *name;
        double every_s;
        uint64_t waits_s[9];
    } rows[] = {
        {"doubling up to ten minutes", 10, {10, 20, 40, 80, 160, 320, 600, 600, 600}},
        {"not more often than once a second", 0.1, {1, 2, 4, 8, 16, 32, 64, 128, 256}},
        {"a longer pause that was wished",
         3600,
         {3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600, 3600}},
        {"the least of ours", 300, {300, 600, 600, 600, 600, 600, 600, 600, 600}},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct record_retry r = {0};
        uint64_t now_ns = 5 * S_NS;
        assert_true(record_retry_is_due(&r, now_ns));
        for (size_t k = 0; k < ARRAY_LEN(rows[i].waits_s); k++) {
            uint64_t due_ns = now_ns + rows[i].waits_s[k] * S_NS;
            record_retry_refused(&r, "somebody is there", rows[i].every_s, now_ns);
            if (record_retry_is_due(&r, due_ns - 1) || !record_retry_is_due(&r, due_ns))
                fail_msg("%s: refusal %zu waits %g s", rows[i].name, k + 1, r.wait_s);
            now_ns = due_ns;
        }
    }
}

TEST(test_begins_anew)
{
    struct record_retry r = {0};
    assert_false(record_retry_works(&r));
    for (int i = 0; i < 3; i++)
        record_retry_refused(&r, "busy", 10, 100 * S_NS);
    assert_false(record_retry_is_due(&r, 139 * S_NS));
    record_retry_soon(&r); /* of a node that is back the reason is known all the same */
    assert_true(record_retry_is_due(&r, 0));
    assert_false(record_retry_refused(&r, "busy", 10, 100 * S_NS));
    assert_true(record_retry_is_due(&r, 110 * S_NS));
    assert_true(record_retry_works(&r));
    assert_false(record_retry_works(&r));
    assert_true(record_retry_is_due(&r, 0));
    assert_true(record_retry_refused(&r, "busy", 10, 100 * S_NS));
    assert_true(record_retry_is_due(&r, 110 * S_NS));
}

TEST(test_told)
{
    static const struct {
        const char *before, *now;
        bool told;
    } rows[] = {
        {"", "2 breakpoints are there", true},
        {"2 breakpoints are there", "2 breakpoints are there", false},
        {"2 breakpoints are there", "14 breakpoints are there", false},
        {"by <0.99.0>", "by <0.1234.0>", false},
        {"about 900 calls/s", "about 1000 calls/s: expensive", true},
        {"about 900", "about", true},
        {"about", "about 900", true},
        {"2 breakpoints", "2 trace flags", true},
        {"2 breakpoints", "x breakpoints", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct record_retry r = {0};
        record_retry_refused(&r, rows[i].before, 10, 0);
        if (record_retry_refused(&r, rows[i].now, 10, 0) != rows[i].told)
            fail_msg("'%s' behind '%s'", rows[i].now, rows[i].before);
    }
}

TEST(test_words)
{
    struct record_retry r = {0};
    char text[200];
    record_retry_refused(&r, "somebody is there", 10, 0);
    assert_string_equal(record_retry_text(text, sizeof text, &r, "not traced", true),
                        "not traced: somebody is there; tried again in 10 s, then less often");
    assert_string_equal(record_retry_text(text, sizeof text, &r, "not traced", false),
                        "not traced: somebody is there");
}
