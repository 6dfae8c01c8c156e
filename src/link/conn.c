/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "conn_internal.h"

#include <assert.h>
#include <ei.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/clock.h"
#include "link/sockets/listener.h"
#include "proc.h"

#define TICK_MS 15000      /* a quarter of the shortest usual net_ticktime, 60 s */
#define PEER_GONE_MS 45000 /* unacknowledged for so long: the network is cut */
#define FLUSH_MS 1000      /* at close */
#define SELF_ID 1
#define TLS_MORE_BYTES 65536 /* what TLS adds to a full queue */

struct out_write {
    uv_write_t req;
    uint8_t bytes[];
};

int conn_global_init(struct error *err)
{
    int rc = ei_init();
    if (rc != 0)
        return error_set_errno(err, rc, "erl_interface does not start");
    return 0;
}

/* ---- the end */

static void stop_traffic(struct conn *c)
{
    uv_timer_stop(&c->tick);
    if (c->tcp_open)
        uv_read_stop((uv_stream_t *)&c->tcp);
}

static void go_down(struct conn *c, enum conn_failure why, const struct error *err)
{
    if (c->state == STATE_DOWN || c->state == STATE_CLOSING)
        return;
    c->state = STATE_DOWN;
    stop_traffic(c);
    c->handlers.on_down(c, c->arg, why, err);
}

/* In TLS, too, no node says before its end that nothing follows (close_notify): not by halt, stop,
 * SIGTERM, SIGKILL or disconnect_node, of OTP 23 to 29. So a part of a message is the one sign of a
 * cut. */
static bool is_cut(const struct conn *c)
{
    return frame_is_open(&c->reader) || (c->tls && tls_is_open(c->tls));
}

void conn_lost(struct conn *c, int status)
{
    struct error err = {0};
    enum conn_failure why = CONN_LOST;
    if (way_explain(c->way, &c->stream, &why, &err))
        error_context(&err, "the connection to %s is lost", c->peer);
    else if (status == UV_EOF && is_cut(c))
        error_set(&err, ERR_LOST,
                  "the connection to %s ended in the middle of a message: the node was killed, or "
                  "the network cut it off",
                  c->peer);
    else if (status == UV_EOF)
        error_set(&err, ERR_LOST, "the node stopped or disconnected beamtop");
    else
        error_set(&err, ERR_LOST, "the connection to %s is lost: %s", c->peer, uv_strerror(status));
    go_down(c, CONN_LOST, &err);
}

void conn_lost_garbage(struct conn *c, const struct error *cause)
{
    struct error err = *cause;
    error_context(&err, "beamtop closed the connection to %s", c->peer);
    go_down(c, CONN_LOST_GARBAGE, &err);
}

void conn_lost_alert(struct conn *c, const char *text)
{
    struct error err = {0};
    error_set(&err, ERR_LOST, "%s %s", c->peer, text);
    go_down(c, CONN_LOST, &err);
}

static void on_stalled(uv_timer_t *t)
{
    struct conn *c = t->data;
    struct error err = {0};
    if (c->state == STATE_STALLED) {
        error_set(&err, ERR_LOST,
                  "%s stopped reading, %u bytes are waiting: the node is frozen, or the network is "
                  "too slow. " ERROR_LOOK_OUTSIDE,
                  c->peer, LIMIT_OUT_QUEUE_BYTES, c->peer);
        go_down(c, CONN_LOST_STALLED, &err);
    }
}

/* ---- out */

#define UNREAD_MS 100

static void on_unread(uv_timer_t *t)
{
    struct conn *c = t->data;
    if (c->state == STATE_UP)
        conn_lost(c, c->write_status);
}

/* Why the peer has gone may be unread: an alert of TLS, or half a message. */
static void on_frame_written(uv_write_t *req, int status)
{
    struct conn *c = req->data;
    free(req);
    if (status == 0 || status == UV_ECANCELED || c->state != STATE_UP || c->write_status != 0)
        return;
    c->write_status = status;
    uv_timer_start(&c->once, on_unread, UNREAD_MS, 0);
}

