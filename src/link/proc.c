/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"
#include "beamtop/base/regular.h"

#define LINK_BYTES 4096

int proc_open(struct proc *p, const char *tree, const char *pid)
{
    char path[LINK_BYTES];
    snprintf(path, sizeof path, "%s/%s", tree, pid);
    p->tree = tree;
    p->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return p->dir < 0 ? -1 : 0;
}

int proc_open_pid(struct proc *p, const char *tree, pid_t pid)
{
    char text[16];
    snprintf(text, sizeof text, "%d", (int)pid);
    return proc_open(p, tree ? tree : "/proc", text);
}

void proc_close(struct proc *p)
{
    if (p->dir >= 0) {
        close(p->dir);
        p->dir = -1;
    }
}

static long read_fd(int fd, char *out, size_t size)
{
    size_t have = 0;
    ssize_t n = 0;
    while (have < size - 1 && (n = read(fd, out + have, size - 1 - have)) > 0)
        have += (size_t)n;
    out[have] = '\0';
    return n < 0 && have == 0 ? -1 : (long)have;
}

long proc_read(int dir, const char *path, char *out, size_t size)
{
    int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    out[0] = '\0';
    if (fd < 0)
        return -1;
    long n = read_fd(fd, out, size);
    close(fd);
    return n;
}

