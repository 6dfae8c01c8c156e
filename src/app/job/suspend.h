/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stopping the program as a shell's job. One thread. */
#ifndef BEAMTOP_APP_JOB_SUSPEND_H
#define BEAMTOP_APP_JOB_SUSPEND_H

#include <stdbool.h>

/* A process outside this job waits for it and can resume it: the job is not orphaned. */
bool suspend_is_possible(void);
/* Stops the whole job; returns when it was resumed. The terminal has been given back before. */
void suspend_job(void);

#endif
