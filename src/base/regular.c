/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Looked at before it is opened: opening a device or a pipe may do something, or wait. */
int regular_open(int place)
{
    char link[64];
    struct stat st;
    int fd = -1;
    if (place < 0)
        return -1;
    if (fstat(place, &st) == 0 && S_ISREG(st.st_mode)) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", place);
        fd = open(link, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    } else {
        errno = EINVAL;
    }
    const int why = errno;
    close(place);
    errno = why;
    return fd;
}
