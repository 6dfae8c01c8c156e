/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Containers of this host: the engine's program says which process is a container's first one, and
 * the VMs are found by that. They are reached through their namespaces (link/inside.h), so nothing
 * runs in the container, and it needs no shell. Its program is asked once by a command that begins,
 * and again when a VM has ended: the container may have been started again. */
#ifndef BEAMTOP_APP_WAY_CONTAINER_H
#define BEAMTOP_APP_WAY_CONTAINER_H

#include <stdbool.h>

#include "beamtop/link/discover.h"
#include "beamtop/link/way.h"
#include "way_url.h"

/* What an engine's program has answered last, for a few seconds. Any thread. */
struct container_answer;
struct container_answer *container_answer_new(void);
void container_answer_free(struct container_answer *a);
/* A connection is opened, maybe once more: one that says that it does not run serves no longer. */
void container_answer_retry(struct container_answer *a);

/*
 * The VMs in the container of a URL, with what their command lines, files and sockets say. Blocks:
 * the engine's program has timeout_ms; cancel_fd (-1: none) readable ends it. *out is to be cleared
 * with 0 only. ERR_NOT_FOUND, ERR_REFUSED: they are not to be reached from here, and why; another
 * way may do. Other errors are of the engine: there is no such container, it does not run. last: an
 * answer that may serve, and gets a new one; NULL: it is asked. */
int container_find(struct discover_list *out, const struct way_url *url,
                   struct container_answer *last, unsigned timeout_ms, int cancel_fd,
                   struct error *err);
/* The VM that the URL means: of its node, or the only one. ERR_USAGE: the URLs to choose from. */
const struct discover_vm *container_choose(const struct discover_list *list,
                                           const struct way_url *url, struct error *err);
/* Both, at most in that time: the VM, without its cookie. */
int container_find_vm(struct discover_vm *out, const struct way_url *url,
                      struct container_answer *last, unsigned timeout_ms, struct error *err);
/* The way to that VM, and after its end to the one in its place. `vm` has a port, where one is
 * known: the way leads to the port of the VM that is there. Owned: way_drop() it. */
struct conn_way *container_way(const struct way_url *url, const struct discover_vm *vm);

/* A command that looks at a VM from outside can do it from here, or says why it fails; else `why`
 * says what keeps it from that. Blocks as container_find() does. */
bool container_is_here(const char *url, struct container_answer *last, unsigned timeout_ms,
                       struct error *why);

#endif
