/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "../../test.h"
#include "beamtop/trace/request.h"

static struct trace_request defaults(void)
{
    struct trace_request r;
    trace_request_init(&r);
    return r;
}

TEST(test_good_lines)
{
    static const struct {
        const char *line, *pattern, *procs;
        uint64_t events, time_ms;
    } rows[] = {
        {"lists:map/2", "lists:map/2", NULL, 100, 15000},
        {"  a:b(_) -> return   --events 50 ", "a:b(_) -> return", NULL, 50, 15000},
        {"a:b --procs <0.9.0>,x --time 250ms", "a:b", "<0.9.0>,x", 100, 250},
        {"a:b(' --time 1s')", "a:b(' --time 1s')", NULL, 100, 15000},
        {"a:b(\"\\\" --time\") --time 2s", "a:b(\"\\\" --time\")", NULL, 100, 2000},
        {"a:b(X) when (X --time) -> return", "a:b(X) when (X --time) -> return", NULL, 100, 15000},
        {"a:b --procs one --procs two", "a:b", "two", 100, 15000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trace_request r = defaults();
        struct error err = {0};
        size_t offset;
        if (trace_request_parse(&r, REQUEST_TRACE, rows[i].line, &offset, &err) != 0)
            fail_msg("%s: %s", rows[i].line, err.text);
        assert_string_equal(r.pattern, rows[i].pattern);
        assert_int_equal(r.caps.value[CAP_EVENTS], rows[i].events);
        assert_int_equal(r.caps.value[CAP_TIME_MS], rows[i].time_ms);
        assert_int_equal(r.procs != NULL, rows[i].procs != NULL);
        if (r.procs)
            assert_string_equal(r.procs, rows[i].procs);
        trace_request_clear(&r);
    }
}

TEST(test_errors_are_placed)
{
    static const struct {
        const char *line;
        size_t at;
    } rows[] = {
        {"", 0},
        {"--events 5", 0},
        {"a:b --nothing 5", 4},
        {"a:b --events", 12},
        {"a:b --events many", 13},
        {"a:b --procs x --events 99999", 23},
        {"a:b --on-rate never", 14},
        {"a:b --slower soon", 13},
        {"a:b --syntax C", 13},
        {"a:b --force what", 12},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trace_request r = defaults();
        struct error err = {0};
        size_t offset = 99;
        if (trace_request_parse(&r, REQUEST_TRACE, rows[i].line, &offset, &err) != ERR_USAGE ||
            offset != rows[i].at)
            fail_msg("“%s”: at %zu, not %zu: %s", rows[i].line, offset, rows[i].at, err.text);
        assert_null(r.line);
        assert_null(r.procs);
    }
}

TEST(test_an_unknown_option_names_the_nearest)
{
    struct trace_request r = defaults();
    struct error err = {0};
    size_t offset;
    assert_int_equal(trace_request_parse(&r, REQUEST_TRACE, "a:b --evnts 5", &offset, &err),
                     ERR_USAGE);
    assert_string_equal(err.text, "a trace has no option “--evnts”; did you mean --events?");
    err = (struct error){0};
    assert_int_equal(trace_request_parse(&r, REQUEST_TRACE, "a:b --zzz", &offset, &err), ERR_USAGE);
    assert_non_null(strstr(err.text, "a trace has no option “--zzz”: use one of --procs, "));
}

TEST(test_words)
{
    struct trace_request r = defaults();
    struct error err = {0};
    size_t offset;
    assert_int_equal(trace_request_parse(&r, REQUEST_TRACE,
                                         "a:b --slower 5ms --on-rate stop --syntax elixir --force",
                                         &offset, &err),
                     0);
    assert_int_equal(r.slower_us, 5000);
    assert_true(r.on_rate_stop && r.force);
    assert_int_equal(r.syntax, SYNTAX_ELIXIR);
    trace_request_clear(&r);
}
