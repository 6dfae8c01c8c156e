/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mappings of a process, one by one: /proc/PID/maps. Private to the layer. */
#ifndef BEAMTOP_LOCAL_MAPS_H
#define BEAMTOP_LOCAL_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "beamtop/base/error.h"

struct map {
    uint64_t start, end, offset, inode;
    unsigned device_major, device_minor;
    bool readable, writable, executable, is_private;
    char path[4352]; /* "" anonymous; "[stack]"; as the reader sees it; at most PATH_MAX bytes */
};

struct maps {
    FILE *file;
    unsigned left; /* of LIMIT_MAPS */
};

/* ERR_SYSTEM with errno as it was: EACCES, the process is of another user; ENOENT, there is none.*/
int maps_open(struct maps *out, pid_t pid, struct error *err);
/* The next one, by address; false: none, or the process ended, or LIMIT_MAPS. */
bool maps_next(struct maps *m, struct map *out);
void maps_close(struct maps *m);

/* One line of the file, without its newline; false: it is not such a line. */
bool map_parse(struct map *out, const char *line);

#endif
