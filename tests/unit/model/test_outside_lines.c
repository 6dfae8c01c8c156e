/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said of a VM that was looked at from outside, and of one that could not be. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../test.h"
#include "beamtop/base/attr.h"
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

/* The first line of one that runs, in the order of what weighs more. */
TEST(test_verdicts)
{
    static struct outside_thread threads[] = {{.is_scheduler = true, .state = 'S'},
                                              {.state = 'D', .waits_in = "kernel_clone"}};
    struct outside_line verdict;
    struct outside o = unread();
    o.state = 'S';
    o.cpu = 0;
    outside_verdict(&o, &verdict);
    assert_string_equal(verdict.text, "it runs, and takes 0.0% of a CPU");
    snprintf(o.node, sizeof o.node, "a@b");
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "listens at no port"));
    o.threads = threads;
    o.n_threads = ARRAY_LEN(threads);
    outside_verdict(&o, &verdict);
    assert_non_null(
        strstr(verdict.text, "1 of 2 threads is blocked in the kernel, in kernel_clone: a child"));
    o.tracer = 9;
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "traced by OS process 9 "));
    assert_string_equal(verdict.next, "ps -fp 9");
    o.descriptors = 1000;
    o.descriptor_limit = 1024;
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "1,000 of 1,024 descriptors are open"));
    assert_string_equal(verdict.next, "ls -l /proc/7/fd");
    o.descriptors = 100;
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "traced"));
}

/* A thread that waits says more than the limit does. */
TEST(test_memory)
{
    static struct outside_thread threads[] = {{.state = 'D', .waits_in = "futex_wait"}};
    struct outside_line verdict;
    struct outside o = unread();
    o.state = 'S';
    o.cpu = 0;
    o.threads = threads;
    o.n_threads = ARRAY_LEN(threads);
    snprintf(threads->waits_in, sizeof threads->waits_in, "mem_cgroup_handle_over_high");
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, ": its cgroup is above memory.high"));
    o.limit_bytes = o.limit_used_bytes = 1000;
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "the kernel may be busy reclaiming"));
    snprintf(threads->waits_in, sizeof threads->waits_in, "mem_cgroup_oom_synchronize");
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "a thread waits until the limit is raised"));
    assert_string_equal(verdict.next, "cat /proc/7/cgroup");
}

/* One look is short: a file that has not grown is looked at again, and no command loses it. */
TEST(test_slow_dump)
{
    struct outside_line verdict;
    struct outside o = unread();
    o.state = 'S';
    o.dump = OUTSIDE_DUMP_WRITING;
    o.dump_regular = true;
    o.period_s = 0.3;
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "has not grown for 300 ms"));
    assert_string_equal(verdict.next, "beamtop outside 7");
    o.dump_per_s = 1;
    outside_verdict(&o, &verdict);
    assert_non_null(strstr(verdict.text, "it writes a crash dump"));
}
