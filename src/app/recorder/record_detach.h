/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Detaches a recorder from the terminal, the directory and the files of the process before. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_DETACH_H
#define BEAMTOP_APP_RECORDER_RECORD_DETACH_H

#include <stdbool.h>

#include "beamtop/base/error.h"

struct record_log {
    int fd;
    bool is_new; /* there was none, or an empty one */
};

/* Opens FILE.log to append to it: a regular file without another name, so that no write waits.
   ERR_USAGE: the path is something else. */
int record_log_open(struct record_log *log, const char *path, struct error *err);
/* In the process that stays: an OS session in /, its output in the log, and of what was inherited
   only `kept` is open. False: errno says why. */
bool record_detach(int log, int kept);

#endif
