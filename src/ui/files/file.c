/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"

static int write_all(int fd, const struct buf *content)
{
    if (!buf_write(content, fd))
        return errno;
    return fsync(fd) < 0 && errno != EINVAL && errno != EROFS ? errno : 0;
}

/* link() does not replace; where a file system has none, a look before rename() has to do. */
static int put_in_place(const char *temporary, const char *path, bool replace)
{
    if (replace)
        return rename(temporary, path) < 0 ? errno : 0;
    if (link(temporary, path) == 0) {
        unlink(temporary);
        return 0;
    }
    if (errno == EEXIST)
        return EEXIST;
    struct stat st;
    if (lstat(path, &st) == 0)
        return EEXIST;
    return rename(temporary, path) < 0 ? errno : 0;
}

int file_write(const char *path, const struct buf *content, bool replace, bool is_private,
               struct error *err)
{
    char *temporary = alloc_printf("%s.%ld.tmp", path, (long)getpid());
    int rc = 0;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_private ? 0600 : 0666);
    if (fd < 0) {
        rc = error_set_errno(err, errno, "%s cannot be written", path);
        goto out;
    }
    int failed = write_all(fd, content);
    if (close(fd) < 0 && !failed)
        failed = errno;
    if (!failed)
        failed = put_in_place(temporary, path, replace);
    if (failed)
        unlink(temporary);
    if (failed == EEXIST)
        rc = error_set(err, ERR_REFUSED, "%s is there already: give another name", path);
    else if (failed)
        rc = error_set_errno(err, failed, "%s cannot be written", path);
out:
    free(temporary);
    return rc;
}
