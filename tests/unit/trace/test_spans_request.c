/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/request.h"

static int parse(struct trace_request *r, const char *line, size_t *offset, struct error *err)
{
    trace_request_init(r);
    return trace_request_parse(r, REQUEST_SPANS, line, offset, err);
}

/* NULL: not given. */
static void assert_text(const char *text, const char *expected)
{
    assert_int_equal(text != NULL, expected != NULL);
    if (text)
        assert_string_equal(text, expected);
}

TEST(test_good_lines)
{
    static const struct {
        const char *line, *pattern, *procs, *process;
        unsigned roots, every, for_ms, events;
        bool full, force;
    } rows[] = {
        {"shop:pay/1", "shop:pay/1", NULL, NULL, 20, 1, 10000, SPANS_MOST_EVENTS, false, false},
        {" a:b(X) when X > 3  --roots 5 --every 100", "a:b(X) when X > 3", NULL, NULL, 5, 100,
         10000, SPANS_MOST_EVENTS, false, false},
        {"a:b --full --time 250ms --force", "a:b", NULL, NULL, 20, 1, 250, SPANS_MOST_EVENTS, true,
         true},
        {"a:b(' --full') --events 50  --procs app:shop ", "a:b(' --full')", "app:shop", NULL, 20, 1,
         10000, 50, false, false},
        {" --process <0.12.0> --roots 5", NULL, NULL, "<0.12.0>", 5, 1, 10000, SPANS_MOST_EVENTS,
         false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct trace_request r;
        struct error err = {0};
        size_t offset;
        if (parse(&r, rows[i].line, &offset, &err) != 0)
            fail_msg("%s: %s", rows[i].line, err.text);
        assert_text(r.pattern, rows[i].pattern);
        assert_text(r.procs, rows[i].procs);
        assert_text(r.process, rows[i].process);
        assert_int_equal(r.roots, rows[i].roots);
        assert_int_equal(r.every, rows[i].every);
        assert_int_equal(r.for_ms, rows[i].for_ms);
        assert_int_equal(r.events, rows[i].events);
        assert_int_equal(r.full, rows[i].full);
        assert_int_equal(r.force, rows[i].force);
        trace_request_clear(&r);
    }
}

TEST(test_calls_within)
{
    struct trace_request r;
    struct error err = {0};
    size_t offset;
    assert_int_equal(parse(&r, "a:b --calls a:_ --full", &offset, &err), 0);
    assert_string_equal(r.pattern, "a:b");
    assert_string_equal(r.calls, "a:_");
    assert_false(r.context);
    trace_request_clear(&r);
    assert_int_equal(parse(&r, "a:b --context --full", &offset, &err), 0);
    assert_true(r.context);
    assert_false(r.no_payloads);
    trace_request_clear(&r);
    assert_int_equal(parse(&r, "a:b --no-payloads", &offset, &err), 0);
    assert_true(r.no_payloads);
    trace_request_clear(&r);
    assert_int_equal(parse(&r, "a:b --full", &offset, &err), 0);
    assert_null(r.calls);
    trace_request_clear(&r);
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
        struct trace_request r;
        struct error err = {0};
        size_t offset = 99;
        if (parse(&r, rows[i].line, &offset, &err) != ERR_USAGE)
            fail_msg("%s is taken", rows[i].line);
        if (offset != rows[i].at)
            fail_msg("%s: at %zu", rows[i].line, offset);
        assert_true(err.text[0]);
    }
}

TEST(test_unknown_option_lists_all)
{
    struct trace_request r;
    struct error err = {0};
    size_t offset;
    assert_int_equal(parse(&r, "a:b --nothing 5", &offset, &err), ERR_USAGE);
    assert_string_equal(err.text, "a capture has no option “--nothing”: use one of --roots, "
                                  "--every, --time, --events, --procs, --calls, --process, "
                                  "--full, --context, --no-payloads, --force");
}

TEST(test_long_lines)
{
    char line[2000] = "a:b(";
    struct trace_request r;
    struct error err = {0};
    size_t offset;
    memset(line + 4, 'x', sizeof line - 5);
    assert_int_equal(parse(&r, line, &offset, &err), 0);
    assert_string_equal(r.pattern, line);
    trace_request_clear(&r);
    memcpy(line, "a:b --procs ", 12);
    assert_int_equal(parse(&r, line, &offset, &err), 0);
    assert_string_equal(r.procs, line + 12);
    trace_request_clear(&r);
    memcpy(line, "a:b --xxxxxx", 12);
    assert_int_equal(parse(&r, line, &offset, &err), ERR_USAGE);
}

TEST(test_options_are_listed)
{
    struct request_option option;
    size_t n = 0;
    while (trace_request_option(&option, REQUEST_SPANS, n)) {
        assert_true(option.name[0] && option.help[0]);
        n++;
    }
    assert_int_equal(n, 11);
}
