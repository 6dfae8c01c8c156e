/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/spans.h"
#include "beamtop/trace/spans_request.h"

TEST(test_good_lines)
{
    static const struct {
        const char *line, *pattern, *procs, *process;
        unsigned roots, every, for_ms, events;
        bool full, force;
    } rows[] = {
        {"shop:pay/1", "shop:pay/1", "", "", 20, 1, 10000, SPANS_MOST_EVENTS, false, false},
        {" a:b(X) when X > 3  --roots 5 --every 100", "a:b(X) when X > 3", "", "", 5, 100, 10000,
         SPANS_MOST_EVENTS, false, false},
        {"a:b --full --time 250ms --force", "a:b", "", "", 20, 1, 250, SPANS_MOST_EVENTS, true,
         true},
        {"a:b(' --full') --events 50  --procs app:shop ", "a:b(' --full')", "app:shop", "", 20, 1,
         10000, 50, false, false},
        {" --process <0.12.0> --roots 5", "", "", "<0.12.0>", 5, 1, 10000, SPANS_MOST_EVENTS, false,
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spans_request r;
        struct error err = {0};
        size_t offset;
        if (spans_request_parse(&r, rows[i].line, &offset, &err) != 0)
            fail_msg("%s: %s", rows[i].line, err.text);
        assert_string_equal(r.pattern, rows[i].pattern);
        assert_string_equal(r.procs, rows[i].procs);
        assert_string_equal(r.process, rows[i].process);
        assert_int_equal(r.roots, rows[i].roots);
        assert_int_equal(r.every, rows[i].every);
        assert_int_equal(r.for_ms, rows[i].for_ms);
        assert_int_equal(r.events, rows[i].events);
        assert_int_equal(r.full, rows[i].full);
        assert_int_equal(r.force, rows[i].force);
    }
}

TEST(test_calls_within)
{
    struct spans_request r;
    struct error err = {0};
    size_t offset;
    assert_int_equal(spans_request_parse(&r, "a:b --calls a:_ --full", &offset, &err), 0);
    assert_string_equal(r.pattern, "a:b");
    assert_string_equal(r.calls, "a:_");
    assert_false(r.context);
    assert_int_equal(spans_request_parse(&r, "a:b --context --full", &offset, &err), 0);
    assert_true(r.context);
    assert_false(r.no_payloads);
    assert_int_equal(spans_request_parse(&r, "a:b --no-payloads", &offset, &err), 0);
    assert_true(r.no_payloads);
    assert_int_equal(spans_request_parse(&r, "a:b --full", &offset, &err), 0);
    assert_string_equal(r.calls, "");
}

TEST(test_errors_are_placed)
{
    static const struct {
        const char *line;
        size_t at;
    } rows[] = {
        {"", 0},
        {"--roots 5", 0},
        {"a:b --process shop_cart", 0},
        {"--process", 9},
        {"a:b --nothing 5", 4},
        {"a:b --roots", 11},
        {"a:b --roots many", 12},
        {"a:b --roots 0", 12},
        {"a:b --roots -5", 12},
        {"a:b --roots 1001", 12},
        {"a:b --roots 99999999999999999999", 12},
        {"a:b --full 5", 11},
        {"a:b --no-payloads 5", 18},
        {"a:b --every 10 --time 11m", 22},
        {"a:b --time 10ms", 11},
        {"a:b --events 20001", 13},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spans_request r;
        struct error err = {0};
        size_t offset = 99;
        if (spans_request_parse(&r, rows[i].line, &offset, &err) != ERR_USAGE)
            fail_msg("%s is taken", rows[i].line);
        if (offset != rows[i].at)
            fail_msg("%s: at %zu", rows[i].line, offset);
        assert_true(err.text[0]);
    }
}

TEST(test_unknown_option_lists_all)
{
    struct spans_request r;
    struct error err = {0};
    size_t offset;
    assert_int_equal(spans_request_parse(&r, "a:b --nothing 5", &offset, &err), ERR_USAGE);
    assert_string_equal(err.text, "a capture has no option “--nothing”: use one of --roots, "
                                  "--every, --time, --events, --procs, --calls, --process, "
                                  "--full, --context, --no-payloads, --force");
}

TEST(test_long_lines)
{
    char line[2000] = "a:b(";
    struct spans_request r;
    struct error err = {0};
    size_t offset;
    memset(line + 4, 'x', sizeof line - 5);
    assert_int_equal(spans_request_parse(&r, line, &offset, &err), ERR_USAGE);
    memcpy(line, "a:b --procs ", 12);
    assert_int_equal(spans_request_parse(&r, line, &offset, &err), ERR_USAGE);
    memcpy(line, "a:b --", 6);
    assert_int_equal(spans_request_parse(&r, line, &offset, &err), ERR_USAGE);
}

TEST(test_options_are_listed)
{
    struct pattern_word word;
    size_t n = 0;
    while (spans_request_option(n, &word)) {
        assert_true(word.word[0] && word.help[0]);
        n++;
    }
    assert_int_equal(n, 11);
}