/* Takes over what the socket does not take at once. Returns 0 or a libuv error. */
static int queue_write(struct conn *c, const uint8_t *bytes, size_t len)
{
    struct out_write *w = alloc_zero(1, sizeof *w + len);
    memcpy(w->bytes, bytes, len);
    w->req.data = c;
    uv_buf_t b = uv_buf_init((char *)w->bytes, (unsigned)len);
    int rc = uv_write(&w->req, (uv_stream_t *)&c->tcp, &b, 1, on_frame_written);
    if (rc != 0)
        free(w);
    return rc;
}

static size_t waiting_bytes(const struct conn *c)
{
    return uv_stream_get_write_queue_size((const uv_stream_t *)&c->tcp) +
           (c->tls ? tls_kept(c->tls) : 0);
}

/* As they go over the network. Returns 0 or a libuv error. */
static int put_bytes(struct conn *c, const uint8_t *bytes, size_t len)
{
    size_t done = 0;
    c->stats.bytes_out += len;
    if (uv_stream_get_write_queue_size((const uv_stream_t *)&c->tcp) == 0) {
        uv_buf_t b = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)len);
        int n = uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
        done = n > 0 ? (size_t)n : 0;
    }
    return done < len ? queue_write(c, bytes + done, len - done) : 0;
}

/* What was sent before is not whole without it. */
static void on_unsent(uv_timer_t *t)
{
    struct conn *c = t->data;
    if (c->state == STATE_UP)
        conn_lost(c, UV_EPROTO);
}

/* The peer takes no more; from the loop, so that no caller loses its connection in a call. */
static void stall(struct conn *c)
{
    c->state = STATE_STALLED;
    stop_traffic(c);
    uv_timer_start(&c->once, on_stalled, 0, 0);
}

int conn_flush_tls(struct conn *c)
{
    const struct slice out = tls_out(c->tls);
    int rc = 0;
    if (c->state == STATE_UP && waiting_bytes(c) + out.len > LIMIT_OUT_QUEUE_BYTES + TLS_MORE_BYTES)
        stall(c); /* of a peer that asks for new keys and reads none */
    else if (out.len > 0)
        rc = put_bytes(c, (const uint8_t *)out.s, out.len);
    tls_out_taken(c->tls);
    return rc;
}

static int send_bytes(struct conn *c, const uint8_t *bytes, size_t len, struct error *err)
{
    int rc = 0;
    if (c->state != STATE_UP)
        return error_set(err, ERR_LOST, "there is no connection to send over");
    if (waiting_bytes(c) + len > LIMIT_OUT_QUEUE_BYTES) {
        stall(c);
        return error_set(err, ERR_LIMIT, "%s takes nothing more", c->peer);
    }
    if (!c->tls)
        rc = put_bytes(c, bytes, len);
    else
        rc = tls_write(c->tls, bytes, len) ? conn_flush_tls(c) : UV_EPROTO;
    if (rc == 0)
        return 0;
    uv_timer_start(&c->once, on_unsent, 0, 0);
    return error_set(err, ERR_LOST, "%s cannot be sent to: %s", c->peer, uv_strerror(rc));
}

/* One that is packed and not sent was the last: no failure of send_bytes leaves a connection. */
static int send_frame(struct conn *c, struct buf *frame, struct error *err)
{
    const struct buf *bytes = c->atoms_out ? atom_cache_pack(c->atoms_out, frame) : frame;
    int rc = send_bytes(c, bytes->data, bytes->len, err);
    buf_clear(frame);
    return rc;
}

void conn_send_quietly(struct conn *c, struct buf *frame)
{
    struct error ignored = {0};
    (void)send_frame(c, frame, &ignored);
}

void conn_send_tick(struct conn *c)
{
    struct buf frame;
    if (waiting_bytes(c) > 0)
        return; /* queued bytes are a sign of life too */
    buf_init(&frame, 0);
    control_put_tick(&frame);
    conn_send_quietly(c, &frame);
}

static void on_net_tick(uv_timer_t *t)
{
    struct conn *c = t->data;
    if (c->state == STATE_UP)
        conn_send_tick(c);
}

