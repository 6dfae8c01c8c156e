/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/local/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beamtop/base/confined.h"

static const uint64_t right_to_read = UINT64_C(1) << CAP_SYS_PTRACE;

/* From '1' on a user may read the memory of processes that are not its children only with a right,
 * with '3' not at all. */
static char yama_scope(void)
{
    char scope = '0';
    const int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, &scope, 1) != 1)
        scope = '0';
    if (fd >= 0)
        close(fd);
    return scope;
}

const char *rights_refusal(void)
{
    const char scope = yama_scope();
    if (scope == '3')
        return "kernel.yama.ptrace_scope is 3, which forbids it until the host restarts. Give the "
               "node in place of the OS pid: beamtop sample --remote NODE";
    if (confined_by_filter() && !(confined_rights() & right_to_read)) /* it lifts both */
        return "a seccomp profile or kernel.yama.ptrace_scope probably refuses it without "
               "CAP_SYS_PTRACE. Run beamtop on the host, or its container as root with --cap-add "
               "SYS_PTRACE";
    if (confined_by_filter())
        return "a seccomp profile probably refuses process_vm_readv. Run beamtop on the host, or "
               "its container with --security-opt seccomp=unconfined";
    if (scope != '0')
        return "kernel.yama.ptrace_scope allows that only with CAP_SYS_PTRACE. Run beamtop as root";
    return "the system probably allows that only with CAP_SYS_PTRACE. Run beamtop as root";
}

/* Root of a container has no right to read any process: it reads those that have no more rights
 * than it has, while it has theirs. */
static uint64_t rights_to_keep(const struct rights_user *user)
{
    if (user->uid != 0)
        return yama_scope() != '0' ? right_to_read : 0;
    const uint64_t own = confined_rights();
    return own & right_to_read ? right_to_read : own & user->rights;
}

static int keep_only(uint64_t rights, struct error *err)
{
    const uint32_t low = (uint32_t)rights, high = (uint32_t)(rights >> 32);
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2] = {{.effective = low, .permitted = low},
                                             {.effective = high, .permitted = high}};
    return syscall(SYS_capset, &header, data) == 0
               ? 0
               : error_set_errno(err, errno, "cannot keep the right to read the VM's memory");
}

enum { IDS = 4 }; /* real, effective, saved, of the file system */

/* One line of a status: whether all ids are the same. */
static int read_ids(const char *text, const char *key, uint32_t *id)
{
    unsigned ids[IDS];
    const char *at = strstr(text, key);
    if (!at || sscanf(at + strlen(key), "%u %u %u %u", ids, ids + 1, ids + 2, ids + 3) != IDS)
        return -1;
    *id = ids[0];
    return ids[0] == ids[1] && ids[0] == ids[2] && ids[0] == ids[3];
}

static uint64_t read_rights(const char *text)
{
    static const char key[] = "\nCapPrm:";
    const char *at = strstr(text, key);
    return at ? strtoull(at + sizeof key - 1, NULL, 16) : 0;
}

/* The owner of /proc/PID is root where a process may not be dumped: its status has who it is. */
int rights_read(struct rights_user *out, pid_t pid, struct error *err)
{
    char path[40], text[4096];
    *out = (struct rights_user){0};
    if (geteuid() != 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return error_set(err, ERR_NOT_FOUND, "process %d has ended", (int)pid);
    text[n] = '\0';
    const int uids = read_ids(text, "\nUid:", &out->uid);
    const int gids = read_ids(text, "\nGid:", &out->gid);
    out->rights = read_rights(text);
    if (uids < 0 || gids < 0)
        return error_set(err, ERR_SYSTEM, "%s has no user", path);
    if (!uids || !gids)
        return error_set(err, ERR_SYSTEM,
                         "process %d runs as several users at once (set-user-ID, or it is changing "
                         "its user): root does not look into it. Run beamtop as its user",
                         (int)pid);
    return 0;
}

/* Root in a user namespace can be forbidden to clear groups; it keeps its own then. */
static bool take_user_ids(const struct rights_user *user)
{
    return (setgroups(0, NULL) == 0 || user->uid == 0) &&
           setresgid(user->gid, user->gid, user->gid) == 0 &&
           setresuid(user->uid, user->uid, user->uid) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

int rights_become(const struct rights_user *user, pid_t pid, struct error *err)
{
    struct rights_user now;
    if (geteuid() != 0)
        return 0;
    if (rights_read(&now, pid, err) != 0)
        return err->code;
    if (now.uid != user->uid || now.gid != user->gid)
        return error_set(err, ERR_SYSTEM,
                         "process %d changed its user while its files were opened (from uid %u to "
                         "%u): root does not look into it",
                         (int)pid, (unsigned)user->uid, (unsigned)now.uid);
    const struct rlimit first = {1, 1}, at_once_us = {1000000, 1000000};
    setrlimit(RLIMIT_RTPRIO, &first);
    setrlimit(RLIMIT_RTTIME, &at_once_us); /* a reader that never waits would take the whole CPU */
    const uint64_t keep = rights_to_keep(&now);
    if (keep)
        prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    if (!take_user_ids(user))
        return error_set_errno(err, errno, "cannot become the user of the VM");
    return keep_only(keep, err);
}
