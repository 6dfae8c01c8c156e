/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What beamtop and its process of streams (way_server.h) say to each other, between two processes
 * of one program. An ask comes with a socket, on which the answers to it go back: one of
 * WAY_SAYS_OPEN and WAY_SAYS_FAILED, and WAY_SAYS_ENDED when an open stream has ended before that
 * socket was closed; before them, of a login where ssh asks a person, WAY_SAYS_WORDS: what ssh says
 * there. Closing it ends the stream. Each is one message (SOCK_SEQPACKET). */
#ifndef BEAMTOP_APP_WAY_WAY_WIRE_H
#define BEAMTOP_APP_WAY_WAY_WIRE_H

#include <stdint.h>

#include "way_url.h"

enum way_kind {
    WAY_ASKS_LOGIN, /* of ssh: to a host, whose streams share it */
    WAY_ASKS_STREAM,
    WAY_LOGS_IN, /* never asked: what the process of streams starts for both */
};

struct way_ask {
    uint32_t kind;
    uint16_t port;
    uint16_t terminal; /* ssh may ask for a password there */
    uint32_t timeout_ms;
    char address[256];
    char url[WAY_URL_BYTES + 1];
};

#define WAY_TEXT_BYTES 700

enum way_state { WAY_SAYS_OPEN, WAY_SAYS_FAILED, WAY_SAYS_ENDED, WAY_SAYS_WORDS };

struct way_say {
    uint32_t state;   /* WAY_SAYS_OPEN of a stream comes with its socket */
    uint32_t why;     /* enum conn_failure, if it failed or ended; then with a text */
    uint32_t prompts; /* it failed since ssh could ask nobody */
    char text[WAY_TEXT_BYTES];
};

/* Sends a message, with a descriptor unless that is -1. 0 or an errno value; never blocks. */
int way_wire_send(int socket, const void *message, size_t len, int fd);
/* Receives one of exactly that size; *fd is -1 if none came. 0, EAGAIN, EPIPE at its end. */
int way_wire_receive(int socket, void *message, size_t len, int *fd);

#endif
