/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /proc and cgroups say of a process, in trees made here, with texts that a stranger chooses.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../temporary.h"
#include "../../test.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/text.h"
#include "beamtop/local/outside.h"
#include "beamtop/local/threads.h"

TEST(test_stat)
{
    struct outside_stat s;
    assert_true(outside_parse_stat(
        &s, "7 (a ) R 1 (b) T 42 7 7 0 -1 64 1 2 3 4 55 66 0 0 20 0 9 0 12345 1 2 3"));
    assert_int_equal(s.state, 'T');
    assert_int_equal(s.parent, 42);
    assert_int_equal(s.user_ticks, 55);
    assert_int_equal(s.kernel_ticks, 66);
    assert_int_equal(s.start_ticks, 12345);
    static const char *const bad[] = {"", ")", "7 (x", "7 (x) T", "7 (x) T 1 2 3", "\n\033[2J)"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(outside_parse_stat(&s, bad[i]));
}

TEST(test_keys)
{
    static const char text[] = "Name:\tTracerPid:\nTracerPid:\t12\nVmRSS:\t  34 kB\nVmHWM: x\n";
    assert_int_equal(outside_parse_key(text, "TracerPid:"), 12);
    assert_int_equal(outside_parse_key(text, "VmRSS:"), 34);
    assert_int_equal(outside_parse_key(text, "VmHWM:"), -1);
    assert_int_equal(outside_parse_key(text, "VmSwap:"), -1);
    assert_int_equal(outside_parse_key("frozen -1", "frozen "), -1);
}

TEST(test_limits)
{
    static const struct {
        const char *text;
        int64_t limit;
    } rows[] = {{"max\n", -1},
                {"1073741824\n", 1073741824},
                {"0", 0},
                {"9223372036854771712\n", -1}, /* "none" of version 1 */
                {"99999999999999999999", -1},
                {"-5", -1},
                {"", -1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(outside_parse_limit(rows[i].text), rows[i].limit);
}

TEST(test_cgroup_path)
{
    static const struct {
        const char *text, *path; /* NULL: none */
        bool is_first;
    } rows[] = {
        {"0::/a/b\n", "/a/b", false},
        {"0::/\n", "/", false},
        {"5:cpu,memory:/m\n0::/s\n", "/m", true},
        {"0::/s\n5:memory:/m\n", "/m", true},
        {"6:freezer:/f\n5:memory:/m\n0::/s\n", "/m", true},
        {"5:memoryless:/m\n4:xmemory:/n\n", NULL, false},
        {"0::/../x\n", NULL, false},
        {"0::/a/..\n", NULL, false},
        {"0::/a..b/c\n", "/a..b/c", false},
        {"0::relative\n", NULL, false},
        {"0:", NULL, false},
        {"::\n::", NULL, false},
        {"", NULL, false},
    };
    char path[64], longer[200] = "0::/";
    bool is_first;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(outside_parse_cgroup(rows[i].text, "memory", path, sizeof path, &is_first),
                         rows[i].path != NULL);
        if (!rows[i].path)
            continue;
        assert_string_equal(path, rows[i].path);
        assert_int_equal(is_first, rows[i].is_first);
    }
    memset(longer + 4, 'x', sizeof longer - 5);
    assert_false(outside_parse_cgroup(longer, "memory", path, sizeof path, &is_first));
}

TEST(test_dump)
{
    static const struct {
        const char *link, *dump, *cwd;
        bool is;
    } rows[] = {
        {"/srv/erl_crash.dump", "", "/srv", true},
        {"/srv/erl_crash.dump (deleted)", "", "", true},
        {"/srv/my_erl_crash.dump", "", "", false},
        {"/var/log/x", "/var/log/x", "/srv", true},
        {"/root/of/it/var/log/x", "/var/log/x", "/srv", true},
        {"/srv/erl_crash.dump", "/var/log/x", "/srv", false},
        {"/srv/d/x", "d/x", "/srv", true},
        {"/srv/x", "./x", "/srv", true},
        {"/other/x", "x", "/srv", false},
        {"socket:[1]", "", "", false},
        {"", "/x", "", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(outside_is_dump(rows[i].link, rows[i].dump, rows[i].cwd), rows[i].is);
}

/* ---- a look */

static void put_file(const char *dir, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make_dir(char *out, size_t size, const char *below, const char *name)
{
    snprintf(out, size, "%.200s/%.40s", below, name);
    assert_int_equal(mkdir(out, 0700), 0);
}

/* Without time threads are counted, and none is read. */
TEST(test_no_time)
{
    struct thread *list = NULL;
    size_t n = 1, left = 0;
    struct error err = {0};
    const int dir = open("/proc/self", O_RDONLY | O_DIRECTORY);
    assert_true(dir >= 0);
    assert_int_equal(threads_list_at(&list, &n, &left, dir, 0, &err), 0);
    assert_true(n == 0 && left >= 1);
    assert_int_equal(threads_list_at(&list, &n, &left, dir, UINT64_MAX, &err), 0);
    assert_true(n >= 1 && left == 0);
    free(list);
    close(dir);
}

/* Files and directories in it, each before the one that it is in. */
static void remove_tree(const char *top, const char *const *files, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", top, files[i]);
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(rmdir(top), 0);
}

/* The tightest limit counts, of the cgroup or of one above it; a frozen one is seen. */
TEST(test_look)
{
    char top[200], proc[256], cgroup[256], pid[256], a[256], b[256], task[256], thread[256];
    struct outside_reader *r = NULL;
    struct outside o = {.os_pid = -1};
    struct error err = {0};
    assert_true(temporary_dir(top, sizeof top, "outside"));
    make_dir(proc, sizeof proc, top, "proc");
    make_dir(cgroup, sizeof cgroup, top, "cgroup");
    make_dir(pid, sizeof pid, proc, "2147483600"); /* no kernel has such a process */
    make_dir(a, sizeof a, cgroup, "a");
    make_dir(b, sizeof b, a, "b");
    const struct outside_places places = {proc, cgroup};
    put_file(pid, "stat", "2147483600 (beam) S 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0");
    put_file(pid, "status", "Name:\tbeam\nTracerPid:\t0\nVmRSS:\t 1024 kB\nVmHWM:\t 2048 kB\n");
    put_file(pid, "cgroup", "0::/a/b\n");
    put_file(proc, "uptime", "61.00 5.00\n");
    put_file(a, "memory.max", "1000\n");
    put_file(a, "memory.current", "990\n");
    put_file(b, "memory.max", "2000\n");
    put_file(b, "memory.current", "900\n");
    put_file(b, "cgroup.events", "populated 1\nfrozen 1\n");
    put_file(b, "cgroup.freeze", "0\n");
    put_file(a, "cgroup.freeze", "1\n");
    make_dir(task, sizeof task, pid, "task");
    make_dir(thread, sizeof thread, task, "7");
    put_file(thread, "comm", "1_scheduler\n");
    put_file(thread, "stat", "7 (1_scheduler) D 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0");
    assert_int_equal(outside_open(&r, 2147483600, &places, &err), 0);
    assert_true(outside_read(r, &o, 1000000000));
    assert_int_equal(o.os_pid, 2147483600);
    assert_int_equal(o.n_threads, 1);
    assert_true(o.threads[0].is_scheduler && o.threads[0].tid == 7 && o.threads[0].state == 'D');
    assert_int_equal(o.state, 'S');
    assert_int_equal(o.tracer, 0);
    assert_int_equal(o.resident_bytes, 1024 * 1024);
    assert_int_equal(o.limit_bytes, 1000);
    assert_int_equal(o.limit_used_bytes, 990);
    assert_true(text_ends_with(o.thaw, "/a/cgroup.freeze"));
    assert_true(o.frozen && isnan(o.cpu) && o.swap_bytes == -1 && o.uptime_s > 59);
    assert_int_equal(o.dump, OUTSIDE_DUMP_UNKNOWN);
    put_file(pid, "stat", "2147483600 (beam) R 1 1 1 0 -1 0 0 0 0 0 55 5 0 0 20 0 1 0 100 0");
    assert_true(outside_read(r, &o, 2000000000));
    assert_true(o.period_s == 1 && o.cpu > 0.4 && o.cpu < 0.6 && o.kernel == 0);
    put_file(pid, "stat", "nonsense");
    assert_false(outside_read(r, &o, 3000000000));
    assert_true(o.ended && o.limit_bytes == 1000);
    outside_close(r);
    outside_clear(&o);
    static const char *const files[] = {"proc/2147483600/task/7/comm",
                                        "proc/2147483600/task/7/stat",
                                        "proc/2147483600/task/7",
                                        "proc/2147483600/task",
                                        "proc/2147483600/stat",
                                        "proc/2147483600/status",
                                        "proc/2147483600/cgroup",
                                        "proc/2147483600",
                                        "proc/uptime",
                                        "proc",
                                        "cgroup/a/b/memory.max",
                                        "cgroup/a/b/memory.current",
                                        "cgroup/a/b/cgroup.events",
                                        "cgroup/a/b/cgroup.freeze",
                                        "cgroup/a/cgroup.freeze",
                                        "cgroup/a/b",
                                        "cgroup/a/memory.max",
                                        "cgroup/a/memory.current",
                                        "cgroup/a",
                                        "cgroup"};
    remove_tree(top, files, ARRAY_LEN(files));
}

TEST(test_nobody)
{
    const struct outside_places places = {NULL, NULL};
    struct outside_reader *r = NULL;
    struct error err = {0};
    assert_int_equal(outside_open(&r, 0x7fffffff, &places, &err), ERR_NOT_FOUND);
    assert_null(r);
}

/* Version 1: the freezer's path is another one than that of the memory controller, and the command
 * is for the level that was frozen. A name that a shell would take apart gives no command. */
TEST(test_freezer)
{
    char top[200], proc[256], cgroup[256], pid[256], freezer[256], a[256], b[256];
    struct outside_reader *r = NULL;
    struct outside o = {.os_pid = -1};
    struct error err = {0};
    assert_true(temporary_dir(top, sizeof top, "freezer"));
    make_dir(proc, sizeof proc, top, "proc");
    make_dir(cgroup, sizeof cgroup, top, "cgroup");
    make_dir(pid, sizeof pid, proc, "2147483600");
    make_dir(freezer, sizeof freezer, cgroup, "freezer");
    make_dir(a, sizeof a, freezer, "a");
    make_dir(b, sizeof b, a, "$(b)");
    const struct outside_places places = {proc, cgroup};
    put_file(pid, "stat", "2147483600 (beam) D 1 1 1 0 -1 0 0 0 0 0 5 5 0 0 20 0 1 0 100 0");
    put_file(pid, "cgroup", "6:freezer:/a/$(b)\n4:memory:/m\n0::/\n");
    put_file(b, "freezer.state", "FREEZING\n");
    put_file(b, "freezer.self_freezing", "0\n");
    put_file(a, "freezer.self_freezing", "1\n");
    assert_int_equal(outside_open(&r, 2147483600, &places, &err), 0);
    assert_true(outside_read(r, &o, 1000000000) && o.frozen);
    assert_true(text_ends_with(o.thaw, "/freezer/a/freezer.state"));
    assert_memory_equal(o.thaw, "echo THAWED > /", strlen("echo THAWED > /"));
    put_file(b, "freezer.self_freezing", "1\n");
    assert_true(outside_read(r, &o, 2000000000) && o.frozen && o.thaw[0] == '\0');
    put_file(b, "freezer.state", "THAWED\n");
    assert_true(outside_read(r, &o, 3000000000) && !o.frozen);
    outside_close(r);
    outside_clear(&o);
    static const char *const files[] = {"proc/2147483600/stat",
                                        "proc/2147483600/cgroup",
                                        "proc/2147483600",
                                        "proc",
                                        "cgroup/freezer/a/$(b)/freezer.state",
                                        "cgroup/freezer/a/$(b)/freezer.self_freezing",
                                        "cgroup/freezer/a/$(b)",
                                        "cgroup/freezer/a/freezer.self_freezing",
                                        "cgroup/freezer/a",
                                        "cgroup/freezer",
                                        "cgroup"};
    remove_tree(top, files, ARRAY_LEN(files));
}