static struct control_end self_end(const struct conn *c)
{
    return (struct control_end){.node = c->own, .pid = &c->self};
}

static struct control_end peer_end(const struct conn *c, const struct etf_pid *pid)
{
    return (struct control_end){.node = c->peer, .pid = pid};
}

int conn_send(struct conn *c, const struct etf_pid *to, const uint8_t *payload, size_t len,
              struct error *err)
{
    struct buf frame;
    buf_init(&frame, 0);
    control_put_send(&frame, peer_end(c, to), payload, len);
    return send_frame(c, &frame, err);
}

int conn_send_name(struct conn *c, const char *name, const uint8_t *payload, size_t len,
                   struct error *err)
{
    struct buf frame;
    buf_init(&frame, 0);
    control_put_reg_send(&frame, self_end(c), name, payload, len);
    return send_frame(c, &frame, err);
}

int conn_spawn(struct conn *c, const struct conn_spawn *s, struct error *err)
{
    struct buf frame;
    buf_init(&frame, 0);
    control_put_spawn(&frame, self_end(c), s);
    return send_frame(c, &frame, err);
}

int conn_kill(struct conn *c, const struct etf_pid *pid, struct error *err)
{
    struct buf frame;
    buf_init(&frame, 0);
    control_put_kill(&frame, self_end(c), peer_end(c, pid));
    return send_frame(c, &frame, err);
}

/* ---- the way up */

static int adopt_socket(struct conn *c)
{
    const int fd = c->stream.fd;
    unsigned gone_ms = PEER_GONE_MS;
    int rc = uv_tcp_init(c->loop, &c->tcp);
    if (rc == 0) {
        c->tcp.data = c;
        c->tcp_open = true;
        c->open_handles++;
        rc = uv_tcp_open(&c->tcp, fd);
    }
    if (rc != 0) {
        way_end(c->way, &c->stream);
        return rc;
    }
    c->stream.fd = -1;
    uv_tcp_nodelay(&c->tcp, 1);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &gone_ms, sizeof gone_ms);
    return uv_read_start((uv_stream_t *)&c->tcp, conn_on_alloc, conn_on_read);
}

static void on_dialed(void *arg, const struct dial_result *r)
{
    struct conn *c = arg;
    const struct handshake *h = r->handshake;
    c->dial = NULL;
    c->claim = r->claim;
    c->tls = r->tls;
    snprintf(c->tls_note, sizeof c->tls_note, "%s", h->tls_note);
    if (r->stream.fd < 0) {
        go_down(c, r->why, &r->err);
        return;
    }
    snprintf(c->own, sizeof c->own, "%s", h->own.full);
    snprintf(c->peer, sizeof c->peer, "%s", h->peer);
    const char *note = c->way && c->way->note ? c->way->note : "";
    snprintf(c->notice, sizeof c->notice, "%s", *h->notice ? h->notice : note);
    c->self = (struct etf_pid){.id = SELF_ID, .serial = 0, .creation = h->creation};
    if (h->atom_cache) {
        c->atoms_in = atom_cache_new();
        c->atoms_out = atom_cache_new();
        frame_reader_expand(&c->reader, c->atoms_in);
    }
    c->stream = r->stream;
    int rc = adopt_socket(c);
    if (rc != 0) {
        struct error err = {0};
        error_set(&err, ERR_SYSTEM, "the connected socket cannot be used: %s", uv_strerror(rc));
        go_down(c, CONN_FAILED_SYSTEM, &err);
        return;
    }
    c->state = STATE_UP;
    c->stats.last_in_mono_ns = clock_mono_ns();
    uv_timer_start(&c->tick, on_net_tick, TICK_MS, TICK_MS);
    if (c->handlers.on_up)
        c->handlers.on_up(c, c->arg);
    if (c->tls)
        conn_take_tls(c); /* what came with the end of the handshake */
}

