/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resident memory of another process, as the kernel counts it: the node is not asked. */
#ifndef BEAMTOP_LOCAL_RESIDENT_H
#define BEAMTOP_LOCAL_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct resident {
    int64_t resident_bytes, virtual_bytes;
    int64_t anon_bytes, swap_bytes, peak_bytes; /* -1 unknown */
};

/* A descriptor of this process, also after another one gets its pid; -1: none. Closed by the
 * caller. */
int resident_open(pid_t pid);
/* Never blocks. False once the process has ended. */
bool resident_read(int fd, struct resident *out);

#endif
