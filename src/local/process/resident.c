/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/status: its sizes are counters of the kernel, so reading them costs the same however
 * large the process is. */
#include "beamtop/local/resident.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES 4096

int resident_open(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* "VmRSS:\t  1234 kB"; -1: it is not there. */
static int64_t bytes_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    const long long kib = at ? strtoll(at + strlen(key), NULL, 10) : -1;
    return kib >= 0 && kib < INT64_MAX / 1024 ? 1024 * kib : -1;
}

bool resident_read(int fd, struct resident *out)
{
    char text[STATUS_BYTES + 1];
    const ssize_t n = pread(fd, text, STATUS_BYTES, 0);
    if (n <= 0)
        return false;
    text[n] = '\0';
    *out = (struct resident){.resident_bytes = bytes_of(text, "\nVmRSS:"),
                             .virtual_bytes = bytes_of(text, "\nVmSize:"),
                             .anon_bytes = bytes_of(text, "\nRssAnon:"),
                             .swap_bytes = bytes_of(text, "\nVmSwap:"),
                             .peak_bytes = bytes_of(text, "\nVmHWM:")};
    return out->resident_bytes > 0 && out->virtual_bytes > 0;
}
