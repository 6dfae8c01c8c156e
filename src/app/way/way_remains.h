/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The private directory of a process of streams, with the sockets of ssh's shared connections, and
 * what such a process has left that was killed. A directory is locked (flock) as long as its
 * process lives: one that is not is removed, and its connections end with their last stream. One
 * thread. */
#ifndef BEAMTOP_APP_WAY_WAY_REMAINS_H
#define BEAMTOP_APP_WAY_WAY_REMAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* runtime_dir: NULL: /tmp. Where no other user can put a directory in its place. False: nowhere. */
bool way_remains_make_dir(char *out, size_t size, const char *runtime_dir);
/* It is still there: what tidies up a host's temporary files, or a logout, may have removed it. */
bool way_remains_has_dir(const char *dir);
/* Of processes that were killed: 1 s at most. No children of the caller may be running. */
void way_remains_clear(const char *runtime_dir);
/* All children of the caller that end within the time are reaped. False: some are left. */
bool way_remains_reap(unsigned ms);

#endif
