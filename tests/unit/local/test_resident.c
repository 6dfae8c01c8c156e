/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resident memory of another process, as long as it lives. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/local/resident.h"

TEST(test_while_it_lives)
{
    struct resident r = {0};
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            pause();
    const int fd = resident_open(pid);
    assert_true(fd >= 0);
    assert_true(resident_read(fd, &r));
    assert_true(r.resident_bytes >= 4096 && r.virtual_bytes >= r.resident_bytes);
    assert_true(r.peak_bytes >= r.resident_bytes && r.anon_bytes >= 4096 && r.swap_bytes >= 0);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    /* Whoever gets its number now is another one. */
    assert_false(resident_read(fd, &r));
    close(fd);
}

/* A line of groups that is longer than what is read at once, and in it what looks like a size. */
TEST(test_long_line)
{
    struct resident r = {0};
    FILE *f = tmpfile();
    assert_non_null(f);
    fputs("Name:\tbeam\nTracerPid:\t7\nGroups:\t", f);
    for (int i = 0; i < 40000; i++)
        fputs(i == 1023 ? "\tVmRSS: 9 kB" : "123456 ", f);
    fputs("\nVmSize:\t 20 kB\nVmRSS:\t 10 kB\nRssAnon:\t-5 kB\nVmSwap:", f);
    fflush(f);
    assert_true(resident_read(fileno(f), &r));
    assert_true(r.tracer == 7 && r.resident_bytes == 10240 && r.virtual_bytes == 20480);
    assert_true(r.anon_bytes == -1 && r.swap_bytes == -1 && r.peak_bytes == -1);
    fclose(f);
}

TEST(test_nobody)
{
    assert_true(resident_open(0x7fffffff) < 0);
}
