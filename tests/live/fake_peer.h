/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peers that are no Erlang nodes, or that turn bad after a good handshake: child processes. */
#ifndef BEAMTOP_TESTS_FAKE_PEER_H
#define BEAMTOP_TESTS_FAKE_PEER_H

#include <stdint.h>
#include <sys/types.h>

/* Serves one connection after the other on a free port of 127.0.0.1 until killed (node_kill). */
pid_t fake_tcp_start(uint16_t *port, void (*serve)(int fd));
/* As fake@127.0.0.1 with the cookie "secret"; `serve` gets the socket after the handshake. */
pid_t fake_node_start(uint16_t *port, void (*serve)(int fd));
/* As a node of any name, even one that no node can have. */
pid_t fake_named_start(uint16_t *port, const char *full, void (*serve)(int fd));

#endif
