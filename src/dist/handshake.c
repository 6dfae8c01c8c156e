#include "internal.h"

#include <arpa/inet.h>
#include <ei.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "beamtop/base/clock.h"

/*
 * libei runs the handshake over callbacks of ours, which keep one deadline for the whole of it and
 * read along, so that each way to fail can be told from the others. The packets have two bytes of
 * length in front. Source: OTP, erts/doc "Distribution Protocol", "Distribution Handshake".
 */
enum stage {
    STAGE_NAME,      /* nothing sent yet */
    STAGE_STATUS,    /* our name sent, the peer's status is awaited */
    STAGE_CHALLENGE, /* the peer takes us, its challenge is awaited */
    STAGE_REPLY,     /* its challenge is here */
    STAGE_ACK,       /* our digest is sent, its own is awaited */
    STAGE_DONE,
};

enum verdict {
    VERDICT_NONE, /* nothing read that ends it: the stage tells */
    VERDICT_FAILED, /* why and the error are set */
    VERDICT_TAKEN,  /* the peer has a connection under our name: try the next */
    VERDICT_FORM,   /* its host part is of the other form: once more with ours as it has it */
};

#define HEADER_BYTES 2u
#define PACKET_BYTES 1100u      /* the longest: a challenge with a name of 255 characters */
#define STATUS_BYTES 600u
#define ACK_BYTES 17u
#define CHALLENGE_NAME_AT 19u   /* tag, flags 8, challenge 4, creation 4, length 2 */
#define FLAGS_LOW_AT 10u        /* in the name packet with its header: the flags' last byte */
#define FLAG_MONITOR_NAME 0x20u /* DFLAG_DIST_MONITOR_NAME: without it no monitor ever gets here */

struct wire {
    struct handshake *h;
    int fd;
    enum stage stage;
    enum verdict verdict;
    bool eof;
    bool timed_out;
    bool cancelled;
    int errnum;
    uint8_t in[PACKET_BYTES + HEADER_BYTES]; /* the packet that is being read */
    size_t in_len;
};

static const char *peer_text(const struct handshake *h)
{
    return h->target.full;
}

static int fail(struct handshake *h, enum conn_failure why, enum err code, const char *text)
{
    h->why = why;
    return error_set(&h->err, code, "%s at port %u %s", peer_text(h), h->port, text);
}

static void judge(struct wire *w, enum conn_failure why, const char *text)
{
    w->verdict = VERDICT_FAILED;
    fail(w->h, why, ERR_CONNECT, text);
}

/* ---- waiting */

static int ms_left(const struct handshake *h)
{
    uint64_t now = clock_mono_ns();
    if (now >= h->deadline_mono_ns) {
        return 0;
    }
    return (int)((h->deadline_mono_ns - now) / 1000000u) + 1;
}

/* 0 when fd is ready, else ETIMEDOUT or ECANCELED or what poll says. */
static int wait_for(const struct handshake *h, int fd, short events, int timeout_ms)
{
    uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * 1000000u;
    for (;;) {
        uint64_t now = clock_mono_ns();
        int left = now >= end ? 0 : (int)((end - now) / 1000000u) + 1;
        struct pollfd fds[2] = {{.fd = fd, .events = events},
                                {.fd = h->cancel_fd, .events = POLLIN}};
        int n = poll(fds, 2, left);
        if (n < 0 && errno != EINTR) {
            return errno;
        }
        if (n > 0 && fds[1].revents != 0) {
            return ECANCELED;
        }
        if (n > 0 && fds[0].revents != 0) {
            return 0;
        }
        if (left == 0) {
            return ETIMEDOUT;
        }
    }
}

static int wait_wire(struct wire *w, short events)
{
    int rc = wait_for(w->h, w->fd, events, ms_left(w->h));
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
        return PACKET_BYTES;
    case STAGE_ACK:
    case STAGE_DONE:
        return ACK_BYTES;
    }
    return 0;
}

