/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a VM that was looked at from outside, and of one that could not be. */
#include <math.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/model/outside.h"

static struct outside unread(void)
{
    return (struct outside){.os_pid = 7,
                            .state = '?',
                            .cpu = NAN,
                            .kernel = NAN,
                            .uptime_s = NAN,
                            .resident_bytes = -1,
                            .limit_bytes = -1};
}

/* Nothing is known of it: no line says that it has no memory or no socket. */
TEST(test_unread)
{
    struct outside_line lines[OUTSIDE_LINES];
    struct outside o = unread();
    assert_int_equal(outside_lines(&o, lines), 1);
    assert_non_null(strstr(lines[0].text, "unknown"));
    o.late_s = 2;
    assert_int_equal(outside_lines(&o, lines), 1);
    assert_non_null(strstr(lines[0].text, "/proc has not answered for 2"));
}

TEST(test_stopped)
{
    struct outside_line lines[OUTSIDE_LINES];
    struct outside o = unread();
    o.state = 'T';
    assert_int_equal(outside_lines(&o, lines), 7);
    assert_int_equal(lines[0].mark, OUTSIDE_ALARM);
    assert_string_equal(lines[0].next, "kill -CONT 7");
}

/* A parent or a debugger in another PID namespace has no number here. */
TEST(test_other_pid_namespace)
{
    struct outside_line verdict;
    struct outside o = unread();
    static const char states[] = "Zt";
    for (size_t i = 0; states[i]; i++) {
        o.state = states[i];
        o.parent = o.tracer = 0;
        outside_verdict(&o, &verdict);
        assert_non_null(strstr(verdict.text, "(in another PID namespace)"));
        assert_string_equal(verdict.next, "");
        o.parent = o.tracer = 5;
        outside_verdict(&o, &verdict);
        assert_non_null(strstr(verdict.text, "(OS process 5)"));
        assert_string_equal(verdict.next, "ps -fp 5");
    }
}

TEST(test_threads_left)
{
    struct outside_line lines[OUTSIDE_LINES];
    struct outside o = unread();
    o.state = 'S';
    o.n_threads = 0;
    o.threads_left = 4000;
    assert_int_equal(outside_lines(&o, lines), 8);
    assert_string_equal(lines[7].text, "0 of 4000 were read in time, schedulers before others");
}

TEST(test_ended)
{
    struct outside_line lines[OUTSIDE_LINES];
    struct outside o = unread();
    o.ended = true;
    assert_int_equal(outside_lines(&o, lines), 1);
    assert_string_equal(lines[0].next, "beamtop nodes");
}
