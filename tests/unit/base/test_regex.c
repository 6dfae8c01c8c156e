/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/regex.h"

static struct regex *compiled(const char *pattern)
{
    struct regex *re = NULL;
    size_t offset;
    struct error err = {0};
    if (regex_new(&re, pattern, &offset, &err) != 0)
        fail_msg("%s: %s", pattern, err.text);
    return re;
}

TEST(test_matches)
{
    static const struct {
        const char *pattern, *subject;
        int from, to; /* -1: no match */
    } rows[] = {
        {"", "", 0, 0},
        {"ssl", "a_ssl_b", 2, 5},
        {"^ssl", "a_ssl", -1, -1},
        {"foo", "FOO", 0, 3}, /* smart case: no upper-case letter, so case is ignored */
        {"Foo", "foo", -1, -1},
        {"\\Wfoo", "-FOO", 0, 4},       /* the W of an escape does not count */
        {"\xD0\xB4", "\xD0\x94", 0, 2}, /* also beyond ASCII */
        {"\xD0\x94", "\xD0\xB4", -1, -1},
        {"^.$", "\xD0\xB4", 0, 2},
        {"b",
         "\xFF"
         "b",
         1, 2}, /* bytes that are no UTF-8 do not hide what follows */
        {"a|b(?=c)", "xbc", 1, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct regex *re = compiled(rows[i].pattern);
        size_t from = 0, to = 0;
        bool found = regex_find(re, rows[i].subject, strlen(rows[i].subject), &from, &to);
        if (found != (rows[i].from >= 0) ||
            (found && ((int)from != rows[i].from || (int)to != rows[i].to)))
            fail_msg("%s in %s: %d %zu-%zu", rows[i].pattern, rows[i].subject, found, from, to);
        assert_int_equal(regex_match(re, rows[i].subject, strlen(rows[i].subject)), found);
        assert_false(regex_gave_up(re));
        regex_free(re);
    }
}

TEST(test_errors_have_a_place)
{
    static const struct {
        const char *pattern;
        size_t offset;
    } rows[] = {
        {"a(b", 3}, {"a)b", 1}, {"[a", 2}, {"a**b", 2}, {"\xC3\xA9(", 3}, {"\xFF", 0}, {"\\C", 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct regex *re = NULL;
        size_t offset = 99;
        struct error err = {0};
        int rc = regex_new(&re, rows[i].pattern, &offset, &err);
        if (rc != ERR_USAGE || re || offset != rows[i].offset)
            fail_msg("%s: %d, at %zu, %s", rows[i].pattern, rc, offset, err.text);
        assert_non_null(strstr(err.text, "invalid regex at column"));
    }
    char longest[LIMIT_REGEX_BYTES + 2];
    memset(longest, 'a', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    struct regex *re = NULL;
    size_t offset;
    struct error err = {0};
    assert_int_equal(regex_new(&re, longest, &offset, &err), ERR_USAGE);
    longest[LIMIT_REGEX_BYTES] = '\0';
    re = compiled(longest);
    regex_free(re);
    regex_free(NULL);
}

static const char *const catastrophic[] = {
    "(a+)+$", "(a+a+)+b", "^(a|aa)+$", "(.*)*z!", "(?:(?=[^q]*)a)*$",
};

/* Endless backtracking gives up after a fixed number of steps; the next text matches as ever. */
TEST(test_gives_up)
{
    char subject[4096];
    memset(subject, 'a', sizeof(subject));
    memcpy(subject + sizeof(subject) - 7, "cb z !c", 7);
    for (size_t i = 0; i < ARRAY_LEN(catastrophic); i++) {
        struct regex *re = compiled(catastrophic[i]);
        assert_int_equal(regex_steps(re), 0);
        assert_false(regex_match(re, subject, sizeof(subject)));
        assert_true(regex_gave_up(re));
        assert_true(regex_steps(re) <= LIMIT_REGEX_STEPS);
        regex_free(re);
    }
    struct regex *re = compiled("^(a+)+$|b$");
    assert_false(regex_match(re, subject, sizeof(subject)));
    assert_true(regex_gave_up(re));
    assert_true(regex_match(re, "aab", 3));
    assert_false(regex_gave_up(re));
    regex_free(re);
}

/* Many texts share what they are allowed; nothing matches beyond it. */
TEST(test_allowance)
{
    char subject[201];
    struct regex *re = compiled("(a+)+$|b$");
    int n = 0;
    memset(subject, 'a', sizeof subject - 1);
    subject[sizeof subject - 1] = '!';
    regex_allow(re, 10 * LIMIT_REGEX_STEPS);
    for (; n < 1000 && !regex_is_spent(re); n++)
        assert_false(regex_match(re, subject, sizeof subject));
    assert_int_equal(n, 10);
    assert_int_equal(regex_steps(re), 10 * LIMIT_REGEX_STEPS);
    assert_false(regex_match(re, "aab", 3));
    assert_true(regex_gave_up(re));
    regex_allow(re, LIMIT_REGEX_STEPS);
    assert_true(regex_match(re, "aab", 3));
    regex_free(re);
}