static void judge_header(struct wire *w, size_t len)
{
    if (w->stage == STAGE_STATUS && starts_as_tls(w->in)) {
        judge(w, CONN_FAILED_NOT_ERLANG,
              "speaks TLS: distribution over TLS is not supported; reach the node by another way");
    } else if (len == 0 || len > stage_limit(w->stage)) {
        judge(w, CONN_FAILED_NOT_ERLANG,
              "answers, but not as an Erlang node does: is that the node's port?");
    }
}

static bool status_is(const uint8_t *body, size_t len, const char *word)
{
    return len == 1 + strlen(word) && memcmp(body + 1, word, len - 1) == 0;
}

static void judge_status(struct wire *w, const uint8_t *body, size_t len)
{
    if (body[0] != 's') {
        judge(w, CONN_FAILED_NOT_ERLANG,
              "answers, but not as an Erlang node does: is that the node's port?");
    } else if (status_is(body, len, "ok") || status_is(body, len, "ok_simultaneous")) {
        w->stage = STAGE_CHALLENGE;
    } else if (status_is(body, len, "alive") || status_is(body, len, "nok")) {
        w->verdict = VERDICT_TAKEN;
    } else if (status_is(body, len, "not_allowed")) {
        judge(w, CONN_FAILED_NOT_ALLOWED,
              "does not allow us: net_kernel:allow/1 there names the nodes that may connect, and "
              "our name has to be among them");
    } else {
        judge(w, CONN_FAILED_INCOMPATIBLE,
              "answers the handshake with a status that is not known: is it a newer protocol?");
    }
}

