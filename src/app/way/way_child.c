/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#define PIPE_BYTES 65536u

extern char **environ;

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

static int set_files(posix_spawn_file_actions_t *files, int in, int out, int errors)
{
    int rc = in >= 0 ? posix_spawn_file_actions_adddup2(files, in, 0)
                     : posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDWR, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(files, out >= 0 ? out : 0, 1);
    return rc == 0 ? posix_spawn_file_actions_adddup2(files, errors, 2) : rc;
}

/* The signals that this program ignores or blocks are as usual there. */
static void set_signals(posix_spawnattr_t *attributes, bool in_front)
{
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    if (!in_front) {
        posix_spawnattr_setpgroup(attributes, 0);
        flags |= POSIX_SPAWN_SETPGROUP;
    }
    posix_spawnattr_setflags(attributes, flags);
}

int way_spawn(pid_t *pid, char *const *words, int in, int *out, int *errors, bool in_front)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int said[2] = {-1, -1}, printed[2] = {-1, -1};
    int rc = open_pipe(said);
    if (rc == 0 && out)
        rc = open_pipe(printed);
    if (rc != 0)
        goto out;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    set_signals(&attributes, in_front);
    rc = set_files(&files, in, printed[1], said[1]);
    if (rc == 0)
        rc = posix_spawnp(pid, words[0], &files, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
out:
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
