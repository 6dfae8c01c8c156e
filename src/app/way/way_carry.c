/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_carry.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "way_methods.h"

#define READS 16 /* at once: others wait */

bool way_carry_waits(const struct way_carry *y)
{
    return y->at < y->len;
}

/* The line's first byte is in it once, so one that does not fit is the first again, or none. */
size_t way_carry_skip(struct way_carry *y, const char *bytes, size_t n)
{
    static const char line[] = WAY_OPEN_LINE "\n";
    size_t i = 0;
    while (i < n && !y->found) {
        const char byte = bytes[i++];
        y->matched = byte == line[y->matched] ? y->matched + 1 : byte == line[0];
        y->found = y->matched == sizeof line - 1;
    }
    y->skipped += i;
    return i;
}

/* False: nothing is there now. */
static bool read_more(struct way_carry *y, int *from)
{
    const ssize_t n = *from >= 0 ? read(*from, y->held, sizeof y->held) : -1;
    if (n > 0) {
        y->at = 0;
        y->len = (size_t)n;
        return true;
    }
    if (*from >= 0 && (n == 0 || (errno != EAGAIN && errno != EINTR))) {
        close(*from);
        *from = -1;
    }
    return false;
}

void way_carry(struct way_carry *y, int *from, int to,
               void (*heard)(void *arg, const char *bytes, size_t n), void *arg)
{
    for (unsigned i = 0; i < READS && (way_carry_waits(y) || read_more(y, from)); i++) {
        if (!y->found) {
            y->at += way_carry_skip(y, y->held + y->at, y->len - y->at);
            heard(arg, y->held, y->at);
            continue;
        }
        const ssize_t n = send(to, y->held + y->at, y->len - y->at, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN)
            return;
        y->at = n > 0 ? y->at + (size_t)n : y->len;
    }
}
