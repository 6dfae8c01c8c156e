/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From an argument to a VM of this host that is looked at from outside. */
#ifndef BEAMTOP_APP_SAMPLE_LOCAL_TARGET_H
#define BEAMTOP_APP_SAMPLE_LOCAL_TARGET_H

#include <sys/types.h>

#include "app/cli/cli.h"
#include "beamtop/link/discover.h"

/*
 * The OS pid of the VM: `argument` is that itself, or the name of a node. ERR_NOT_FOUND: no such
 * process or node here, or its process is not visible; ERR_USAGE: not a VM, another host, several
 * VMs have the name. */
int local_target_find(pid_t *pid, const char *argument, const struct cli_options *o,
                      const struct app_env *env, struct error *err);
/* The VM of a node, and the list that it is of, which the caller clears, also after an error. */
int local_target_choose(const struct discover_vm **vm, struct discover_list *list, const char *name,
                        int64_t os_pid, const struct cli_options *o, const struct app_env *env,
                        struct error *err);
/* Only its OS pid. os_pid (0: unknown): of several VMs of that name, this one
 * is meant. */
int local_target_of_node(pid_t *pid, const char *name, int64_t os_pid, const struct cli_options *o,
                         const struct app_env *env, struct error *err);

#endif