int conn_open(struct conn **out, uv_loop_t *loop, const struct conn_options *options,
              const struct conn_handlers *handlers, void *arg, struct error *err)
{
    struct conn *c = alloc_zero(1, sizeof *c);
    *out = NULL;
    c->loop = loop;
    c->handlers = *handlers;
    c->arg = c->receiver = arg;
    c->claim = c->stream.fd = -1;
    int rc = dial_start(&c->dial, loop, options, on_dialed, c, err);
    if (rc != 0) {
        free(c);
        return rc;
    }
    c->way = way_take(options->way);
    uv_timer_init(loop, &c->tick);
    uv_timer_init(loop, &c->once);
    c->tick.data = c->once.data = c;
    c->open_handles = 2;
    frame_reader_init(&c->reader, LIMIT_FRAME_BYTES);
    *out = c;
    return 0;
}

/* ---- the way down */

static void on_handle_closed(uv_handle_t *h)
{
    struct conn *c = h->data;
    if (--c->open_handles > 0)
        return;
    void (*closed)(void *arg) = c->closed;
    void *arg = c->closed_arg;
    frame_reader_clear(&c->reader);
    atom_cache_free(c->atoms_in);
    atom_cache_free(c->atoms_out);
    claim_drop(&c->claim);
    way_end(c->way, &c->stream);
    way_drop(c->way);
    tls_session_free(c->tls);
    free(c);
    if (closed)
        closed(arg);
}

static void close_handles(struct conn *c)
{
    if (uv_is_closing((uv_handle_t *)&c->tick))
        return;
    uv_close((uv_handle_t *)&c->tick, on_handle_closed);
    uv_close((uv_handle_t *)&c->once, on_handle_closed);
    if (c->tcp_open)
        uv_close((uv_handle_t *)&c->tcp, on_handle_closed);
}

static void on_flushed(uv_shutdown_t *req, int status)
{
    (void)status;
    close_handles(req->data);
}

static void on_flush_limit(uv_timer_t *t)
{
    close_handles(t->data);
}

void conn_close(struct conn *c, void (*closed)(void *arg), void *arg)
{
    bool flush = c->state == STATE_UP;
    assert(c->state != STATE_CLOSING);
    c->closed = closed;
    c->closed_arg = arg;
    dial_cancel(c->dial);
    c->dial = NULL;
    stop_traffic(c);
    c->state = STATE_CLOSING;
    c->shutdown.data = c;
    if (flush && c->tls) {
        tls_end(c->tls);
        (void)conn_flush_tls(c);
    }
    if (flush && uv_shutdown(&c->shutdown, (uv_stream_t *)&c->tcp, on_flushed) == 0)
        uv_timer_start(&c->once, on_flush_limit, FLUSH_MS, 0);
    else
        close_handles(c);
}

/* ---- what is known */

void conn_receive(struct conn *c, const struct conn_handlers *handlers, void *arg)
{
    c->handlers.on_message = handlers->on_message;
    c->handlers.on_link_exit = handlers->on_link_exit;
    c->handlers.on_spawned = handlers->on_spawned;
    c->receiver = arg;
}

const struct etf_pid *conn_self(const struct conn *c)
{
    return &c->self;
}

const char *conn_own_node(const struct conn *c)
{
    return c->own;
}

const char *conn_peer_node(const struct conn *c)
{
    return c->peer;
}

bool conn_peer_is(const struct conn *c, pid_t pid)
{
    struct sockaddr_storage to = {0}, from = {0};
    int to_len = sizeof to, from_len = sizeof from;
    struct listener l;
    const char *tree = c->way ? c->way->proc_tree : "/proc";
    return c->tcp_open && tree &&
           uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&to, &to_len) == 0 &&
           uv_tcp_getsockname(&c->tcp, (struct sockaddr *)&from, &from_len) == 0 &&
           listener_look(&l, tree, &to, &from) && l.here && l.found &&
           proc_has_socket("/proc", pid, l.inode);
}

const struct conn_stats *conn_stats(const struct conn *c)
{
    return &c->stats;
}

bool conn_is_tls(const struct conn *c)
{
    return c->tls != NULL;
}

const char *conn_tls_note(const struct conn *c)
{
    return c->tls_note;
}

const char *conn_notice(const struct conn *c)
{
    return c->notice;
}
