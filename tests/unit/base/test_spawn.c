/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test.h"
#include "beamtop/base/spawn.h"

/* What the command, which exits with 3, prints of this input. */
static void run_shell(const char *command, int in, bool own_group, char *out, size_t size)
{
    char shell[] = "sh", option[] = "-c", text[400];
    char *words[] = {shell, option, text, NULL};
    int fds[2];
    pid_t pid;
    snprintf(text, sizeof text, "%s", command);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    const struct spawn s = {
        .words = words, .in = in, .out = fds[1], .errors = fds[1], .own_group = own_group};
    assert_int_equal(spawn_start(&pid, &s), 0);
    close(fds[1]);
    size_t len = 0;
    for (ssize_t n; len < size - 1 && (n = read(fds[0], out + len, size - 1 - len)) > 0;)
        len += (size_t)n;
    out[len] = '\0';
    close(fds[0]);
    assert_int_equal(WEXITSTATUS(spawn_wait(pid)), 3);
    assert_int_equal(spawn_wait(pid), -1); /* it is reaped */
}

TEST(test_files)
{
    char out[100];
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(write(fds[1], "input", 5), 5);
    close(fds[1]);
    run_shell("cat; echo error >&2; exit 3", fds[0], false, out, sizeof out);
    close(fds[0]);
    assert_string_equal(out, "inputerror\n");
    run_shell("cat; exit 3", -1, false, out, sizeof out);
    assert_string_equal(out, "");
}

TEST(test_group)
{
    char out[100];
    run_shell("[ $(ps -o pgid= -p $$) = $$ ] && echo own; exit 3", -1, true, out, sizeof out);
    assert_string_equal(out, "own\n");
    run_shell("[ $(ps -o pgid= -p $$) = $$ ] && echo own; exit 3", -1, false, out, sizeof out);
    assert_string_equal(out, "");
}

/* What is ignored or blocked here is not in a child. */
TEST(test_signals)
{
    char out[100];
    sigset_t block, before;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &before);
    signal(SIGUSR2, SIG_IGN);
    run_shell("(kill -USR1 $(sh -c 'echo $PPID'); echo lives); (kill -USR2 $(sh -c 'echo $PPID'); "
              "echo lives); exit 3",
              -1, false, out, sizeof out);
    signal(SIGUSR2, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_null(strstr(out, "lives"));
}

TEST(test_no_program)
{
    char name[] = "beamtop-no-such-program";
    char *words[] = {name, NULL};
    pid_t pid;
    assert_int_equal(spawn_start(&pid, &(struct spawn){.words = words}), ENOENT);
}

/* What a program ends with that waits for a line, when its parent was killed before that. */
static int status_of_orphan(bool outlives)
{
    char shell[] = "sh", option[] = "-c", text[] = "read line; exit 3";
    char *words[] = {shell, option, text, NULL};
    int in[2], pids[2], status = 0;
    pid_t pid = 0;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* its orphan is ours */
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(pids, O_CLOEXEC), 0);
    const pid_t parent = fork();
    if (parent == 0) {
        const struct spawn s = {
            .words = words, .in = in[0], .out = -1, .errors = -1, .outlives = outlives};
        if (spawn_start(&pid, &s) == 0 && write(pids[1], &pid, sizeof pid) == sizeof pid)
            pause();
        _exit(1);
    }
    assert_int_equal(read(pids[0], &pid, sizeof pid), sizeof pid);
    spawn_kill(parent);
    assert_int_equal(write(in[1], "\n", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (int i = 0; i < 2; i++) {
        close(in[i]);
        close(pids[i]);
    }
    return status;
}

TEST(test_killed_parent)
{
    const int killed = status_of_orphan(false), outlived = status_of_orphan(true);
    assert_true(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL);
    assert_true(WIFEXITED(outlived) && WEXITSTATUS(outlived) == 3);
}

/* A program that does not end by itself. */
TEST(test_kill)
{
    char name[] = "sleep", seconds[] = "1000";
    char *words[] = {name, seconds, NULL};
    pid_t pid;
    assert_int_equal(
        spawn_start(&pid, &(struct spawn){.words = words, .in = -1, .out = -1, .errors = -1}), 0);
    spawn_kill(pid);
    assert_int_equal(kill(pid, 0), -1);
    assert_int_equal(errno, ESRCH);
}
