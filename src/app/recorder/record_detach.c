/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record_detach.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int record_log_open(struct record_log *log, const char *path, struct error *err)
{
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    struct stat st;
    *log = (struct record_log){.fd = open(path, flags, 0600)};
    if (log->fd < 0 && errno == ELOOP)
        return error_set(err, ERR_USAGE, "%s is a link: remove it, or record to another file",
                         path);
    if (log->fd < 0 && (errno == ENXIO || errno == EISDIR))
        return error_set(err, ERR_USAGE,
                         "%s is not a regular file: remove it, or record to another file", path);
    if (log->fd < 0)
        return error_set_errno(err, errno, "%s", path);
    bool is_file = fstat(log->fd, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file && st.st_nlink == 1) {
        log->is_new = st.st_size == 0;
        return 0;
    }
    close(log->fd);
    return error_set(err, ERR_USAGE, "%s %s: remove it, or record to another file", path,
                     is_file ? "has another name too" : "is not a regular file");
}

/* Descriptors inherited from the caller: a pipe that stays open, a file of another user. */
static bool close_others(int kept)
{
    DIR *open_ones = opendir("/proc/self/fd");
    if (!open_ones)
        return false;
    const struct dirent *entry;
    while ((entry = readdir(open_ones))) {
        int fd = atoi(entry->d_name); /* 0 of "." and ".." */
        if (fd > 2 && fd != kept && fd != dirfd(open_ones))
            close(fd);
    }
    return closedir(open_ones) == 0;
}

bool record_detach(int log, int kept)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    signal(SIGHUP, SIG_IGN);
    return in >= 0 && setsid() >= 0 && dup2(in, 0) == 0 && dup2(log, 1) == 1 && dup2(log, 2) == 2 &&
           close_others(kept) && chdir("/") == 0;
}
