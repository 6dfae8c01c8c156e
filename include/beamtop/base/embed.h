/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text files that are part of the program: expressions, default configuration, themes. */
#ifndef BEAMTOP_BASE_EMBED_H
#define BEAMTOP_BASE_EMBED_H

#include <stddef.h>

struct embedded {
    const char *name; /* file name without its folder; NULL ends a table */
    const char *text; /* NUL-terminated */
    size_t len;
};

#endif
