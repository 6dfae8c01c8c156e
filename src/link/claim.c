/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "beamtop/base/text.h"

/* An address in the abstract namespace: no file, and gone with the process. Names of nodes are
   longer than it may be. */
int claim_take(const char *target, unsigned index, bool *held_by_other)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int n = snprintf(sa.sun_path + 1, sizeof sa.sun_path - 1, "beamtop/name/%016llx/%u",
                     (unsigned long long)text_identity(target, strlen(target)), index);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    *held_by_other = false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&sa, len) != 0) {
        *held_by_other = errno == EADDRINUSE;
        close(fd);
        return -1;
    }
    return fd;
}

void claim_drop(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}
