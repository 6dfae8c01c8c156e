/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/status: its sizes are counters of the kernel, so reading them costs the same however
 * large the process is. */
#include "beamtop/local/resident.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/attr.h"

#define STATUS_BYTES 4096
#define STATUS_MOST_BYTES (1024 * 1024) /* a process is in 65,536 groups at most, on one line */

static const struct {
    const char *key;
    size_t at; /* in struct resident */
    int64_t unit;
} fields[] = {
    {"TracerPid:", offsetof(struct resident, tracer), 1},
    {"VmRSS:", offsetof(struct resident, resident_bytes), 1024},
    {"VmSize:", offsetof(struct resident, virtual_bytes), 1024},
    {"RssAnon:", offsetof(struct resident, anon_bytes), 1024},
    {"VmSwap:", offsetof(struct resident, swap_bytes), 1024},
    {"VmHWM:", offsetof(struct resident, peak_bytes), 1024},
};

int resident_open(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

int resident_open_at(int dir)
{
    return openat(dir, "status", O_RDONLY | O_CLOEXEC);
}

/* "VmRSS:\t  1234 kB" */
static void take_line(struct resident *out, const char *line)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const size_t len = strlen(fields[i].key);
        char *end = NULL;
        if (strncmp(line, fields[i].key, len) != 0)
            continue;
        const int64_t n = strtoll(line + len, &end, 10), value = n * fields[i].unit;
        if (end != line + len && n >= 0 && n < INT64_MAX / 1024)
            memcpy((char *)out + fields[i].at, &value, sizeof value);
    }
}

/* Takes the lines that are complete, and moves the rest to the start; returns how long it is. One
 * that is longer than all of it (Groups) is skipped. */
static size_t take_lines(struct resident *out, char *text, size_t len, bool *skips)
{
    char *line = text, *end;
    while ((end = memchr(line, '\n', len - (size_t)(line - text)))) {
        *end = '\0';
        if (!*skips)
            take_line(out, line);
        *skips = false;
        line = end + 1;
    }
    const size_t left = len - (size_t)(line - text);
    if (left == STATUS_BYTES) {
        *skips = true;
        return 0;
    }
    memmove(text, line, left);
    return left;
}

bool resident_read(int fd, struct resident *out)
{
    char text[STATUS_BYTES];
    bool skips = false;
    size_t have = 0;
    off_t at = 0;
    ssize_t n;
    *out = (struct resident){-1, -1, -1, -1, -1, -1};
    while (at < STATUS_MOST_BYTES && (n = pread(fd, text + have, sizeof text - have, at)) > 0) {
        at += n;
        have = take_lines(out, text, have + (size_t)n, &skips);
    }
    return out->resident_bytes > 0 && out->virtual_bytes > 0;
}
