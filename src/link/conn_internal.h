/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A connection's own parts. Private to the layer. */
#ifndef BEAMTOP_LINK_CONN_INTERNAL_H
#define BEAMTOP_LINK_CONN_INTERNAL_H

#include "beamtop/base/buf.h"
#include "beamtop/base/limits.h"
#include "beamtop/link/conn.h"
#include "atom_cache.h"
#include "control.h"
#include "frame.h"
#include "internal.h"

#define LIBUV_READS_PER_TURN 32 /* how often libuv reads a stream before it looks at others */
#define READ_BYTES (LIMIT_READ_BYTES_PER_TURN / LIBUV_READS_PER_TURN)

enum state {
    STATE_DIALING,
    STATE_UP,
    STATE_STALLED, /* up no more; on_down follows from the loop */
    STATE_DOWN,
    STATE_CLOSING,
};

struct conn {
    uv_loop_t *loop;
    enum state state;
    struct dial *dial;
    struct conn_way *way;     /* NULL: TCP from here */
    struct way_stream stream; /* on it; its socket is in tcp */
    uv_tcp_t tcp;
    uv_timer_t tick;
    int write_status; /* of the first write that failed; 0: none did */
    uv_timer_t once;  /* a callback put off to the loop; the limit of the flush at close */
    uv_shutdown_t shutdown;
    bool tcp_open;
    struct tls_session *tls; /* NULL: TCP */
    int claim;               /* of our name */
    unsigned open_handles;
    struct conn_handlers handlers;
    void *arg, *receiver; /* of on_message and on_link_exit */
    struct frame_reader reader;
    struct atom_cache *atoms_in, *atoms_out; /* NULL: the peer has none */
    struct conn_stats stats;
    struct etf_pid self;
    char own[LIMIT_NODE_NAME_BYTES + 1];
    char peer[LIMIT_NODE_NAME_BYTES + 1];
    char notice[512];
    char tls_note[256];
    void (*closed)(void *arg);
    void *closed_arg;
};

/* conn.c */
void conn_lost(struct conn *c, int status); /* a libuv error, UV_EOF among them */
void conn_lost_garbage(struct conn *c, const struct error *cause);
void conn_lost_alert(struct conn *c, const char *text); /* of tls_explain() */
/* Sends what TLS has for the peer. 0 or a libuv error. */
int conn_flush_tls(struct conn *c);
/* Sends a frame that the protocol requires, and frees it. libuv reports a failure of the socket. */
void conn_send_quietly(struct conn *c, struct buf *frame);
void conn_send_tick(struct conn *c);

/* conn_in.c: libuv's callbacks for the stream. A buffer is of one read: hundreds of connections
 * would each keep what theirs has touched. */
void conn_on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *out);
void conn_on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *bytes);
void conn_take_tls(struct conn *c); /* what TLS has decrypted, and can */

#endif
