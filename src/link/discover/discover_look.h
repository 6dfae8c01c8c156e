/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /proc says of one process. Private to the room. */
#ifndef BEAMTOP_LINK_DISCOVER_DISCOVER_LOOK_H
#define BEAMTOP_LINK_DISCOVER_DISCOVER_LOOK_H

#include "beamtop/link/discover.h"

struct discover_look {
    const char *tree;      /* /proc */
    const char *this_host; /* its name */
    double uptime_s;       /* of the system; negative: unknown */
    /* *vm is borrowed, with its cookie. NULL: it is only asked whether it is one. */
    void (*found)(void *arg, const struct discover_vm *vm);
    void *arg;
};

/* Whether the process is a VM; found() gets what the kernel answers by itself. Any thread; memory
 * that is being changed can block it. */
bool discover_look(const struct discover_look *l, pid_t pid);
/* The same with what needs files of the VM and names of users, which can block, too. */
bool discover_look_within(const struct discover_look *l, pid_t pid);
/* Whether the kernel calls it an emulator: nothing of the process can block that. */
bool discover_has_name(pid_t pid);

#endif
