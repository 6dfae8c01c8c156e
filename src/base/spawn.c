/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool put_file(int from, int to)
{
    const int fd = from >= 0 ? from : open("/dev/null", O_RDWR);
    return fd == to || (fd >= 0 && dup2(fd, to) == to && (from >= 0 || close(fd) == 0));
}

static void free_signals(void)
{
    const struct sigaction first = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        (void)sigaction(i, &first, NULL); /* not all can be set */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the child. Returns only with the reason why there is no program. */
static int become(const struct spawn *s, pid_t parent)
{
    if (!s->outlives && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return errno;
    if (!s->outlives && getppid() != parent)
        return ECANCELED; /* it was killed before */
    if (s->own_group && setpgid(0, 0) != 0)
        return errno;
    if (!put_file(s->in, STDIN_FILENO) || !put_file(s->out, STDOUT_FILENO) ||
        !put_file(s->errors, STDERR_FILENO))
        return errno;
    free_signals();
    if (s->path)
        execv(s->path, s->words);
    else
        execvp(s->words[0], s->words);
    return errno;
}

/* What the child says before its end, or that it has begun its program: then the pipe closes. */
static int await_start(pid_t pid, int from)
{
    int why = 0;
    ssize_t n;
    while ((n = read(from, &why, sizeof why)) < 0 && errno == EINTR)
        ;
    if (n == 0)
        return 0;
    (void)spawn_wait(pid);
    return n == sizeof why ? why : EIO;
}

int spawn_start(pid_t *pid, const struct spawn *s)
{
    int fds[2];
    sigset_t all, before;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return errno;
    const pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of ours runs in the child */
    const pid_t child = fork();
    int rc = child < 0 ? errno : 0;
    if (child == 0) {
        rc = become(s, parent);
        (void)!write(fds[1], &rc, sizeof rc);
        _exit(127);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(fds[1]);
    if (rc == 0)
        rc = await_start(child, fds[0]);
    close(fds[0]);
    *pid = child;
    return rc;
}

int spawn_own(pid_t *pid, char *const *words, int *socket)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    const struct spawn s = {.words = words,
                            .path = SPAWN_OWN_PROGRAM,
                            .in = ends[1],
                            .out = -1,
                            .errors = -1,
                            .outlives = true}; /* it ends by its socket, in order */
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
