/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NAME_BYTES = 128 };

/* musl has no function for it before 1.2.6. */
static bool rename_in(int dir, const char *from, const char *to, bool replace)
{
    unsigned flags = replace ? 0 : RENAME_NOREPLACE;
    return syscall(SYS_renameat2, dir, from, dir, to, flags) == 0;
}

static int write_new(int dir, const char *name, const struct buf *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int rc = !buf_write(text, fd) || fchmod(fd, 0644) != 0 ? -1 : 0;
    int why = errno;
    if (close(fd) != 0 && rc == 0) {
        rc = -1;
        why = errno;
    }
    if (rc != 0)
        unlinkat(dir, name, 0);
    errno = why;
    return rc;
}

int map_file_put(int dir, const char *name, const struct buf *text, bool replace)
{
    char made[NAME_BYTES];
    snprintf(made, sizeof made, ".%s.%ld", name, (long)getpid());
    if (write_new(dir, made, text) != 0)
        return -1;
    if (rename_in(dir, made, name, replace))
        return 0;
    int why = errno;
    unlinkat(dir, made, 0);
    errno = why;
    return -1;
}
