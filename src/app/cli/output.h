/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standard output: what could not be written there fails the command, unless its reader left. */
#ifndef BEAMTOP_APP_CLI_OUTPUT_H
#define BEAMTOP_APP_CLI_OUTPUT_H

#include "beamtop/base/buf.h"

/* Prints all of `text`. Returns an exit code; on failure the reason is on standard error. */
int output_put(const struct buf *text);
/* Before the end, with the exit code so far: what was printed and is still unwritten counts too. */
int output_check(int code);

#endif
