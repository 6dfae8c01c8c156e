/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "beamtop/base/spawn.h"
#include "way_child.h"

#define LOOK_MS 20 /* whether it has ended, while it says nothing */

struct limits {
    uint64_t end_ns;
    int cancel_fd; /* -1: it is not cancelled */
    bool in_front;
};

struct output {
    int fd; /* -1: it has ended */
    char *kept;
    size_t len;
};

static void read_output(struct output *o)
{
    (void)way_read_last(o->kept, WAY_RUN_BYTES, &o->len, &o->fd);
}

static int left_ms(uint64_t end_ns)
{
    const uint64_t now = clock_mono_ns();
    return now >= end_ns ? 0 : (int)((end_ns - now) / 1000000u) + 1;
}

/* 0: it has ended, and is reaped; ETIMEDOUT, ECANCELED, errno. */
static int await_end(pid_t pid, struct output *printed, struct output *said, int *status,
                     const struct limits *l)
{
    for (;;) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        const int why = errno;
        read_output(printed);
        read_output(said);
        if (ended != 0 && (ended > 0 || why != EINTR))
            return ended > 0 ? 0 : why;
        const int left = left_ms(l->end_ns);
        struct pollfd fds[] = {{.fd = printed->fd, .events = POLLIN},
                               {.fd = said->fd, .events = POLLIN},
                               {.fd = l->cancel_fd, .events = POLLIN}};
        if (left == 0)
            return ETIMEDOUT;
        if (poll(fds, 3, left < LOOK_MS ? left : LOOK_MS) > 0 && fds[2].revents != 0)
            return ECANCELED;
    }
}

/* Waits for a program that runs, and ends it where it is late. */
static int await(pid_t pid, struct output *printed, struct output *said, int *status,
                 const struct limits *l)
{
    const int rc = await_end(pid, printed, said, status, l);
    if (!l->in_front)
        (void)kill(-pid, SIGKILL); /* what it has started ends with it */
    if (rc != 0)
        spawn_kill(pid);
    if (printed->fd >= 0)
        close(printed->fd);
    if (said->fd >= 0)
        close(said->fd);
    return rc;
}

static int run(struct way_words *words, unsigned timeout_ms, struct limits *l, struct way_ran *out,
               struct error *err)
{
    struct output printed = {-1, out->printed, 0}, said = {-1, out->said, 0};
    int status = 0;
    pid_t pid;
    l->end_ns = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    *out = (struct way_ran){.code = -1};
    int rc = way_spawn(&pid, words->all, -1, &printed.fd, &said.fd, l->in_front ? WAY_IN_FRONT : 0);
    if (rc != 0) {
        way_spawn_explain(rc, words->all[0], err);
    } else {
        rc = await(pid, &printed, &said, &status, l);
        if (rc == ETIMEDOUT)
            error_set(err, ERR_TIMEOUT, "%s did not answer in %.3g s%s", words->all[0],
                      timeout_ms / 1000.0, l->in_front ? "" : ". Try --timeout 20");
        else if (rc != 0)
            error_set_errno(err, rc, "%s was not waited for", words->all[0]);
        else if (WIFEXITED(status))
            out->code = WEXITSTATUS(status);
    }
    way_words_clear(words);
    return err->code == ERR_NONE ? 0 : (int)err->code;
}

int way_run(struct way_words *words, unsigned timeout_ms, struct way_ran *out, struct error *err)
{
    return run(words, timeout_ms, &(struct limits){.cancel_fd = -1, .in_front = true}, out, err);
}

int way_run_aside(struct way_words *words, unsigned timeout_ms, int cancel_fd, struct way_ran *out,
                  struct error *err)
{
    return run(words, timeout_ms, &(struct limits){.cancel_fd = cancel_fd}, out, err);
}