static uint32_t read_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Whether the peer is the one asked for. Decided before our digest leaves. */
static void judge_peer(struct wire *w)
{
    struct handshake *h = w->h;
    struct name peer;
    struct error ignored = {0};
    if (name_parse(&peer, h->peer, "", &ignored) != 0 ||
        strcmp(peer.alive, h->target.alive) != 0) {
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

static void judge_challenge(struct wire *w, const uint8_t *body, size_t len)
{
    if (body[0] == 'n') {
        judge(w, CONN_FAILED_INCOMPATIBLE, "is older than OTP 23, which is the oldest supported");
        return;
    }
    size_t name_len = len >= CHALLENGE_NAME_AT ? (size_t)(body[17] << 8 | body[18]) : 0;
    if (body[0] != 'N' || name_len == 0 || name_len > LIMIT_NODE_NAME_BYTES ||
        CHALLENGE_NAME_AT + name_len > len) {
        judge(w, CONN_FAILED_NOT_ERLANG, "sends a challenge that cannot be read");
        return;
    }
    memcpy(w->h->peer, body + CHALLENGE_NAME_AT, name_len);
    w->h->peer[name_len] = '\0';
    w->h->peer_creation = read_u32(body + 13);
    judge_peer(w);
}

static void judge_packet(struct wire *w, const uint8_t *body, size_t len)
{
    switch (w->stage) {
    case STAGE_STATUS:
        judge_status(w, body, len);
        break;
    case STAGE_CHALLENGE:
        judge_challenge(w, body, len);
        break;
    case STAGE_ACK:
        w->stage = STAGE_DONE;
        break;
    case STAGE_NAME:
    case STAGE_REPLY:
    case STAGE_DONE:
        judge(w, CONN_FAILED_NOT_ERLANG, "speaks out of turn in the handshake");
        break;
    }
}

static void read_along(struct wire *w, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len && w->verdict == VERDICT_NONE; i++) {
        w->in[w->in_len++] = bytes[i];
        if (w->in_len < HEADER_BYTES) {
            continue;
        }
        size_t packet = (size_t)(w->in[0] << 8 | w->in[1]);
        if (w->in_len == HEADER_BYTES) {
            judge_header(w, packet);
        } else if (w->in_len == HEADER_BYTES + packet) {
            w->in_len = 0;
            judge_packet(w, w->in + HEADER_BYTES, packet);
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

static int write_all(struct wire *w, const char *bytes, size_t len)
{
    size_t sent = 0;
    while (sent < len) {
        ssize_t n = send(w->fd, bytes + sent, len - sent, MSG_NOSIGNAL);
        if (n >= 0) {
            sent += (size_t)n;
        } else if (errno == EAGAIN) {
            int rc = wait_wire(w, POLLOUT);
            if (rc != 0) {
                return rc;
            }
        } else if (errno != EINTR) {
            w->errnum = errno;
            return errno;
        }
    }
    return 0;
}

static int cb_write(void *ctx, const char *bytes, ssize_t *len, unsigned tmo)
{
    struct wire *w = ctx;
    char name[PACKET_BYTES];
    (void)tmo;
    if (w->stage == STAGE_NAME && *len > (ssize_t)FLAGS_LOW_AT && (size_t)*len <= sizeof name &&
        bytes[HEADER_BYTES] == 'N') {
        memcpy(name, bytes, (size_t)*len);
        name[FLAGS_LOW_AT] = (char)((unsigned char)name[FLAGS_LOW_AT] | FLAG_MONITOR_NAME);
        bytes = name;
    }
    int rc = write_all(w, bytes, (size_t)*len);
    if (rc == 0 && w->stage == STAGE_NAME) {
        w->stage = STAGE_STATUS;
    } else if (rc == 0 && w->stage == STAGE_REPLY) {
        w->stage = STAGE_ACK;
    }
    return rc;
}

static int cb_read(void *ctx, char *bytes, ssize_t *len, unsigned tmo)
{
    struct wire *w = ctx;
    (void)tmo;
    for (;;) {
        ssize_t n = recv(w->fd, bytes, (size_t)*len, 0);
        if (n > 0) {
            read_along(w, (const uint8_t *)bytes, (size_t)n);
            *len = n;
            return w->verdict == VERDICT_NONE ? 0 : EPROTO;
        }
        if (n == 0) {
            w->eof = true;
            *len = 0;
            return 0;
        }
        if (errno == EAGAIN) {
            int rc = wait_wire(w, POLLIN);
            if (rc != 0) {
                return rc;
            }
        } else if (errno != EINTR) {
            w->errnum = errno;
            return errno;
        }
    }
}

static int cb_header_size(void *ctx, int *size)
{
    (void)ctx;
    *size = (int)HEADER_BYTES;
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

/* ---- one TCP connection */

static int connect_one(const struct handshake *h, const struct address *a, int timeout_ms, int *out)
{
    struct sockaddr_storage sa = a->sa;
    int error = 0;
    socklen_t size = sizeof error;
    uint16_t port = htons(h->port);
    if (sa.ss_family == AF_INET6) {
        ((struct sockaddr_in6 *)&sa)->sin6_port = port;
    } else {
        ((struct sockaddr_in *)&sa)->sin_port = port;
    }
    int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return errno;
    }
    int rc = connect(fd, (struct sockaddr *)&sa, a->len) == 0 ? 0 : errno;
    if (rc == EINPROGRESS) {
        rc = wait_for(h, fd, POLLOUT, timeout_ms);
        if (rc == 0) {
            rc = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
        }
    }
    if (rc != 0) {
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

static int explain_connect(struct handshake *h, int errnum)
{
    if (errnum == ECANCELED) {
        h->why = CONN_FAILED_SYSTEM;
        return error_set(&h->err, ERR_CANCELLED, "given up");
    }
    if (errnum == ECONNREFUSED) {
        return fail(h, CONN_FAILED_REFUSED, ERR_CONNECT,
                    "refuses the connection: the node is gone or listens on another address");
    }
    if (errnum == ETIMEDOUT) {
        return fail(h, CONN_FAILED_FILTERED, ERR_TIMEOUT,
                    "does not answer to a connection: is a firewall in between? The port is in the "
                    "range of kernel's inet_dist_listen_min and inet_dist_listen_max");
    }
    h->why = errnum == EHOSTUNREACH || errnum == ENETUNREACH ? CONN_FAILED_FILTERED
                                                             : CONN_FAILED_SYSTEM;
    return error_set_errno(&h->err, errnum, "%s at port %u cannot be reached", peer_text(h),
                           h->port);
}

/* Tries the addresses in turn, each with its share of the time that is left. */
static int connect_any(struct handshake *h, int *fd)
{
    int errnum = EHOSTUNREACH;
    int worst = 0;
    for (size_t i = 0; i < h->address_count; i++) {
        int share = ms_left(h) / (int)(h->address_count - i);
        errnum = connect_one(h, &h->addresses[i], share, fd);
        if (errnum == 0) {
            h->addresses[0] = h->addresses[i];
            h->address_count = 1;
            return 0;
        }
        if (errnum == ECANCELED) {
            return explain_connect(h, errnum);
        }
        if (worst == 0 || errnum == ETIMEDOUT) {
            worst = errnum;
        }
    }
    return explain_connect(h, worst != 0 ? worst : errnum);
}

static void address_text(const struct sockaddr_storage *sa, char *out, size_t size)
{
    if (sa->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)sa)->sin6_addr, out, (socklen_t)size);
    } else {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)sa)->sin_addr, out, (socklen_t)size);
    }
}

