/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of files made of names of nodes: none leads elsewhere, and no two nodes share one. */
#include <string.h>

#include "../../test.h"
#include "app/command/trace_history.h"

TEST(test_names)
{
    static const struct {
        const char *node, *file;
    } rows[] = {
        {"shop@10.0.0.1", "traces/shop@10.0.0.1"},
        {"a-b_c@host.example", "traces/a-b_c@host.example"},
        {"../x@h", "traces/%2E.%2Fx@h"},
        {".hidden@h", "traces/%2Ehidden@h"},
        {"a/b@h", "traces/a%2Fb@h"},
        {"a%b@h", "traces/a%25b@h"},
        {"\xc3\xa9@h\n", "traces/%C3%A9@h%0A"},
        {"", "traces/"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char file[TRACE_HISTORY_FILE_BYTES];
        trace_history_file(file, rows[i].node);
        assert_string_equal(file, rows[i].file);
    }
}

TEST(test_long_names_differ)
{
    char a[600], b[600], file_a[TRACE_HISTORY_FILE_BYTES], file_b[TRACE_HISTORY_FILE_BYTES];
    memset(a, 'n', sizeof a);
    memset(b, 'n', sizeof b);
    a[599] = b[599] = '\0';
    a[598] = '/';
    trace_history_file(file_a, a);
    trace_history_file(file_b, b);
    assert_string_not_equal(file_a, file_b);
    assert_null(strchr(file_a + strlen("traces/"), '/'));
    assert_true(strlen(file_a) < TRACE_HISTORY_FILE_BYTES - 1);
    memset(a, '\x01', sizeof a - 1); /* each three bytes long */
    trace_history_file(file_a, a);
    assert_true(strlen(file_a) < TRACE_HISTORY_FILE_BYTES - 1);
}

TEST(test_lines_with_values)
{
    static const struct {
        const char *line;
        bool has_values;
    } rows[] = {
        {"shop_cart:add(_, X) when X > 100 -> return", false},
        {"Shop.Cart.add(_, %{id: id}) -> return", false},
        {"/^ssl_/:/^init/", false},
        {"rv:f(\"secret\")", true},
        {"rv:f('secret')", true},
        {"rv:f(<<_/binary>>)", true},
        {"Rv.f(~s(secret))", true},
        {"rv:f([$s, $e])", true},
        {"rv:f(4111111111111111)", true},
        {"rv:f(4_1_1_1_1)", true},
        {"rv:f(1234, 5678)", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (trace_history_has_values(rows[i].line) != rows[i].has_values)
            fail_msg("%s", rows[i].line);
}

TEST(test_commands_with_values)
{
    static const struct {
        const char *line;
        bool has_values;
    } rows[] = {
        {"trace rv:f(\"secret\")", true},
        {"  trace rv:f(4111111111111111) --events 5", true},
        {"calls rv:f & 'x'", true},
        {"trace rv:f(X) -> return", false},
        {"set interval 100000", false},
        {"save 'a file'", false},
        {"tracer \"x\"", false},
        {"trace", false},
        {"", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (trace_history_command_has_values(rows[i].line) != rows[i].has_values)
            fail_msg("%s", rows[i].line);
}
