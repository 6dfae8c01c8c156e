/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The compiled code of a VM of this host, read by a process that has become the user of the VM:
 * what a stranger's VM holds is not parsed with the rights of root. */
#ifndef BEAMTOP_APP_SAMPLE_LOCAL_READ_H
#define BEAMTOP_APP_SAMPLE_LOCAL_READ_H

#include <stdint.h>
#include <sys/types.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/local/jit.h"

enum { LOCAL_READ_MS = 60 * 1000 }; /* as long as the sampler has for it */

/*
 * Appends to *out what a child of this process writes in run(), in so many milliseconds: it is
 * ended then, as when it was stopped (SIGSTOP). Time in which this process is stopped is not
 * counted. run() ends with _exit(). ERR_TIMEOUT, ERR_SYSTEM. */
typedef void local_run_fn(int fd, const void *arg);
int local_read_child(struct buf *out, local_run_fn *run, const void *arg, uint64_t within_ms,
                     struct error *err);

/* Appends to *out what put() makes of the list in that process: LIMIT_JIT_BYTES at most. Names come
 * from the memory of another process: put() makes them safe to print. */
int local_read(struct buf *out, pid_t pid,
               void (*put)(struct buf *out, const struct jit *j, const void *arg), const void *arg,
               struct error *err);

#endif
