/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resident memory of another process, as long as it lives. */
#include <signal.h>
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

TEST(test_nobody)
{
    assert_true(resident_open(0x7fffffff) < 0);
}
