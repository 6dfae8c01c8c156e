/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The resident memory of another process, as the kernel counts it, and who debugs it: the node is
 * not asked. */
#ifndef BEAMTOP_LOCAL_RESIDENT_H
#define BEAMTOP_LOCAL_RESIDENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct resident {
    int64_t resident_bytes, virtual_bytes;
    int64_t anon_bytes, swap_bytes, peak_bytes;
    int64_t tracer; /* its OS pid; 0: none. Of all: -1 unknown */
};

/* A descriptor of this process, also after another one gets its pid; -1: none. Closed by the
 * caller. */
int resident_open(pid_t pid);
int resident_open_at(int dir); /* of the process, by its directory in /proc */
/* Never blocks. False once the process has ended; what is known of *out is set also then. */
bool resident_read(int fd, struct resident *out);

#endif
