/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing into a directory where other users write, too. */
#ifndef BEAMTOP_APP_SAMPLE_MAP_FILE_H
#define BEAMTOP_APP_SAMPLE_MAP_FILE_H

#include <stdbool.h>

#include "beamtop/base/buf.h"

/*
 * Writes a file whole or not at all: a new one takes the name, no link is followed. Replace: in
 * place of what has the name, whatever that is; else -1 with EEXIST where anything has it, also
 * since a moment ago. -1 with errno. */
int map_file_put(int dir, const char *name, const struct buf *text, bool replace);

#endif
