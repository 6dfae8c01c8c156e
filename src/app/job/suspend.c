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
 * one. SIGTSTP would call our own handler again, so this process uses SIGSTOP. */
void suspend_job(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, ours;
    sigaction(SIGTSTP, &ignore, &ours);
    kill(0, SIGTSTP);
    raise(SIGSTOP);
    sigaction(SIGTSTP, &ours, NULL);
}
