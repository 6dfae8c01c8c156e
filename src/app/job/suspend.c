/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suspend.h"

#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

#include "process_stat.h"

#define ANCESTORS_MOST 64 /* programs of one job that start one another */

/* 0: not known. */
static pid_t parent_of(pid_t pid)
{
    char line[512];
    int parent = 0;
    const char *stat = process_stat(pid, line, sizeof line);
    return stat && sscanf(stat, " %*c %d", &parent) == 1 ? parent : 0;
}

/* The first ancestor outside this job is a shell's, or of another session: then no shell waits. */
bool suspend_is_possible(void)
{
    pid_t job = getpgrp(), pid = getppid();
    for (int i = 0; i < ANCESTORS_MOST && pid > 0; i++) {
        if (getpgid(pid) != job)
            return getsid(pid) == getsid(0);
        pid = parent_of(pid);
    }
    return false;
}

/* A shell sees a job as stopped once all its processes are, also the script that started this
 * one. SIGTSTP would call our own handler again, so this process uses SIGSTOP, and a handler of
 * SIGCONT would be called for what the caller knows. */
void suspend_job(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, normal = {.sa_handler = SIG_DFL};
    struct sigaction on_stop, on_go;
    sigaction(SIGTSTP, &ignore, &on_stop);
    sigaction(SIGCONT, &normal, &on_go);
    kill(0, SIGTSTP);
    raise(SIGSTOP);
    sigaction(SIGCONT, &on_go, NULL);
    sigaction(SIGTSTP, &on_stop, NULL);
}
