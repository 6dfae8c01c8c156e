/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "beamtop/base/clock.h"

/* clang-format off */
#define STATUS_BYTES 600u
#define ACK_BYTES 17u
#define CHALLENGE_NAME_AT 19u   /* tag, flags 8, challenge 4, creation 4, length 2 */
#define NAME_FLAGS_AT 7u        /* in the name packet, behind its header: its flags end so */
#define CHALLENGE_FLAGS_AT 7u   /* the same in a challenge */
#define FLAG_MONITOR_NAME 0x20u /* DFLAG_DIST_MONITOR_NAME: without it no monitor ever gets here */
#define FLAG_ATOM_CACHE 0x20u   /* DFLAG_DIST_HDR_ATOM_CACHE, of the byte before */
/* clang-format on */

int wire_fail(struct handshake *h, enum conn_failure why, enum err code, const char *text)
{
    h->why = why;
    return error_set(&h->err, code, "%s at port %u %s", h->target.full, h->port, text);
}

void wire_refuse(struct wire *w, enum conn_failure why, const char *text)
{
    w->verdict = VERDICT_FAILED;
    wire_fail(w->h, why, ERR_CONNECT, text);
}

/* ---- waiting */

int wire_ms_left(const struct handshake *h)
{
    uint64_t now = clock_mono_ns();
    if (now >= h->deadline_mono_ns)
        return 0;
    return (int)((h->deadline_mono_ns - now) / 1000000u) + 1;
}

/* 0 when fd is ready, else ETIMEDOUT or ECANCELED or what poll says. */
int wire_wait(const struct handshake *h, int fd, short events, int timeout_ms)
{
    uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        uint64_t now = clock_mono_ns();
        int left = now >= end ? 0 : (int)((end - now) / 1000000u) + 1;
        struct pollfd fds[2] = {{.fd = fd, .events = events},
                                {.fd = h->cancel_fd, .events = POLLIN}};
        int n = poll(fds, 2, left);
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0 && fds[1].revents != 0)
            return ECANCELED;
        if (n > 0 && fds[0].revents != 0)
            return 0;
        if (left == 0)
            return ETIMEDOUT;
    }
}

int wire_wait_for(struct wire *w, short events)
{
    const int ms = wire_ms_left(w->h);
    int rc = ms > 0 ? wire_wait(w->h, w->fd, events, ms) : ETIMEDOUT;
    w->timed_out |= rc == ETIMEDOUT;
    w->cancelled |= rc == ECANCELED;
    return rc;
}

/* ---- reading along */

static bool starts_as_tls(const uint8_t *p)
{
    return (p[0] == 0x15 || p[0] == 0x16) && p[1] == 0x03;
}

/* The longest packet that may come now. */
static size_t stage_limit(enum stage stage)
{
    switch (stage) {
    case STAGE_NAME:
    case STAGE_STATUS:
        return STATUS_BYTES;
    case STAGE_CHALLENGE:
    case STAGE_REPLY:
        return WIRE_PACKET_BYTES;
    case STAGE_ACK:
    case STAGE_DONE:
        return ACK_BYTES;
    }
    return 0;
}

static void check_header(struct wire *w, size_t len)
{
    if (w->header == WIRE_HEADER_BYTES && w->stage == STAGE_STATUS && starts_as_tls(w->in)) {
        wire_tls_needed(w);
    } else if (len == 0 || len > stage_limit(w->stage)) {
        wire_refuse(w, CONN_FAILED_NOT_ERLANG,
                    "answers, but not as an Erlang node does: probably not the node's port");
    }
}

static bool status_is(const uint8_t *body, size_t len, const char *word)
{
    return len == 1 + strlen(word) && memcmp(body + 1, word, len - 1) == 0;
}

