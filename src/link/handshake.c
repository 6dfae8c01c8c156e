/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "beamtop/base/clock.h"
#include "link/sockets/listener.h"
#include "wire.h"

/* ---- one TCP connection */

static int connect_one(const struct handshake *h, const struct address *a, int timeout_ms, int *out)
{
    struct sockaddr_storage sa = a->sa;
    int error = 0;
    socklen_t size = sizeof error;
    uint16_t port = htons(h->port);
    if (sa.ss_family == AF_INET6)
        ((struct sockaddr_in6 *)&sa)->sin6_port = port;
    else
        ((struct sockaddr_in *)&sa)->sin_port = port;
    int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    int rc = connect(fd, (struct sockaddr *)&sa, a->len) == 0 ? 0 : errno;
    if (rc == EINPROGRESS) {
        rc = wire_wait(h, fd, POLLOUT, timeout_ms);
        if (rc == 0)
            rc = getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
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
        return error_set(&h->err, ERR_CANCELLED, "cancelled");
    }
    if (errnum == ECONNREFUSED) {
        return wire_fail(h, CONN_FAILED_REFUSED, ERR_CONNECT,
                         "refuses the connection: the node stopped, it listens on another address, "
                         "or a firewall rejects it");
    }
    if (errnum == ETIMEDOUT) {
        return wire_fail(
            h, CONN_FAILED_FILTERED, ERR_TIMEOUT,
            "does not answer to a connection: a firewall may block the port. It is in the "
            "range of kernel's inet_dist_listen_min and inet_dist_listen_max");
    }
    if (is_no_way(errnum)) {
        h->why = CONN_FAILED_FILTERED;
        return error_set(&h->err, ERR_CONNECT, "%s at port %u " NO_WAY_TEXT, h->target.full,
                         h->port, strerror(errnum));
    }
    h->why = CONN_FAILED_SYSTEM;
    return error_set_errno(&h->err, errnum, "%s at port %u cannot be reached", h->target.full,
                           h->port);
}

static int connect_by_way(struct handshake *h, struct way_stream *out)
{
    const struct way_request request = {.address = h->way_address,
                                        .port = h->port,
                                        .timeout_ms = (unsigned)wire_ms_left(h),
                                        .cancel_fd = h->cancel_fd};
    int rc = h->way->class->open(h->way, &request, out, &h->why, &h->err);
    return rc > 0 ? explain_connect(h, rc) : rc;
}

/* Tries the addresses in turn, each with its share of the time that is left. */
static int connect_any(struct handshake *h, struct way_stream *out)
{
    int errnum = EHOSTUNREACH;
    int worst = 0;
    if (h->way)
        return connect_by_way(h, out);
    for (size_t i = 0; i < h->address_count; i++) {
        int share = wire_ms_left(h) / (int)(h->address_count - i);
        errnum = connect_one(h, &h->addresses[i], share, &out->fd);
        if (errnum == 0) {
            h->addresses[0] = h->addresses[i];
            h->address_count = 1;
            return 0;
        }
        if (errnum == ECANCELED)
            return explain_connect(h, errnum);
        if (worst == 0 || errnum == ETIMEDOUT)
            worst = errnum;
    }
    return explain_connect(h, worst != 0 ? worst : errnum);
}

static void address_text(const struct sockaddr_storage *sa, char *out, size_t size)
{
    if (sa->ss_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)sa)->sin6_addr, out, (socklen_t)size);
    else if (sa->ss_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)sa)->sin_addr, out, (socklen_t)size);
    else /* a way's end has no address */
        snprintf(out, size, "127.0.0.1");
}

/* The host part of our name: as the target's when the addresses say that it is on this host. */
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
    bool here = near.ss_family != AF_UNIX && strcmp(near_text, far_text) == 0;
    name_own_host(out, size, form_host, here, h->this_host, near_text);
}

/* ---- whose it is */

static void user_text(uid_t uid, char *out, size_t size)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char text[4096];
    if (uid == (uid_t)-1)
        snprintf(out, size, "unknown");
    else if (getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found)
        snprintf(out, size, "%s", found->pw_name);
    else
        snprintf(out, size, "%lu", (unsigned long)uid);
}

static int refuse_user(struct handshake *h, uid_t listens)
{
    char theirs[64], ours[64];
    user_text(listens, theirs, sizeof theirs);
    user_text(h->cookie.uid, ours, sizeof ours);
    h->why = CONN_FAILED_OTHER_USER;
    return error_set(&h->err, ERR_CONNECT,
                     "port %u on this host belongs to user %s, and the cookie (%s) to user %s: "
                     "beamtop did not send it. Give the node's cookie with --cookie-file FILE or "
                     "BEAMTOP_COOKIE",
                     h->port, theirs, cookie_origin_text(h->cookie.origin), ours);
}

