/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union ancillary {
    struct cmsghdr header; /* for its alignment */
    char bytes[CMSG_SPACE(sizeof(int))];
};

int way_wire_send(int socket, const void *message, size_t len, int fd)
{
    union ancillary control = {0};
    struct iovec bytes = {.iov_base = (void *)(uintptr_t)message, .iov_len = len};
    struct msghdr msg = {.msg_iov = &bytes, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof control.bytes;
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (n < 0 && errno == EINTR);
    return n < 0 ? errno : 0;
}

int way_wire_receive(int socket, void *message, size_t len, int *fd)
{
    union ancillary control = {0};
    struct iovec bytes = {.iov_base = message, .iov_len = len};
    struct msghdr msg = {.msg_iov = &bytes,
                         .msg_iovlen = 1,
                         .msg_control = control.bytes,
                         .msg_controllen = sizeof control.bytes};
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(socket, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof *fd))
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    if ((size_t)n == len)
        return 0;
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return EPIPE;
}