/* Field 22 of stat; the second is a name in brackets, which may hold anything. */
uint64_t proc_started(const struct proc *p)
{
    char text[1024];
    uint64_t ticks = 0;
    const char *at = proc_read(p->dir, "stat", text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    if (!at || sscanf(at,
                      ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                      "%*d %" SCNu64,
                      &ticks) != 1)
        return 0;
    return ticks;
}

/* The effective one of a line of ids, and whether the real and the saved one are the same. */
static bool parse_ids(const char *status, const char *field, unsigned long *id, bool *is_one)
{
    unsigned long real = 0, saved = 0;
    const char *at = strstr(status, field);
    if (!at || sscanf(at + strlen(field), "%lu %lu %lu", &real, id, &saved) != 3)
        return false;
    *is_one = real == *id && saved == *id;
    return true;
}

bool proc_parse_user(const char *status, uid_t *uid, bool *one_user)
{
    unsigned long user = 0, group = 0;
    bool one_group = false;
    if (!parse_ids(status, "\nUid:", &user, one_user))
        return false;
    *uid = (uid_t)user;
    *one_user = *one_user && parse_ids(status, "\nGid:", &group, &one_group) && one_group;
    return true;
}

bool proc_user(const struct proc *p, uid_t *uid, bool *one_user)
{
    char status[8192];
    return proc_read(p->dir, "status", status, sizeof status) > 0 &&
           proc_parse_user(status, uid, one_user);
}

bool proc_read_strings(const struct proc *p, const char *file, struct proc_strings *out)
{
    out->bytes = alloc_zero(1, LIMIT_PROC_CMDLINE_BYTES);
    long n = proc_read(p->dir, file, out->bytes, LIMIT_PROC_CMDLINE_BYTES);
    if (n <= 0) {
        free(out->bytes);
        out->bytes = NULL;
        out->len = 0;
        return false;
    }
    out->len = (size_t)n;
    return true;
}

void proc_strings_clear(struct proc_strings *s)
{
    if (s->bytes) {
        explicit_bzero(s->bytes, s->len);
        free(s->bytes);
    }
    s->bytes = NULL;
    s->len = 0;
}

const char *proc_strings_next(const struct proc_strings *s, const char *at)
{
    const char *next = at ? at + strlen(at) + 1 : s->bytes;
    return next && next < s->bytes + s->len ? next : NULL;
}

int proc_open_root(const struct proc *p)
{
    return openat(p->dir, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int proc_open_below(int root, const char *path)
{
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC,
        .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
    };
    int place = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
    if (place < 0 && errno == ENOSYS) {
        while (*path == '/')
            path++;
        place = openat(root, path, (int)how.flags | O_NOFOLLOW);
    }
    return regular_open(place);
}

int proc_open_inside(const struct proc *p, const char *path)
{
    const int root = proc_open_root(p);
    if (root < 0)
        return -1;
    const int fd = proc_open_below(root, path);
    const int why = errno;
    close(root);
    errno = why;
    return fd;
}

void proc_read_public(const struct proc *p, const char *path, char *out, size_t size)
{
    struct stat st;
    int fd = proc_open_inside(p, path);
    out[0] = '\0';
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && (st.st_mode & S_IROTH) != 0)
        (void)read_fd(fd, out, size);
    close(fd);
}

static bool read_link(int dir, const char *link, char *out, size_t size)
{
    ssize_t n = readlinkat(dir, link, out, size - 1);
    if (n < 0 || (size_t)n == size - 1)
        return false;
    out[n] = '\0';
    return true;
}

bool proc_read_link(const struct proc *p, const char *link, char *out, size_t size)
{
    return read_link(p->dir, link, out, size);
}

bool proc_link_differs(const struct proc *p, const char *link, const char *other_pid)
{
    char mine[LINK_BYTES];
    char others[LINK_BYTES];
    char path[LINK_BYTES];
    snprintf(path, sizeof path, "%s/%s/%s", p->tree, other_pid, link);
    return read_link(p->dir, link, mine, sizeof mine) &&
           read_link(AT_FDCWD, path, others, sizeof others) && strcmp(mine, others) != 0;
}

bool proc_file_differs(const struct proc *p, const char *file, const char *other_pid)
{
    char mine[LINK_BYTES];
    char others[LINK_BYTES];
    char path[LINK_BYTES];
    snprintf(path, sizeof path, "%s/%s/%s", p->tree, other_pid, file);
    return proc_read(p->dir, file, mine, sizeof mine) > 0 &&
           proc_read(AT_FDCWD, path, others, sizeof others) > 0 && strcmp(mine, others) != 0;
}

bool proc_inode_differs(const struct proc *p, const char *file, const char *other_pid)
{
    struct stat mine, others;
    char path[LINK_BYTES];
    snprintf(path, sizeof path, "%s/%s/%s", p->tree, other_pid, file);
    return fstatat(p->dir, file, &mine, 0) == 0 && stat(path, &others) == 0 &&
           (mine.st_ino != others.st_ino || mine.st_dev != others.st_dev);
}

bool proc_other_network(const struct proc *p)
{
    return proc_link_differs(p, "ns/net", "self") || proc_inode_differs(p, "net/tcp", "self");
}

bool proc_link_is(const struct proc *p, const char *link, const char *target)
{
    char text[LINK_BYTES];
    return read_link(p->dir, link, text, sizeof text) && strcmp(text, target) == 0;
}

int proc_first_socket(const char *tree, pid_t pid, bool (*is_meant)(void *arg, uint64_t inode),
                      void *arg)
{
    char path[LINK_BYTES], text[64];
    uint64_t inode = 0;
    int first = -1, n = 0;
    snprintf(path, sizeof path, "%.4000s/%ld/fd", tree, (long)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    for (const struct dirent *e = readdir(dir); e && n < LIMIT_PROC_FDS; e = readdir(dir), n++) {
        const int fd = atoi(e->d_name);
        if ((first < 0 || fd < first) && read_link(dirfd(dir), e->d_name, text, sizeof text) &&
            sscanf(text, "socket:[%" SCNu64 "]", &inode) == 1 && is_meant(arg, inode))
            first = fd;
    }
    closedir(dir);
    return first;
}

static bool is_inode(void *arg, uint64_t inode)
{
    return inode == *(const uint64_t *)arg;
}

bool proc_has_socket(const char *tree, pid_t pid, uint64_t inode)
{
    return proc_first_socket(tree, pid, is_inode, &inode) >= 0;
}
