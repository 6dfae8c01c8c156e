/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ports and sockets of a node, as the last looks at them have found them. Pure: no clock, no
 * connection. */
#ifndef BEAMTOP_QUERY_PORTS_TABLE_H
#define BEAMTOP_QUERY_PORTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/slice.h"
#include "beamtop/etf/term.h"

enum port_kind {
    PORT_UNREAD, /* its name is not known yet */
    PORT_TCP,
    PORT_UDP,
    PORT_SCTP,
    PORT_DRIVER,
    PORT_DESCRIPTOR, /* of the OS process, as those of the terminal */
    PORT_PROGRAM,    /* an OS process */
    PORT_RAW,        /* a socket of another protocol */
};

/* -1: unknown. */
struct port_numbers {
    int64_t received_bytes, sent_bytes, received_packets, sent_packets;
    int64_t queue_bytes; /* in its driver, not yet sent */
};

#define PORT_KEY 5

struct port {
    bool is_socket;         /* of the module `socket`; else a port */
    uint32_t key[PORT_KEY]; /* its number, the older the less; of a socket the words of its ref */
    struct slice term;      /* of a port: in the list */
    struct etf_ref ref;     /* of a socket */
    enum port_kind kind;
    bool is_local;        /* its address is a path */
    size_t link;          /* from 1 on: its place among connections to nodes; 0: it is none */
    bool is_gone;         /* closed since it was listed */
    char *name;           /* driver, command; NULL: none, or not known */
    char *local, *remote; /* NULL: not known, or none */
    struct etf_pid owner;
    bool has_owner;
    int64_t os_pid;        /* -1: none */
    const char *state;     /* a constant; NULL: not known */
    const char *kernel;    /* what the kernel says; it is more than `state` */
    bool is_busy;          /* who sends to it waits */
    int64_t idle_ms;       /* since data went either way; -1: not known */
    int64_t writers;       /* processes that wait in a send; -1: not known */
    struct etf_pid sender; /* one of them */
    bool has_sender;
    int64_t queue_bytes, output, output_before; /* of the sweep over all ports; -1: not known */
    uint64_t swept_ms, swept_before_ms;
    struct port_numbers numbers;
    int64_t bytes_before; /* both ways, at the look before; -1: there was none */
    uint64_t looked_ms, before_ms;
    unsigned look;  /* of its numbers; 0: never */
    bool is_old;    /* they are still to be read */
    bool has_row;   /* of the answer that is built */
    bool has_names; /* its addresses were asked for */
};

struct port_table {
    struct port *ports, *sockets; /* by key */
    size_t n_ports, n_sockets;
    struct buf list; /* of ports */
};

void port_table_init(struct port_table *t);
void port_table_clear(struct port_table *t);
/* These are all ports that there are: the first `most`. false: it is another term, and those before
 * stay. */
bool port_table_list(struct port_table *t, struct slice list, size_t most);
/* Those that are not known yet are added: terms ['$socket', Ref]. out: each, in that order, NULL:
 * another term; until sockets are added or dropped. */
void port_table_add_sockets(struct port_table *t, const struct slice *terms, size_t n,
                            struct port **out);
/* Those that no look has found since then have closed. */
void port_table_drop_sockets(struct port_table *t, unsigned since);
/* NULL: there is none. */
struct port *port_table_find(const struct port_table *t, struct slice term);

/* Bytes a second, both ways between its last two looks, or out between sweeps; -1: not known. */
double port_rate(const struct port *p);
/* The longest queues, then the most bytes a second, then what its other end has
 * closed, then ports before sockets, the oldest first;
 * `most` at most, none that is gone; look: only those whose numbers are of that one; 0: all. */
size_t port_table_rank(const struct port_table *t, unsigned look, struct port **out, size_t most);

#endif
