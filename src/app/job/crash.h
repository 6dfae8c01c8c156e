/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Restores the terminal when the program crashes. */
#ifndef BEAMTOP_APP_JOB_CRASH_H
#define BEAMTOP_APP_JOB_CRASH_H

#include "beamtop/ui/tty.h"

/* From now on a fatal signal restores the terminal first. NULL: nothing to restore any more. */
void crash_protect(const struct tty_rescue *rescue);

#endif
