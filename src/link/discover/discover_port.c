/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a node listens that no epmd was asked for: its flags and its sockets. */
#include "beamtop/link/discover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "link/proc.h"
#include "link/sockets/listener.h"

struct sockets {
    const struct discover_vm *vm;
    const struct listening *all;
    size_t count;
    const struct listening *last; /* the one that was found last: that of the lowest descriptor */
};

/* True when the VM's flags allow the port. */
static bool in_range(const struct discover_vm *vm, uint16_t port)
{
    const uint16_t max = vm->port_max != 0 ? vm->port_max : UINT16_MAX;
    return port >= vm->port_min && port <= max;
}

static bool is_candidate(void *arg, uint64_t inode)
{
    struct sockets *s = arg;
    for (size_t i = 0; i < s->count; i++) {
        if (s->all[i].inode == inode && in_range(s->vm, s->all[i].port)) {
            s->last = &s->all[i];
            return true;
        }
    }
    return false;
}

void discover_port(struct discover_vm *vm, const struct discover_options *o)
{
    const char *tree = o->proc_root ? o->proc_root : "/proc";
    char net[4128]; /* whose net/ has the sockets of its network namespace */
    struct sockets s = {.vm = vm};
    if (vm->pid == 0 || vm->port != 0 || vm->node[0] == '\0')
        return;
    struct listening *all = alloc_zero(LIMIT_LISTENING, sizeof *all);
    s.all = all;
    snprintf(net, sizeof net, "%.4000s/%ld", tree, (long)vm->pid);
    s.count = listener_list(all, LIMIT_LISTENING, vm->other_network ? net : tree, vm->uid);
    if (proc_first_socket(tree, vm->pid, is_candidate, &s) >= 0) {
        vm->port = s.last->port;
        memcpy(vm->address, s.last->address, sizeof vm->address);
    } else if (vm->port_min != 0 && vm->port_min == vm->port_max) {
        vm->port = vm->port_min;
    }
    free(all);
}
