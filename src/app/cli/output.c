/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exit_code.h"

/* A pipe whose reader has closed it. */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

/* why: 0 when the reason is not known any more. */
static int write_failed(int why)
{
    if (why == EPIPE || reader_is_gone())
        return EXIT_DONE;
    fprintf(stderr, "beamtop: write error%s%s\n", why != 0 ? ": " : "",
            why != 0 ? strerror(why) : "");
    return EXIT_FAILED;
}

int output_put(const struct buf *text)
{
    errno = 0;
    bool put = text->len == 0 || fwrite(text->data, 1, text->len, stdout) == text->len;
    return put && fflush(stdout) == 0 ? EXIT_DONE : write_failed(errno);
}

int output_check(int code)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    int why = errno;
    return code == EXIT_DONE ? write_failed(why) : code; /* the command has printed its reason */
}
