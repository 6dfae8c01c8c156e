/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/* The owner of /proc/PID is root where a process may not be dumped: its status has who it is. */
static int read_user(pid_t pid, uid_t *uid, gid_t *gid, struct error *err)
{
    char path[40], text[2048];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set_errno(err, errno, "%s", path);
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *u = strstr(text, "\nUid:"), *g = strstr(text, "\nGid:");
    if (!u || !g || sscanf(u, " Uid: %*u %u", uid) != 1 || sscanf(g, " Gid: %*u %u", gid) != 1)
        return error_set(err, ERR_SYSTEM, "%s has no user", path);
    return 0;
}

int rights_become_user_of(pid_t pid, struct error *err)
{
    uid_t uid = 0;
    gid_t gid = 0;
    if (geteuid() != 0)
        return 0;
    if (read_user(pid, &uid, &gid, err) != 0)
        return err->code;
    const struct rlimit first = {1, 1}, at_once_us = {1000000, 1000000};
    setrlimit(RLIMIT_RTPRIO, &first);
    setrlimit(RLIMIT_RTTIME, &at_once_us); /* a reader that never waited would take its CPU */
    if (uid == 0)
        return 0;
    const bool keep = yama_restricts();
    if (keep)
        prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (setgroups(0, NULL) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return error_set_errno(err, errno, "cannot become the user of the VM");
    return keep ? keep_only(1u << CAP_SYS_PTRACE, err) : 0;
}
