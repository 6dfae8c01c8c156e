/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inside_reply.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "beamtop/base/confined.h"

#define FDS_MOST 4 /* more than one are taken to be closed */

int inside_reply_send(int to, const struct inside_reply *reply, int socket)
{
    struct inside_reply copy = *reply;
    struct iovec part = {.iov_base = &copy, .iov_len = sizeof copy};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (socket >= 0) {
        message.msg_control = &control;
        message.msg_controllen = sizeof control.bytes;
        control.head.cmsg_level = SOL_SOCKET;
        control.head.cmsg_type = SCM_RIGHTS;
        control.head.cmsg_len = CMSG_LEN(sizeof socket);
        memcpy(CMSG_DATA(&control.head), &socket, sizeof socket);
    }
    return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof copy ? 0 : errno;
}

/* ---- the receiver */

/* All descriptors of a message, which the kernel passes under one header (unix(7)); returns how
 * many. */
static size_t take_fds(struct msghdr *message, int fds[FDS_MOST])
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(message);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
        return 0;
    const size_t have = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const size_t n = have < FDS_MOST ? have : FDS_MOST;
    memcpy(fds, CMSG_DATA(c), n * sizeof(int));
    return n;
}

static bool is_stream_socket(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static bool is_reply(const struct inside_reply *r, size_t n_fds, const int *fds)
{
    if (r->stage < INSIDE_CONNECTED || r->stage > INSIDE_NOT_CONNECTED || r->error < 0)
        return false;
    if (r->stage != INSIDE_CONNECTED)
        return n_fds == 0;
    return n_fds == 1 && is_stream_socket(fds[0]);
}

int inside_reply_take(int from, struct inside_reply *out, int *socket, struct error *err)
{
    int fds[FDS_MOST];
    struct iovec part = {.iov_base = out, .iov_len = sizeof *out};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(FDS_MOST * sizeof(int))];
    } control = {.bytes = {0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control.bytes};
    *out = (struct inside_reply){0};
    *socket = -1;
    const ssize_t n = recvmsg(from, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const size_t n_fds = n >= 0 ? take_fds(&message, fds) : 0;
    if (n == (ssize_t)sizeof *out && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) &&
        is_reply(out, n_fds, fds)) {
        *socket = n_fds == 1 ? fds[0] : -1;
        return 0;
    }
    for (size_t i = 0; i < n_fds; i++)
        close(fds[i]);
    return error_set(err, ERR_FORMAT,
                     "the process that enters the node's network namespace ended without an "
                     "answer");
}

/* ---- what it means */

#define OTHER_WAY "or give an address that leads there: --host HOST --port PORT"

int inside_reply_explain(const struct inside_reply *reply, pid_t pid, struct error *err)
{
    const bool is_root = geteuid() == 0;
    const bool refused = reply->error == EACCES || reply->error == EPERM;
    if (reply->stage == INSIDE_NO_PROCESS || reply->error == ESRCH || reply->error == ENOENT)
        return error_set(err, ERR_NOT_FOUND, "OS process %d has ended", (int)pid);
    if (!refused)
        return error_set_errno(err, reply->error,
                               "the network namespace of OS process %d cannot be entered",
                               (int)pid);
    if (!is_root)
        return error_set(err, ERR_REFUSED,
                         "OS process %d is in a network namespace that this user may not enter. "
                         "Run beamtop as root (sudo beamtop), " OTHER_WAY,
                         (int)pid);
    if (confined_by_filter() && confined_rights() >> CAP_SYS_ADMIN & 1)
        return error_set(err, ERR_REFUSED,
                         "OS process %d is in another network namespace, and a seccomp profile "
                         "probably refuses setns. Run beamtop with --security-opt "
                         "seccomp=unconfined, " OTHER_WAY,
                         (int)pid);
    return error_set(err, ERR_REFUSED,
                     "OS process %d is in another network namespace, and this container lacks "
                     "%s to enter it. Run beamtop with --cap-add SYS_ADMIN --cap-add "
                     "SYS_PTRACE, " OTHER_WAY,
                     (int)pid,
                     reply->stage == INSIDE_NOT_OPENED ? "CAP_SYS_PTRACE" : "CAP_SYS_ADMIN");
}
