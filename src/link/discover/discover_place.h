/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room in the list of VMs, which is bounded: it is shared by the users. */
#ifndef BEAMTOP_LINK_DISCOVER_PLACE_H
#define BEAMTOP_LINK_DISCOVER_PLACE_H

#include "beamtop/link/discover.h"

/*
 * Adds a VM, of which pid, uid and other_users count here. When the list is full it takes the place
 * of one of the user with most, when that has more than this one's user would have; one without a
 * name goes first. What only epmd knows (pid 0) counts as a user, and so do all user namespaces but
 * ours. NULL: no place; the list is truncated. */
struct discover_vm *discover_place(struct discover_list *list, const struct discover_vm *vm);

#endif
