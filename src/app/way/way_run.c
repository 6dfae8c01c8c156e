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

#define LOOK_MS 10 /* from the end of its output to its own */

/* Keeps the last bytes. False: the end. */
static bool read_some(char kept[WAY_RUN_BYTES], int fd)
{
    char bytes[1024];
    const ssize_t n = read(fd, bytes, sizeof bytes);
    if (n <= 0)
        return n < 0 && (errno == EINTR || errno == EAGAIN);
    const size_t len = strlen(kept), room = WAY_RUN_BYTES - 1 - len;
    const size_t drop = (size_t)n > room ? (size_t)n - room : 0;
    memmove(kept, kept + drop, len - drop);
    for (size_t i = 0; i < (size_t)n; i++)
        kept[len - drop + i] = bytes[i] != '\0' ? bytes[i] : '?';
    kept[len - drop + (size_t)n] = '\0';
    return true;
}

static int left_ms(uint64_t end_ns)
{
    const uint64_t now = clock_mono_ns();
    return now >= end_ns ? 0 : (int)((end_ns - now) / 1000000u) + 1;
}

/* Until both have ended, or the time has. */
static void read_both(struct way_ran *out, int printed, int said, uint64_t end_ns)
{
    struct pollfd fds[] = {{.fd = printed, .events = POLLIN}, {.fd = said, .events = POLLIN}};
    while ((fds[0].fd >= 0 || fds[1].fd >= 0) && left_ms(end_ns) > 0) {
        if (poll(fds, 2, left_ms(end_ns)) <= 0)
            continue;
        if (fds[0].revents != 0 && !read_some(out->printed, printed))
            fds[0].fd = -1;
        if (fds[1].revents != 0 && !read_some(out->said, said))
            fds[1].fd = -1;
    }
}

/* False: it was killed, since it has not ended by then. */
static bool await_exit(pid_t pid, int *status, uint64_t end_ns)
{
    for (;;) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return true;
        if (left_ms(end_ns) == 0)
            break;
        (void)poll(NULL, 0, LOOK_MS);
    }
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR)
        ;
    return false;
}

int way_run(struct way_words *words, unsigned timeout_ms, struct way_ran *out, struct error *err)
{
    const uint64_t end_ns = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    int printed = -1, said = -1, status = 0;
    pid_t pid;
    *out = (struct way_ran){.code = -1};
    const int rc = way_spawn(&pid, words->all, -1, &printed, &said, true);
    if (rc == ENOENT)
        error_set(err, ERR_CONNECT, "there is no %s on this host: install it, or add it to PATH",
                  words->all[0]);
    else if (rc != 0)
        error_set_errno(err, rc, "%s cannot be started", words->all[0]);
    if (rc == 0) {
        read_both(out, printed, said, end_ns);
        close(printed);
        close(said);
        if (!await_exit(pid, &status, end_ns))
            error_set(err, ERR_TIMEOUT, "%s did not answer in %.3g s", words->all[0],
                      timeout_ms / 1000.0);
        else if (WIFEXITED(status))
            out->code = WEXITSTATUS(status);
    }
    way_words_clear(words);
    return err->code == ERR_NONE ? 0 : (int)err->code;
}
