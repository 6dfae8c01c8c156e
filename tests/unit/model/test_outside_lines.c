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

TEST(test_ended)
{
    struct outside_line lines[OUTSIDE_LINES];
    struct outside o = unread();
    o.ended = true;
    assert_int_equal(outside_lines(&o, lines), 1);
    assert_string_equal(lines[0].next, "beamtop nodes");
}
