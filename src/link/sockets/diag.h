/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks the kernel for single TCP sockets of the network namespace that beamtop is in, by
 * NETLINK_SOCK_DIAG: a table of all of them is long on a host with many connections. No right is
 * needed. A call ends within LIMIT_DIAG_MS, reads LIMIT_DIAG_ROWS at most, and may be made on any
 * thread. Private to the layer. */
#ifndef BEAMTOP_LINK_DIAG_H
#define BEAMTOP_LINK_DIAG_H

#include <stddef.h>

#include "socket_row.h"

/* Calls take for each socket that listens at the port; 0: at any. False: the kernel does not say,
 * or not all; rows may have been taken then. */
bool diag_listening(unsigned port, socket_row_fn *take, void *arg);
/* Whether a socket is connected from `own` to `far`. False: the kernel does not say. */
bool diag_is_connected(bool *out, const struct socket_end *own, const struct socket_end *far);

/* One datagram of an answer; `number` is that of the question. Pure. */
enum diag_said {
    DIAG_MORE,
    DIAG_DONE,
    DIAG_NONE,    /* there is no such socket, or no such question */
    DIAG_REFUSED, /* also an answer that is none */
};
enum diag_said diag_read(const void *bytes, size_t len, uint32_t number, socket_row_fn *take,
                         void *arg);

#endif
