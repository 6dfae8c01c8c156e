/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The way to a node of this host that is in another network namespace, as in a container. A helper
 * process, which is this program once more, enters the namespace, connects, and passes the socket
 * back: no thread of ours is ever in a foreign namespace. A namespace of another user namespace is
 * entered through that one, which gives the right to it to the user that made it.
 *
 * The process that is meant must be a BEAM VM when it is entered, and the same as before where it
 * is known when that one started (discover_vm.started; 0: not known). */
#ifndef BEAMTOP_LINK_INSIDE_H
#define BEAMTOP_LINK_INSIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "beamtop/base/error.h"
#include "beamtop/link/way.h"

/* Owned: way_drop() it. host: the address in digits at which the node is, so that it is tried from
   here where the namespace may not be entered; NULL: none. Without one a failure says what is not
   allowed and what lifts it. */
struct conn_way *inside_way(pid_t pid, uint64_t started, const char *host);
/* Enters and connects to nothing; blocks, a second at most. ERR_NOT_FOUND: the process has ended;
   ERR_REFUSED: not allowed, the text has what lifts it; ERR_TIMEOUT, ERR_SYSTEM. */
int inside_check(pid_t pid, struct error *err);

/* The helper: true when these are the words of its command line. `inside_main` is called before
   any thread is created, and its value is the exit code. */
bool inside_is_meant(int argc, char *const *argv);
int inside_main(int argc, char *const *argv);

#endif
