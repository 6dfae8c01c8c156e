/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /proc/PID/stat has of a process (proc(5)). */
#ifndef BEAMTOP_APP_JOB_PROCESS_STAT_H
#define BEAMTOP_APP_JOB_PROCESS_STAT_H

#include <stddef.h>

/* Reads it into line. Points in there behind the name, at " STATE PARENT …"; NULL: not known. */
const char *process_stat(long pid, char *line, size_t size);

#endif
