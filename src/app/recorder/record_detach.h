/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorder that outlives who started it: away from the terminal, the directory and what
 * was open. */
#ifndef BEAMTOP_APP_RECORDER_RECORD_DETACH_H
#define BEAMTOP_APP_RECORDER_RECORD_DETACH_H

#include <stdbool.h>

#include "beamtop/base/error.h"

struct record_log {
    int fd;
    bool is_new; /* there was none, or an empty one */
};

/*
 * Opens FILE.log to write behind what it has: a regular file without another name, no link, nothing
 * that a write could wait for. ERR_USAGE says what is
 * there instead. */
int record_log_open(struct record_log *log, const char *path, struct error *err);
/*
 * In the process that stays: a trace session in /, its output in the log, and of what was
 * inherited only `kept` is open. False: errno
 * says why. */
bool record_detach(int log, int kept);

#endif
