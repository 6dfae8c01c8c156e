/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_child.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/spawn.h"

#define PIPE_BYTES 65536u

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int open_pipe(int fds[2])
{
    if (pipe2(fds, O_CLOEXEC) != 0)
        return errno;
    return fcntl(fds[0], F_SETFL, O_NONBLOCK) == 0 ? 0 : errno;
}

int way_spawn(pid_t *pid, char *const *words, int in, int *out, int *errors, bool in_front)
{
    int said[2] = {-1, -1}, printed[2] = {-1, -1};
    int rc = open_pipe(said);
    if (rc == 0 && out)
        rc = open_pipe(printed);
    if (rc == 0)
        rc = spawn_start(pid, &(struct spawn){.words = words,
                                              .in = in,
                                              .out = out ? printed[1] : in,
                                              .errors = said[1],
                                              .own_group = !in_front});
    close_fd(&said[1]);
    close_fd(&printed[1]);
    if (rc != 0) {
        close_fd(&said[0]);
        close_fd(&printed[0]);
        return rc;
    }
    *errors = said[0];
    if (out)
        *out = printed[0];
    return 0;
}

static void keep_said(struct way_child *c, const char *bytes, size_t n)
{
    if (n > sizeof c->said - 1) {
        bytes += n - (sizeof c->said - 1);
        n = sizeof c->said - 1;
    }
    const size_t room = sizeof c->said - 1 - c->said_len;
    if (n > room) {
        memmove(c->said, c->said + (n - room), c->said_len - (n - room));
        c->said_len -= n - room;
    }
    for (size_t i = 0; i < n; i++) /* it is text from here on */
        c->said[c->said_len++] = bytes[i] != '\0' ? bytes[i] : '?';
    c->said[c->said_len] = '\0';
}

void way_child_read(struct way_child *c, int *fd)
{
    char bytes[1024];
    /* All that a pipe holds, since the reason comes last. */
    for (size_t turns = 0; *fd >= 0 && turns < 2 * PIPE_BYTES / sizeof bytes; turns++) {
        const ssize_t n = read(*fd, bytes, sizeof bytes);
        if (n > 0)
            keep_said(c, bytes, (size_t)n);
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
            close_fd(fd);
        else if (errno == EAGAIN)
            return;
    }
}

void way_child_close(struct way_child *c)
{
    close_fd(&c->status);
    close_fd(&c->errors);
    close_fd(&c->out);
    close_fd(&c->ours);
    close_fd(&c->theirs);
}
