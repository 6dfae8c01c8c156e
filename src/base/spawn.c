/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int put_file(posix_spawn_file_actions_t *files, int from, int to)
{
    return from < 0     ? posix_spawn_file_actions_addopen(files, to, "/dev/null", O_RDWR, 0)
           : from != to ? posix_spawn_file_actions_adddup2(files, from, to)
                        : 0;
}

static void set_attributes(posix_spawnattr_t *attributes, bool own_group)
{
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setsigmask(attributes, &none);
    if (own_group) {
        posix_spawnattr_setpgroup(attributes, 0);
        flags |= POSIX_SPAWN_SETPGROUP;
    }
    posix_spawnattr_setflags(attributes, flags);
}

int spawn_start(pid_t *pid, const struct spawn *s)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes, s->own_group);
    int rc = put_file(&files, s->in, STDIN_FILENO);
    rc = rc == 0 ? put_file(&files, s->out, STDOUT_FILENO) : rc;
    rc = rc == 0 ? put_file(&files, s->errors, STDERR_FILENO) : rc;
    if (rc == 0)
        rc = s->path ? posix_spawn(pid, s->path, &files, &attributes, s->words, environ)
                     : posix_spawnp(pid, s->words[0], &files, &attributes, s->words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

int spawn_own(pid_t *pid, char *const *words, int *socket)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    const struct spawn s = {
        .words = words, .path = SPAWN_OWN_PROGRAM, .in = ends[1], .out = -1, .errors = -1};
    const int rc = spawn_start(pid, &s);
    close(ends[1]);
    if (rc != 0)
        close(ends[0]);
    else
        *socket = ends[0];
    return rc;
}

int spawn_wait(pid_t pid)
{
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(pid, &status, 0)) < 0 && errno == EINTR)
        ;
    return ended == pid ? status : -1;
}

void spawn_kill(pid_t pid)
{
    kill(pid, SIGKILL);
    (void)spawn_wait(pid);
}