/*
 * A cookie that was found, not given for this node, is sent to no other user's socket: whoever sees
 * the digest can try passwords on it. Root may read it anyway. Across hosts nothing can
 * be known; of another namespace it must be. */
static int check_user(struct handshake *h, int fd)
{
    struct sockaddr_storage near = {0};
    struct sockaddr_storage far = {0};
    socklen_t near_len = sizeof near;
    socklen_t far_len = sizeof far;
    struct listener l;
    const char *tree = h->way ? h->way->proc_tree : "/proc";
    if (!cookie_is_guarded(&h->cookie) || !tree)
        return 0;
    const bool here = getsockname(fd, (struct sockaddr *)&near, &near_len) == 0 &&
                      getpeername(fd, (struct sockaddr *)&far, &far_len) == 0 &&
                      listener_look(&l, tree, &far, &near) && l.here;
    if (!here && !h->way)
        return 0;
    /* A process that has closed the port since may have accepted the connection. */
    uid_t uid = here && l.found ? l.uid : (uid_t)-1;
    return uid == h->cookie.uid || uid == 0 ? 0 : refuse_user(h, uid);
}

/* ---- the handshake itself */

/* net_kernel starts a process for an accepted connection, whose code is loaded for the node's first
 * one. By its status net_kernel has answered it; after that it asks `auth` for the cookie. */
static void explain_silence(struct wire *w)
{
    struct handshake *h = w->h;
    const bool nothing = w->stage <= STAGE_STATUS;
    h->why = CONN_FAILED_SILENT;
    error_set(
        &h->err, ERR_TIMEOUT,
        "%s at port %u accepts the connection but %s within %.1f s: %s. " ERROR_LOOK_OUTSIDE,
        h->target.full, h->port, nothing ? "does not answer" : "does not finish the handshake",
        h->timeout_ms / 1000.0,
        nothing ? "the VM is frozen or overloaded, its net_kernel hangs, or its code server hangs "
                  "and nothing has connected to it before"
                : "its process `auth` hangs, or the VM is frozen or overloaded since then",
        h->target.full);
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
        wire_refuse(w, CONN_FAILED_COOKIE,
                    "rejected the cookie: give the node's own with --cookie-file FILE or "
                    "BEAMTOP_COOKIE");
    } else if (closed && w->stage <= STAGE_STATUS) {
        w->verdict = VERDICT_SHUT;
    } else if (closed) {
        w->verdict = VERDICT_PUSHED;
    } else {
        wire_refuse(w, CONN_FAILED_INCOMPATIBLE,
                    "lacks what the handshake of OTP 23 and later asks for");
    }
}

/* The handshake on a connected socket. 0, or see the verdict. */
static int shake_hands(struct handshake *h, struct wire *w)
{
    struct in_addr unused = {.s_addr = htonl(INADDR_LOOPBACK)};
    ei_socket_callbacks cbs = wire_callbacks();
    ei_cnode ec;
    struct name own = {.host_given = true};
    name_to_wire(own.host, sizeof own.host, h->own.host);
    name_to_wire(own.alive, sizeof own.alive, h->own.alive);
    name_to_wire(own.full, sizeof own.full, h->own.full);
    int rc = ei_connect_xinit_ussi(&ec, own.host, own.alive, own.full, &unused, h->cookie.text,
                                   h->creation, &cbs, (int)sizeof cbs, w);
    if (rc >= 0) {
        int fd = ei_xconnect_host_port_tmo(&ec, &unused, h->port, (unsigned)wire_ms_left(h) + 1);
        if (fd >= 0)
            ei_close_connection(fd); /* libei forgets it; our close callback leaves it open */
        rc = fd >= 0 && w->stage == STAGE_DONE ? 0 : -1;
    } else {
        wire_refuse(w, CONN_FAILED_SYSTEM,
                    "cannot be connected to: erl_interface rejects the names");
    }
    explicit_bzero(&ec, sizeof ec);
    if (rc != 0 && w->verdict == VERDICT_NONE)
        explain_stage(w);
    return rc;
}

static void note_peer(struct handshake *h)
{
    if (h->tls && !tls_verified(h->tls))
        snprintf(h->notice, sizeof h->notice,
                 "the certificate of the node was not checked: --tls-cacert FILE checks it");
    if (h->target.host_given && strcmp(h->peer, h->target.full) != 0) {
        snprintf(h->notice, sizeof h->notice, "the node asked for as %.200s calls itself %.200s",
                 h->target.full, h->peer);
    }
}