static void check_status(struct wire *w, const uint8_t *body, size_t len)
{
    if (body[0] != 's') {
        wire_refuse(w, CONN_FAILED_NOT_ERLANG,
                    "answers, but not as an Erlang node does: probably not the node's port");
    } else if (status_is(body, len, "ok") || status_is(body, len, "ok_simultaneous")) {
        w->stage = STAGE_CHALLENGE;
    } else if (status_is(body, len, "alive") || status_is(body, len, "nok")) {
        w->verdict = VERDICT_TAKEN;
    } else if (status_is(body, len, "not_allowed")) {
        wire_refuse(
            w, CONN_FAILED_NOT_ALLOWED,
            "does not allow beamtop: net_kernel:allow/1 on the node lists the nodes that may "
            "connect. Add the name of beamtop there");
    } else {
        wire_refuse(w, CONN_FAILED_INCOMPATIBLE,
                    "answered the handshake with an unknown status: probably a newer protocol");
    }
}

/* Whether the peer is the one asked for. Decided before our digest leaves. */
static void check_peer(struct wire *w)
{
    struct handshake *h = w->h;
    struct name peer;
    struct error ignored = {0};
    if (name_parse(&peer, h->peer, "", &ignored) != 0 || strcmp(peer.alive, h->target.alive) != 0) {
        w->verdict = VERDICT_FAILED;
        h->why = CONN_FAILED_OTHER_NODE;
        error_set(&h->err, ERR_CONNECT,
                  "port %u is not %s but a node that calls itself %.255s: ask for that name if it "
                  "is the one meant",
                  h->port, h->target.full, h->peer);
    } else if (name_host_is_long(peer.host) != name_host_is_long(h->own.host)) {
        w->verdict = VERDICT_FORM;
    } else {
        w->stage = STAGE_REPLY;
    }
}

static void check_challenge(struct wire *w, const uint8_t *body, size_t len)
{
    if (body[0] == 'n') {
        wire_refuse(w, CONN_FAILED_INCOMPATIBLE,
                    "is older than OTP 23, which is the oldest supported");
        return;
    }
    size_t name_len = len >= CHALLENGE_NAME_AT ? (size_t)(body[17] << 8 | body[18]) : 0;
    if (body[0] != 'N' || name_len == 0 || name_len > LIMIT_NODE_NAME_BYTES ||
        CHALLENGE_NAME_AT + name_len > len ||
        !name_from_wire(w->h->peer, sizeof w->h->peer, (const char *)body + CHALLENGE_NAME_AT,
                        name_len)) {
        wire_refuse(w, CONN_FAILED_NOT_ERLANG, "sends a challenge that cannot be read");
        return;
    }
    w->h->atom_cache = body[CHALLENGE_FLAGS_AT] & FLAG_ATOM_CACHE;
    check_peer(w);
}

static void check_packet(struct wire *w, const uint8_t *body, size_t len)
{
    switch (w->stage) {
    case STAGE_STATUS:
        check_status(w, body, len);
        break;
    case STAGE_CHALLENGE:
        check_challenge(w, body, len);
        break;
    case STAGE_ACK:
        w->stage = STAGE_DONE;
        break;
    case STAGE_NAME:
    case STAGE_REPLY:
    case STAGE_DONE:
        wire_refuse(w, CONN_FAILED_NOT_ERLANG, "speaks out of turn in the handshake");
        break;
    }
}

static size_t packet_bytes(const struct wire *w)
{
    const uint8_t *p = w->in;
    if (w->header == WIRE_TLS_HEADER_BYTES)
        return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
    return (size_t)(p[0] << 8 | p[1]);
}

void wire_read_along(struct wire *w, const uint8_t *bytes, size_t len)
{
    const size_t header = w->header;
    for (size_t i = 0; i < len && w->verdict == VERDICT_NONE; i++) {
        w->in[w->in_len++] = bytes[i];
        if (w->in_len < header)
            continue;
        size_t packet = packet_bytes(w);
        if (w->in_len == header) {
            check_header(w, packet);
        } else if (w->in_len == header + packet) {
            w->in_len = 0;
            check_packet(w, w->in + header, packet);
        }
    }
}

/* ---- libei's callbacks: 0 or an errno value */

static int cb_socket(void **ctx, void *setup)
{
    *ctx = setup;
    return 0;
}

