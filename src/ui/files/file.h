/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files written whole or not at all. */
#ifndef BEAMTOP_UI_FILES_FILE_H
#define BEAMTOP_UI_FILES_FILE_H

#include <stdbool.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"

/* A temporary file beside it, then put in place. Without `replace` an existing file is
   ERR_REFUSED. Private: for the owner's eyes; else as umask says. */
int file_write(const char *path, const struct buf *content, bool replace, bool is_private,
               struct error *err);

#endif
