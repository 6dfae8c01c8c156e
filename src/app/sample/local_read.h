/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compiled code of a VM of this host, read by a process that has become the user of the VM:
 * what a stranger's VM holds is not parsed with the rights of root. */
#ifndef BEAMTOP_APP_SAMPLE_LOCAL_READ_H
#define BEAMTOP_APP_SAMPLE_LOCAL_READ_H

#include <sys/types.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/local/jit.h"

/* Appends to *out what put() makes of the list in that process: LIMIT_JIT_BYTES at most. Names come
 * from the memory of another process: put() makes them safe to print. */
int local_read(struct buf *out, pid_t pid,
               void (*put)(struct buf *out, const struct jit *j, const void *arg), const void *arg,
               struct error *err);

#endif
