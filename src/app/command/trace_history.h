/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where what was typed at the trace prompt of a node is kept, below the state directory. Pure. */
#ifndef BEAMTOP_APP_COMMAND_TRACE_HISTORY_H
#define BEAMTOP_APP_COMMAND_TRACE_HISTORY_H

#include <stdbool.h>

#define TRACE_HISTORY_FILE_BYTES 256

/*
 * "traces/NODE": what may lead elsewhere, or is not a plain character of a node's name, as %XX. A
 * name that is longer than file names may be is cut, with a number made of the whole behind it. */
void trace_history_file(char out[TRACE_HISTORY_FILE_BYTES], const char *node);

/*
 * Whether a line may hold what only the program knows: anything quoted, a binary, a sigil, or a
 * number of five digits or more. Such lines are not kept beyond the program. */
bool trace_history_has_values(const char *line);
/* The same of a line of the command prompt, where a pattern is behind `trace`, `calls` or
   `spans`. */
bool trace_history_command_has_values(const char *line);

#endif