static int cb_close(void *ctx)
{
    (void)ctx; /* handshake_run owns the socket */
    return 0;
}

static int cb_connect(void *ctx, void *addr, int len, unsigned tmo)
{
    (void)ctx; /* it is connected already, by our own address and deadline */
    (void)addr;
    (void)len;
    (void)tmo;
    return 0;
}

int wire_send(struct wire *w, const void *bytes, size_t len)
{
    size_t sent = 0;
    while (sent < len) {
        ssize_t n = send(w->fd, (const char *)bytes + sent, len - sent, MSG_NOSIGNAL);
        if (n >= 0) {
            sent += (size_t)n;
        } else if (errno == EAGAIN) {
            int rc = wire_wait_for(w, POLLOUT);
            if (rc != 0)
                return rc;
        } else if (errno != EINTR) {
            w->errnum = errno;
            return errno;
        }
    }
    return 0;
}

int wire_receive(struct wire *w, void *bytes, size_t size, size_t *n)
{
    for (;;) {
        ssize_t got = recv(w->fd, bytes, size, 0);
        *n = got > 0 ? (size_t)got : 0;
        w->eof |= got == 0;
        if (got >= 0)
            return 0;
        if (errno == EAGAIN)
            return EAGAIN;
        if (errno != EINTR) {
            w->errnum = errno;
            return errno;
        }
    }
}

static int cb_write(void *ctx, const char *bytes, ssize_t *len, unsigned tmo)
{
    struct wire *w = ctx;
    char name[WIRE_PACKET_BYTES + WIRE_TLS_HEADER_BYTES];
    const size_t header = w->header;
    (void)tmo;
    if (w->stage == STAGE_NAME && *len > (ssize_t)(header + NAME_FLAGS_AT) + 1 &&
        (size_t)*len <= sizeof name && bytes[header] == 'N') {
        memcpy(name, bytes, (size_t)*len);
        char *flags = name + header + NAME_FLAGS_AT;
        flags[0] = (char)((unsigned char)flags[0] | FLAG_ATOM_CACHE);
        flags[1] = (char)((unsigned char)flags[1] | FLAG_MONITOR_NAME);
        bytes = name;
    }
    int rc = w->tls ? wire_tls_send(w, bytes, (size_t)*len) : wire_send(w, bytes, (size_t)*len);
    if (rc == 0 && w->stage == STAGE_NAME)
        w->stage = STAGE_STATUS;
    else if (rc == 0 && w->stage == STAGE_REPLY)
        w->stage = STAGE_ACK;
    return rc;
}

static int cb_read(void *ctx, char *bytes, ssize_t *len, unsigned tmo)
{
    struct wire *w = ctx;
    size_t n = 0;
    int rc;
    (void)tmo;
    do
        rc = w->tls ? wire_tls_receive(w, bytes, (size_t)*len, &n)
                    : wire_receive(w, bytes, (size_t)*len, &n);
    while (rc == EAGAIN && (rc = wire_wait_for(w, POLLIN)) == 0);
    if (rc != 0)
        return rc;
    wire_read_along(w, (const uint8_t *)bytes, n);
    *len = (ssize_t)n;
    return w->verdict == VERDICT_NONE ? 0 : EPROTO;
}

static int cb_header_size(void *ctx, int *size)
{
    const struct wire *w = ctx;
    *size = (int)w->header;
    return 0;
}

static int cb_complete(void *ctx)
{
    (void)ctx;
    return 0;
}

static int cb_fd(void *ctx, int *fd)
{
    const struct wire *w = ctx;
    *fd = w->fd;
    return 0;
}

ei_socket_callbacks wire_callbacks(void)
{
    return (ei_socket_callbacks){
        .flags = EI_SCLBK_FLG_FULL_IMPL,
        .socket = cb_socket,
        .close = cb_close,
        .connect = cb_connect,
        .write = cb_write,
        .read = cb_read,
        .handshake_packet_header_size = cb_header_size,
        .connect_handshake_complete = cb_complete,
        .accept_handshake_complete = cb_complete,
        .get_fd = cb_fd,
    };
}
