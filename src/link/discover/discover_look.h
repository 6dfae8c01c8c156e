/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What /proc says of one process. Private to the room. */
#ifndef BEAMTOP_LINK_DISCOVER_DISCOVER_LOOK_H
#define BEAMTOP_LINK_DISCOVER_DISCOVER_LOOK_H

#include "beamtop/link/discover.h"

struct discover_look {
    const char *tree;      /* /proc */
    const char *this_host; /* its name */
    double uptime_s;       /* of the system; negative: unknown */
    /* Called twice for a VM: with what the kernel answers by itself, then with what needs files of
     * the VM and names of users, which can block. False: there is no room for it. *vm is borrowed,
     * with its cookie. NULL: it is only asked whether it is one. */
    bool (*found)(void *arg, const struct discover_vm *vm);
    void *arg;
};

/* Whether the process is a VM. Any thread; its memory or its files can block it. */
bool discover_look(const struct discover_look *l, const char *pid);

#endif
