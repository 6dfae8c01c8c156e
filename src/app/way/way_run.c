/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "way_child.h"

#define LOOK_MS 20 /* whether it has ended, while it says nothing */
#define READS_MOST 128

struct limits {
    uint64_t end_ns;
    int cancel_fd; /* -1: it is not cancelled */
    bool in_front;
};

/* What is there; the last bytes are kept. The end closes fd. */
static void read_all(char kept[WAY_RUN_BYTES], int *fd)
{
    char bytes[1024];
    for (size_t turns = 0; *fd >= 0 && turns < READS_MOST; turns++) {
        const ssize_t n = read(*fd, bytes, sizeof bytes);
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            close(*fd);
            *fd = -1;
            return;
        }
        const size_t len = strlen(kept), room = WAY_RUN_BYTES - 1 - len;
        const size_t drop = (size_t)n > room ? (size_t)n - room : 0;
        memmove(kept, kept + drop, len - drop);
        for (size_t i = 0; i < (size_t)n; i++)
            kept[len - drop + i] = bytes[i] != '\0' ? bytes[i] : '?';
        kept[len - drop + (size_t)n] = '\0';
    }
}

static int left_ms(uint64_t end_ns)
{
    const uint64_t now = clock_mono_ns();
    return now >= end_ns ? 0 : (int)((end_ns - now) / 1000000u) + 1;
}

/* 0: it has ended, and is reaped; ETIMEDOUT, ECANCELED, errno. */
static int await_end(struct way_ran *out, pid_t pid, int *printed, int *said, int *status,
                     const struct limits *l)
{
    for (;;) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        read_all(out->printed, printed);
        read_all(out->said, said);
        if (ended != 0 && (ended > 0 || errno != EINTR))
            return ended > 0 ? 0 : errno;
        const int left = left_ms(l->end_ns);
        struct pollfd fds[] = {{.fd = *printed, .events = POLLIN},
                               {.fd = *said, .events = POLLIN},
                               {.fd = l->cancel_fd, .events = POLLIN}};
        if (left == 0)
            return ETIMEDOUT;
        if (poll(fds, 3, left < LOOK_MS ? left : LOOK_MS) > 0 && fds[2].revents != 0)
            return ECANCELED;
    }
}

static void end_program(pid_t pid, int why, int *status, const struct limits *l)
{
    if (!l->in_front)
        (void)kill(-pid, SIGKILL); /* what it has started ends with it */
    if (why == 0)
        return;
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
}

static int run(struct way_words *words, unsigned timeout_ms, struct limits *l, struct way_ran *out,
               struct error *err)
{
    int printed = -1, said = -1, status = 0;
    pid_t pid;
    l->end_ns = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    *out = (struct way_ran){.code = -1};
    int rc = way_spawn(&pid, words->all, -1, &printed, &said, l->in_front);
    if (rc == ENOENT)
        error_set(err, ERR_CONNECT, "there is no %s on this host: install it, or add it to PATH",
                  words->all[0]);
    else if (rc != 0)
        error_set_errno(err, rc, "%s cannot be started", words->all[0]);
    if (rc == 0) {
        rc = await_end(out, pid, &printed, &said, &status, l);
        end_program(pid, rc, &status, l);
        if (printed >= 0)
            close(printed);
        if (said >= 0)
            close(said);
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
