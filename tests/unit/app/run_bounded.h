/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program over a file that may be anyone's: it ends by itself, within bounds of time and
 * memory. */
#ifndef TESTS_RUN_BOUNDED_H
#define TESTS_RUN_BOUNDED_H

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_MIB = 512, MOST_CPU_S = 60 };

/* Ends by itself, within bounds: sanitizers and crashes have other codes. What it says goes to
 * `err`. */
static inline int run_code(const char *path, const char *const *words, const char *what, int err)
{
    const char *program = getenv("BEAMTOP");
    const char *args[10] = {program, words[0], path};
    const struct rlimit cpu = {MOST_CPU_S, MOST_CPU_S};
    posix_spawn_file_actions_t files;
    struct rusage used;
    pid_t pid;
    int status = 0;
    for (int i = 1; words[i]; i++)
        args[2 + i] = words[i];
    assert_non_null(program);
    setenv("ASAN_OPTIONS", "exitcode=99", 1);
    setenv("UBSAN_OPTIONS", "exitcode=99", 1);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files, err, 2);
    assert_int_equal(
        posix_spawn(&pid, program, &files, NULL, (char *const *)(uintptr_t)args, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    prlimit(pid, RLIMIT_CPU, &cpu, NULL);
    assert_int_equal(wait4(pid, &status, 0, &used), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) >= 98)
        fail_msg("%s %s, %s: ended with %d", words[0], words[1] ? words[2] : "", what, status);
#ifndef __SANITIZE_ADDRESS__
    if (used.ru_maxrss > MOST_MIB * 1024L)
        fail_msg("%s, %s: %ld KiB", words[0], what, used.ru_maxrss);
#endif
    return WEXITSTATUS(status);
}

static inline void run_bounded(const char *path, const char *const *words, const char *what)
{
    int nowhere = open("/dev/null", O_RDWR);
    (void)run_code(path, words, what, nowhere);
    close(nowhere);
}

#endif