/* One connection under one name. 0 connected, 1 try again (see w->verdict), or a negative err. */
static int attempt_name(struct handshake *h, unsigned index, const char *form_host,
                        enum verdict *verdict)
{
    char host[LIMIT_NODE_NAME_BYTES + 1];
    struct way_stream stream = {.fd = -1};
    int rc = connect_any(h, &stream);
    if (rc != 0)
        return rc;
    rc = check_user(h, stream.fd);
    if (rc != 0) {
        way_end(h->way, &stream);
        return rc;
    }
    own_host(h, stream.fd, form_host, host, sizeof host);
    rc = name_own(&h->own, index, host, &h->err);
    if (rc != 0) {
        h->why = CONN_FAILED_NAME;
        way_end(h->way, &stream);
        return rc;
    }
    struct wire w = {.h = h, .fd = stream.fd, .header = WIRE_HEADER_BYTES};
    if ((!h->by_tls || wire_tls_start(&w) == 0) && shake_hands(h, &w) == 0) {
        h->stream = stream;
        h->tls = w.tls;
        return 0;
    }
    struct error said = {0};
    if ((w.eof || w.errnum != 0) && way_explain(h->way, &stream, &h->why, &said)) {
        w.verdict = VERDICT_FAILED;
        h->err = said;
    }
    tls_session_free(w.tls);
    way_end(h->way, &stream);
    *verdict = w.verdict;
    bool again = w.verdict != VERDICT_NONE && w.verdict != VERDICT_FAILED;
    return again ? 1 : (int)h->err.code;
}

/* No name is left: what the node said to the last one. */
static int names_are_out(struct handshake *h, enum verdict verdict)
{
    if (verdict == VERDICT_SHUT) {
        return wire_fail(h, CONN_FAILED_NOT_ERLANG, ERR_CONNECT,
                         "closed the connection during the handshake: probably not an Erlang "
                         "node, or OTP 22 or older");
    }
    if (verdict == VERDICT_PUSHED) {
        return wire_fail(h, CONN_FAILED_INCOMPATIBLE, ERR_CONNECT,
                         "closed the connection in the middle of the handshake: see its log");
    }
    h->why = CONN_FAILED_NAME_TAKEN;
    return error_set(&h->err, ERR_CONNECT,
                     "%s already has %d beamtop connections (up to %s): quit one of them",
                     h->target.full, LIMIT_NAME_POOL, h->own.full);
}

/*
 * The first name that was not tried and that no other process here holds for that target; when all
 * are held, the first that was not tried: a claim may belong to a closed connection.
 * LIMIT_NAME_POOL when all were tried. */
static unsigned next_name(struct handshake *h, const bool *tried)
{
    unsigned held = LIMIT_NAME_POOL;
    for (unsigned i = 0; i < LIMIT_NAME_POOL; i++) {
        bool by_other = false;
        if (tried[i])
            continue;
        h->claim = claim_take(h->target.full, i, &by_other);
        if (!by_other)
            return i;
        held = held == LIMIT_NAME_POOL ? i : held;
    }
    return held;
}

static int try_names(struct handshake *h)
{
    char form_host[LIMIT_NODE_NAME_BYTES + 1];
    bool tried[LIMIT_NAME_POOL] = {false};
    bool reformed = false;
    enum verdict verdict = VERDICT_NONE;
    snprintf(form_host, sizeof form_host, "%s", h->target.host);
    for (;;) {
        unsigned index = next_name(h, tried);
        if (index == LIMIT_NAME_POOL)
            return names_are_out(h, verdict);
        int rc = attempt_name(h, index, form_host, &verdict);
        if (rc <= 0)
            return rc;
        claim_drop(&h->claim);
        if (wire_tls_turns(h, verdict))
            continue;
        tried[index] = true;
        if (verdict == VERDICT_FORM) {
            if (reformed) {
                return wire_fail(h, CONN_FAILED_INCOMPATIBLE, ERR_CONNECT,
                                 "has a name whose form cannot be met: give the name in full");
            }
            reformed = true;
            memset(tried, 0, sizeof tried);
            snprintf(form_host, sizeof form_host, "%s", strchr(h->peer, '@') + 1);
        }
    }
}

int handshake_run(struct handshake *h)
{
    h->stream = (struct way_stream){.fd = -1};
    h->claim = -1;
    if (getrandom(&h->creation, sizeof h->creation, GRND_NONBLOCK) != sizeof h->creation)
        h->creation = (uint32_t)clock_mono_ns();
    h->creation |= 0x100; /* small numbers are creations of the old kind */
    int rc = try_names(h);
    cookie_wipe(&h->cookie);
    if (rc == 0)
        note_peer(h);
    else
        claim_drop(&h->claim);
    return rc;
}
