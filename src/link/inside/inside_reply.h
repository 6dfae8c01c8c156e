/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the helper says to the program that started it: one packet, with the socket when there is
 * one. Private to the room. */
#ifndef BEAMTOP_LINK_INSIDE_REPLY_H
#define BEAMTOP_LINK_INSIDE_REPLY_H

#include <stdint.h>
#include <sys/types.h>

#include "beamtop/base/error.h"

#define INSIDE_WORD "--enter-network" /* no name of a node, and no option */
#define INSIDE_NONE "-" /* in place of ADDRESS: the loopback; of HOST: there is none */

enum inside_stage {
    INSIDE_CONNECTED = 1, /* the packet has the socket */
    INSIDE_ENTERED,       /* no port was asked for */
    INSIDE_NO_PROCESS,    /* it has ended, or is no VM */
    INSIDE_NOT_OPENED,    /* its namespace: error */
    INSIDE_NOT_ENTERED,   /* its namespace: error */
    INSIDE_NOT_CONNECTED, /* error is that of socket() or connect() */
};

struct inside_reply {
    uint32_t stage; /* enum inside_stage */
    int32_t error;  /* an errno value; 0: none */
};

/* socket -1: none. 0 or an errno value. */
int inside_reply_send(int to, const struct inside_reply *reply, int socket);
/*
 * Takes the one packet that waits. *socket is the receiver's, or -1; it is there exactly with
 * INSIDE_CONNECTED. ERR_FORMAT: nothing, or not such a packet; then no socket stays open. */
int inside_reply_take(int from, struct inside_reply *out, int *socket, struct error *err);

/* What a stage that failed means for OS process `pid`, and what lifts it. Not of a connection. */
int inside_reply_explain(const struct inside_reply *reply, pid_t pid, struct error *err);

#endif
