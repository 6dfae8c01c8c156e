/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small files below a directory that is open. Private to the room. */
#ifndef BEAMTOP_LOCAL_OUTSIDE_OUTSIDE_FILE_H
#define BEAMTOP_LOCAL_OUTSIDE_OUTSIDE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/local/outside.h"

/* The start of a file, NUL-terminated; false: it cannot be read. */
bool outside_file(int dir, const char *path, char *out, size_t size);

/* Memory limit and freezer of the cgroup in dir's `cgroup`, below the tree. */
void outside_read_cgroup(struct outside *o, int dir, const char *tree);
/* Looks among the descriptors of the process for a crash dump. period_s: since the look before; 0:
 * there was none. */
void outside_read_dump(struct outside *o, int dir, double period_s);

#endif
