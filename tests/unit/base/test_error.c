/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/error.h"
#include "beamtop/base/text.h"

TEST(test_first_cause_wins)
{
    struct error err = {0};
    assert_int_equal(error_set(&err, ERR_TIMEOUT, "no answer in %d ms", 5), ERR_TIMEOUT);
    assert_int_equal(error_set(&err, ERR_LOST, "gone"), ERR_LOST);
    assert_int_equal(err.code, ERR_TIMEOUT);
    assert_int_equal(error_set_errno(&err, ENOENT, "open"), ERR_SYSTEM);
    assert_string_equal(err.text, "no answer in 5 ms");
    error_clear(&err);
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(error_set_errno(&err, ENOENT, "open %s", "x"), ERR_SYSTEM);
    assert_string_equal(err.text, "open x: No such file or directory");
}

TEST(test_context)
{
    struct error err = {0};
    error_context(&err, "nothing to add to");
    assert_string_equal(err.text, "");
    error_set(&err, ERR_FORMAT, "bad");
    error_context(&err, "node %s", "a@b");
    assert_string_equal(err.text, "node a@b: bad");
}

TEST(test_text_is_safe)
{
    static const struct {
        const char *raw;
        const char *text;
    } rows[] = {
        {"plain \xC3\xA9", "plain \xC3\xA9"},
        {"\x1B[31mred\n", "\xEF\xBF\xBD[31mred\xEF\xBF\xBD"},
        {"\xFF", "\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct error err = {0};
        error_set(&err, ERR_USAGE, "%s", rows[i].raw);
        if (strcmp(err.text, rows[i].text) != 0)
            fail_msg("row %zu: \"%s\"", i, err.text);
    }
}

TEST(test_long_text_is_cut_at_a_character)
{
    char raw[2000];
    for (size_t lead = 0; lead < 3; lead++) {
        memset(raw, 'x', lead);
        for (size_t i = lead; i + 2 < sizeof(raw); i += 2)
            memcpy(raw + i, "\xC3\xA9", 3);
        raw[sizeof(raw) - 2] = '\0';
        struct error err = {0};
        error_set(&err, ERR_USAGE, "%s", raw);
        size_t len = strlen(err.text);
        assert_in_range(len, sizeof(err.text) - 4, sizeof(err.text) - 1);
        assert_true(text_is_utf8(err.text, len));
        error_context(&err, "%s", raw);
        assert_true(strlen(err.text) < sizeof(err.text));
        assert_true(text_is_utf8(err.text, strlen(err.text)));
    }
}
