/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Giving up root before a stranger's files are parsed. */
#ifndef BEAMTOP_LOCAL_RIGHTS_H
#define BEAMTOP_LOCAL_RIGHTS_H

#include <sys/types.h>

#include "beamtop/base/error.h"

/*
 * Becomes the user that a process runs as, for good, when we are root and it is not. Kept are only
 * the right to read its memory (CAP_SYS_PTRACE) where Yama asks for it, and real-time priority 1
 * for our own threads. Before any thread is created: rights are of a thread. */
int rights_become_user_of(pid_t pid, struct error *err);

#endif
