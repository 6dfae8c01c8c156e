/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whose socket listens at an address of this host: the kernel is asked (diag.h). Where it refuses,
 * and for another tree than /proc, tables are read. Private to the layer. */
#ifndef BEAMTOP_LINK_LISTENER_H
#define BEAMTOP_LINK_LISTENER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

struct listener {
    bool here;  /* `from` is connected to a socket of this host, of this network namespace */
    bool found; /* a socket listens there: the two below are its */
    uid_t uid;
    uint64_t inode;
};

/*
 * The tables are TREE/net/tcp and tcp6, read once. `to` is the address with its port; `from` the
 * other end of a connection to it, or NULL (`here` is not known then). False: nothing is known. */
bool listener_look(struct listener *out, const char *tree, const struct sockaddr_storage *to,
                   const struct sockaddr_storage *from);

struct listening {
    uint64_t inode;
    uint16_t port;
    bool any;                       /* it listens at every address of its kind */
    char address[INET6_ADDRSTRLEN]; /* where this host connects to it */
};

/* What that user's processes listen at, at most max; returns how many. */
size_t listener_list(struct listening *out, size_t max, const char *tree, uid_t uid);

#endif
