/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A TCP socket of this host, as the kernel says it (diag.c, listener.c). Private to the layer. */
#ifndef BEAMTOP_LINK_SOCKET_ROW_H
#define BEAMTOP_LINK_SOCKET_ROW_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SOCKET_LISTENS 0x0A /* TCP_LISTEN */

/* One end of a socket: IPv4 is mapped into IPv6, as the kernel does for sockets that take both. */
struct socket_end {
    struct in6_addr address;
    unsigned port;
    uint32_t scope; /* of an address that is one of an interface; 0: none, or unknown */
};

struct socket_row {
    struct socket_end own, far;
    unsigned state;
    bool any; /* it listens at every address of its kind */
    bool six;
    uid_t uid;
    uint64_t inode;
};

typedef void socket_row_fn(void *arg, const struct socket_row *r);

static inline bool socket_same_end(const struct socket_end *a, const struct socket_end *b)
{
    return a->port == b->port && IN6_ARE_ADDR_EQUAL(&a->address, &b->address);
}

void socket_map_four(struct in6_addr *out, const void *four); /* of 4 bytes; listener.c */
void socket_set_any(struct socket_row *r); /* says so by all else of it; listener.c */

#endif
