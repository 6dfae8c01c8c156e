/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/maps: what a process has mapped from where. */
#ifndef BEAMTOP_LOCAL_IMAGE_MAPS_H
#define BEAMTOP_LOCAL_IMAGE_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "beamtop/base/slice.h"

struct image_map {
    uint64_t start, end, offset; /* [start, end) is the file from offset on */
    unsigned major, minor;       /* device */
    uint64_t inode;              /* 0: no file */
    bool executable;
    struct slice path; /* as the kernel prints it, "[vdso]"; borrowed */
};

/* Takes the first line off text; false: none is left. Lines that do not fit are passed over. */
bool image_map_next(struct slice *text, struct image_map *out);
/* The path with the kernel's escapes (\012) undone, and without " (deleted)". Owned. */
char *image_map_path(const struct image_map *m);

#endif
