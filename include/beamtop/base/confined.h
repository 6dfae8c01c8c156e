/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may keep this process from system calls, whoever its user is. Any thread. */
#ifndef BEAMTOP_BASE_CONFINED_H
#define BEAMTOP_BASE_CONFINED_H

#include <stdbool.h>
#include <stdint.h>

/* A seccomp profile filters its system calls, as that of a container does. */
bool confined_by_filter(void);
/* The capabilities that it may use, a bit each by number (CAP_SYS_ADMIN …). */
uint64_t confined_rights(void);

#endif
