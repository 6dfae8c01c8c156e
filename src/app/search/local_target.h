/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From an argument to a VM of this host that is looked at from outside. */
#ifndef BEAMTOP_APP_SEARCH_LOCAL_TARGET_H
#define BEAMTOP_APP_SEARCH_LOCAL_TARGET_H

#include <sys/types.h>

#include "app/cli/cli.h"
#include "beamtop/link/discover.h"

/*
 * The OS pid of the VM: `argument` is that itself, or the name of a node. ERR_NOT_FOUND: no such
 * process or node here, or its process is not visible; ERR_USAGE: not a VM, another host, several
 * VMs have the name; ERR_TIMEOUT: /proc did not say it in time. */
int local_target_find(pid_t *pid, const char *argument, const struct cli_options *o,
                      const struct app_env *env, struct error *err);
/* A VM by its OS pid, or the name of its node. */
struct local_wanted {
    const char *target;
    int64_t os_pid; /* of several VMs of that name, this one is meant; 0: unknown */
    const struct cli_options *cli;
    const struct app_env *env;
};
/* The VM of a node, by its name, and the list that it is of, which the caller clears, also after an
 * error. */
int local_target_choose(const struct discover_vm **vm, struct discover_list *list,
                        const struct local_wanted *wanted, struct error *err);

#endif
