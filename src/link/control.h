/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Control messages of the distribution protocol, decoded from checked bytes and encoded as whole
 * frames. Source: OTP, erts/doc "Distribution Protocol", "Protocol between Connected Nodes". */
#ifndef BEAMTOP_LINK_CONTROL_H
#define BEAMTOP_LINK_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/base/buf.h"
#include "beamtop/base/error.h"
#include "beamtop/etf/term.h"
#include "beamtop/link/conn.h"

enum control_op {
    CONTROL_OTHER = 0, /* a number that we have no use for: count and ignore */
    CONTROL_LINK = 1,
    CONTROL_SEND = 2,
    CONTROL_EXIT = 3,
    CONTROL_UNLINK = 4,
    CONTROL_REG_SEND = 6,
    CONTROL_EXIT2 = 8,
    CONTROL_MONITOR = 19,
    CONTROL_DEMONITOR = 20,
    CONTROL_MONITOR_EXIT = 21,
    CONTROL_SEND_SENDER = 22,
    CONTROL_PAYLOAD_EXIT = 24,
    CONTROL_PAYLOAD_EXIT2 = 26,
    CONTROL_PAYLOAD_MONITOR_EXIT = 28,
    CONTROL_SPAWN_REQUEST = 29, /* only sent: nobody spawns here */
    CONTROL_SPAWN_REPLY = 31,
    CONTROL_UNLINK_ID = 35,
    CONTROL_UNLINK_ID_ACK = 36,
};

struct control {
    enum control_op op;
    int64_t number;      /* the operation as it came, for CONTROL_OTHER */
    struct etf_pid from; /* id 0, serial 0 where the operation has none */
    struct etf_pid to;
    struct slice from_node; /* borrowed */
    struct slice to_node;
    struct slice from_term; /* the pid or name as it came, a bare term: what an answer repeats */
    struct slice to_term;
    /* REG_SEND's and MONITOR's registered name, SPAWN_REPLY's error; len 0: a pid */
    struct slice name;
    struct slice ref;    /* MONITOR…, SPAWN_REPLY: the reference as a bare term */
    struct slice reason; /* EXIT…, MONITOR_EXIT without payload: a bare term */
    uint64_t unlink_id;
    bool takes_payload; /* the operation comes with a payload */
};

/* `bytes` has passed etf_check. ERR_FORMAT: not a tuple that starts with an integer, or
   when a known operation has other elements than it should. */
int control_decode(struct control *out, const uint8_t *bytes, size_t len, struct error *err);

/* Each appends one whole frame. Payloads have their version byte, terms have none. */
struct control_end { /* one end of a signal */
    const char *node;
    const struct etf_pid *pid;
    struct slice term; /* the same as a bare term, a pid or a name: goes before the other two */
};
void control_put_tick(struct buf *out);
void control_put_send(struct buf *out, struct control_end to, const uint8_t *payload, size_t len);
void control_put_reg_send(struct buf *out, struct control_end from, const char *to_name,
                          const uint8_t *payload, size_t len);
void control_put_unlink_id_ack(struct buf *out, uint64_t id, struct control_end from,
                               struct control_end to);
void control_put_exit(struct buf *out, struct control_end from, struct control_end to,
                      const char *reason);
void control_put_monitor_exit(struct buf *out, struct control_end from, struct control_end to,
                              struct slice ref, const char *reason);
/* exit(To, kill) */
void control_put_kill(struct buf *out, struct control_end from, struct control_end to);
/* `from` is also the group leader of the process. */
void control_put_spawn(struct buf *out, struct control_end from, const struct conn_spawn *s);
/* conn_spawn.id of the reference that an answer repeats. */
uint64_t control_spawn_id(const struct etf_ref *ref);

#endif
