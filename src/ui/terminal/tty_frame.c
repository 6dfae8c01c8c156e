/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tty_frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define STOPPED_MS 200 /* a terminal that takes nothing for so long is not waited for */

/* Opens the terminal again, so that O_NONBLOCK affects nobody else: processes share the flags of
 * a description. Where that fails, returns the same one. */
static int open_again(int fd)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* The limit on file sizes (RLIMIT_FSIZE) also applies to a file in memory. */
static bool is_limited(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

void frame_init(struct tty_frame *f, int fd)
{
    *f = (struct tty_frame){.fd = fd, .memory = -1};
    f->terminal = open_again(fd);
    if (f->terminal >= 0 && !is_limited())
        f->memory = memfd_create("frame", MFD_CLOEXEC);
}

void frame_clear(struct tty_frame *f)
{
    if (f->memory >= 0)
        close(f->memory);
    if (f->terminal >= 0)
        close(f->terminal);
}

static void turn_to(struct tty_frame *f, int other)
{
    while (dup3(other, f->fd, O_CLOEXEC) < 0 && errno == EINTR)
        continue;
}

void frame_begin(struct tty_frame *f)
{
    if (f->memory >= 0)
        turn_to(f, f->memory);
}

static bool write_frame(int terminal, const uint8_t *bytes, size_t len)
{
    struct pollfd room = {.fd = terminal, .events = POLLOUT};
    while (len > 0) {
        ssize_t n = write(terminal, bytes, len);
        if (n < 0 && errno != EINTR && (errno != EAGAIN || poll(&room, 1, STOPPED_MS) <= 0))
            return false;
        bytes += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool frame_end(struct tty_frame *f)
{
    if (f->memory < 0)
        return true;
    turn_to(f, f->terminal);
    off_t end = lseek(f->memory, 0, SEEK_CUR); /* fd had the same offset */
    (void)lseek(f->memory, 0, SEEK_SET);
    if (end <= 0)
        return end == 0;
    void *bytes = mmap(NULL, (size_t)end, PROT_READ, MAP_SHARED, f->memory, 0);
    if (bytes == MAP_FAILED)
        return false;
    bool whole = write_frame(f->terminal, bytes, (size_t)end);
    (void)munmap(bytes, (size_t)end);
    return whole;
}
