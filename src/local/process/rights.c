/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether a user may read the memory of processes that are not its children only with a right. */
static bool yama_restricts(void)
{
    char scope = '0';
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool restricts = read(fd, &scope, 1) == 1 && scope != '0';
    close(fd);
    return restricts;
}

static int keep_only(uint32_t rights, struct error *err)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{.effective = rights, .permitted = rights}};
    return syscall(SYS_capset, &header, data) == 0
               ? 0
               : error_set_errno(err, errno, "cannot keep the right to read the VM's memory");
}

int rights_become_user_of(pid_t pid, struct error *err)
{
    char path[32];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    if (stat(path, &st) != 0)
        return error_set_errno(err, errno, "%s", path);
    if (geteuid() != 0)
        return 0;
    const struct rlimit first = {1, 1};
    setrlimit(RLIMIT_RTPRIO, &first);
    if (st.st_uid == 0)
        return 0;
    const bool keep = yama_restricts();
    if (keep)
        prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (setgroups(0, NULL) != 0 || setresgid(st.st_gid, st.st_gid, st.st_gid) != 0 ||
        setresuid(st.st_uid, st.st_uid, st.st_uid) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return error_set_errno(err, errno, "cannot become the user of the VM");
    return keep ? keep_only(1u << CAP_SYS_PTRACE, err) : 0;
}
