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

/* "VmRSS:\t  1234 kB" */
static bool find_bytes(const char *text, const char *key, double *bytes)
{
    const char *at = strstr(text, key);
    if (!at)
        return false;
    *bytes = 1024 * strtod(at + strlen(key), NULL);
    return *bytes > 0;
}

bool resident_read(int fd, struct resident *out)
{
    char text[STATUS_BYTES + 1];
    const ssize_t n = pread(fd, text, STATUS_BYTES, 0);
    if (n <= 0)
        return false;
    text[n] = '\0';
    return find_bytes(text, "\nVmSize:", &out->virtual_bytes) &&
           find_bytes(text, "\nVmRSS:", &out->resident_bytes);
}
