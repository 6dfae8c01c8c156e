/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A system call that is refused to this process, as by the seccomp profile of a container. */
#ifndef BEAMTOP_TESTS_REFUSE_H
#define BEAMTOP_TESTS_REFUSE_H

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beamtop/base/attr.h"

/* For good: in a child. False: the kernel has no such filters. */
static inline bool refuse_call(unsigned number)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = ARRAY_LEN(rules), .filter = rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#define REFUSE_NONE 77 /* there are no such filters */

/* What the test returns in a child, which may refuse calls; -1: it did not end itself. */
static inline int refuse_in_child(int (*test)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(test());
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#endif