/* The host part of our name: as the target's when it is on this host, told by the addresses. */
static void own_host(const struct handshake *h, int fd, const char *form_host, char *out,
                     size_t size)
{
    struct sockaddr_storage near = {0};
    struct sockaddr_storage far = {0};
    socklen_t near_len = sizeof near;
    socklen_t far_len = sizeof far;
    char near_text[INET6_ADDRSTRLEN] = "";
    char far_text[INET6_ADDRSTRLEN] = "";
    getsockname(fd, (struct sockaddr *)&near, &near_len);
    getpeername(fd, (struct sockaddr *)&far, &far_len);
    address_text(&near, near_text, sizeof near_text);
    address_text(&far, far_text, sizeof far_text);
    bool here = strcmp(near_text, far_text) == 0;
    name_own_host(out, size, form_host, here, h->this_host, near_text);
}

/* ---- the handshake itself */

static void explain_silence(struct wire *w)
{
    struct handshake *h = w->h;
    h->why = CONN_FAILED_SILENT;
    error_set(&h->err, ERR_TIMEOUT,
              "%s at port %u takes the connection but %s within %.1f s: is the VM frozen or "
              "overloaded, or does it use TLS distribution?",
              peer_text(h), h->port,
              w->stage <= STAGE_STATUS ? "does not answer" : "does not finish the handshake",
              h->timeout_ms / 1000.0);
}

/* libei gave up and nothing that was read says why: the stage does. */
static void explain_stage(struct wire *w)
{
    bool closed = w->eof || w->errnum == ECONNRESET || w->errnum == EPIPE;
    if (w->cancelled) {
        explain_connect(w->h, ECANCELED);
    } else if (w->timed_out) {
        explain_silence(w);
    } else if (w->stage == STAGE_ACK || w->stage == STAGE_DONE) {
        judge(w, CONN_FAILED_COOKIE,
              "does not take our cookie: give the target's own with --cookie-file FILE or "
              "BEAMTOP_COOKIE");
    } else if (closed && w->stage <= STAGE_STATUS) {
        judge(w, CONN_FAILED_NOT_ERLANG,
              "closes the connection without a word: it is no Erlang node, one older than OTP 23, "
              "or one with TLS distribution");
    } else if (closed) {
        judge(w, CONN_FAILED_INCOMPATIBLE,
              "closes the connection in the middle of the handshake: its log may tell why");
    } else {
        judge(w, CONN_FAILED_INCOMPATIBLE,
              "lacks what the handshake of OTP 23 and later asks for");
    }
}

static ei_socket_callbacks callbacks(void)
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

