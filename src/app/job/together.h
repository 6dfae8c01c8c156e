/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work that blocks, done at the same time. */
#ifndef BEAMTOP_APP_JOB_TOGETHER_H
#define BEAMTOP_APP_JOB_TOGETHER_H

#include <stddef.h>

#define TOGETHER_MOST 8 /* at a time */

/*
 * Calls work(arg, i) once for each i below n, in this order as threads get free: on several
 * threads, of which the caller's is one. It waits for all. Where no thread can be started, fewer
 * work. */
void together(size_t n, void (*work)(void *arg, size_t i), void *arg);

#endif