/* The handshake on a connected socket. 0, or the verdict tells. */
static int shake_hands(struct handshake *h, struct wire *w)
{
    struct in_addr unused = {.s_addr = htonl(INADDR_LOOPBACK)};
    ei_socket_callbacks cbs = callbacks();
    ei_cnode ec;
    int rc = ei_connect_xinit_ussi(&ec, h->own.host, h->own.alive, h->own.full, &unused,
                                   h->cookie.text, h->creation, &cbs, (int)sizeof cbs, w);
    if (rc >= 0) {
        int fd = ei_xconnect_host_port_tmo(&ec, &unused, h->port, (unsigned)ms_left(h) + 1);
        if (fd >= 0) {
            ei_close_connection(fd); /* libei forgets it; our close callback leaves it open */
        }
        rc = fd >= 0 && w->stage == STAGE_DONE ? 0 : -1;
    } else {
        judge(w, CONN_FAILED_SYSTEM, "cannot be connected to: erl_interface takes no such name");
    }
    explicit_bzero(&ec, sizeof ec);
    if (rc != 0 && w->verdict == VERDICT_NONE) {
        explain_stage(w);
    }
    return rc;
}

static void note_peer(struct handshake *h)
{
    if (h->target.host_given && strcmp(h->peer, h->target.full) != 0) {
        snprintf(h->notice, sizeof h->notice, "the node asked for as %.200s calls itself %.200s",
                 h->target.full, h->peer);
    }
}

/* One connection under one name. 0 connected, 1 try again (see w->verdict), or a negative err. */
static int attempt(struct handshake *h, unsigned index, const char *form_host,
                   enum verdict *verdict)
{
    char host[LIMIT_NODE_NAME_BYTES + 1];
    struct wire w = {.h = h, .fd = -1};
    int rc = connect_any(h, &w.fd);
    if (rc != 0) {
        return rc;
    }
    own_host(h, w.fd, form_host, host, sizeof host);
    rc = name_own(&h->own, index, host, &h->err);
    if (rc != 0) {
        h->why = CONN_FAILED_NAME;
        close(w.fd);
        return rc;
    }
    if (shake_hands(h, &w) == 0) {
        h->fd = w.fd;
        return 0;
    }
    close(w.fd);
    *verdict = w.verdict;
    return w.verdict == VERDICT_TAKEN || w.verdict == VERDICT_FORM ? 1 : (int)h->err.code;
}

static int all_taken(struct handshake *h)
{
    h->why = CONN_FAILED_NAME_TAKEN;
    return error_set(&h->err, ERR_CONNECT,
                     "%s has connections under all our names, up to %s: end another beamtop first",
                     h->target.full, h->own.full);
}

static int try_names(struct handshake *h)
{
    char form_host[LIMIT_NODE_NAME_BYTES + 1];
    unsigned index = 0;
    bool reformed = false;
    snprintf(form_host, sizeof form_host, "%s", h->target.host);
    for (;;) {
        enum verdict verdict = VERDICT_NONE;
        int rc = attempt(h, index, form_host, &verdict);
        if (rc <= 0) {
            return rc;
        }
        if (verdict == VERDICT_TAKEN && ++index == LIMIT_NAME_POOL) {
            return all_taken(h);
        }
        if (verdict == VERDICT_FORM) {
            if (reformed) {
                return fail(h, CONN_FAILED_INCOMPATIBLE, ERR_CONNECT,
                            "has a name whose form cannot be met: give the name in full");
            }
            reformed = true;
            index = 0;
            snprintf(form_host, sizeof form_host, "%s", strchr(h->peer, '@') + 1);
        }
    }
}

int handshake_run(struct handshake *h)
{
    h->fd = -1;
    if (getrandom(&h->creation, sizeof h->creation, GRND_NONBLOCK) != sizeof h->creation) {
        h->creation = (uint32_t)clock_mono_ns();
    }
    h->creation |= 0x100; /* small numbers are creations of the old kind */
    int rc = try_names(h);
    cookie_wipe(&h->cookie);
    if (rc == 0) {
        note_peer(h);
    }
    return rc;
}
