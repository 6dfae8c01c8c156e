/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The handshake inside TLS, and whether there is any. */
#include "wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "beamtop/base/clock.h"

/* Of a peer that has only closed, and may be no node: one that loads its code for TLS first has
 * answered by then. One that spoke TLS before gets half of the time. */
#define ANSWER_MS 2000
#define RECEIVE_BYTES 16384

static const enum conn_failure failures[] = {
    [TLS_FAULT_NONE] = CONN_FAILED_TLS,
    [TLS_FAULT_OTHER_PROTOCOL] = CONN_FAILED_NOT_TLS,
    [TLS_FAULT_NO_CERT] = CONN_FAILED_TLS_NO_CERT,
    [TLS_FAULT_CA] = CONN_FAILED_TLS_CA,
    [TLS_FAULT_EXPIRED] = CONN_FAILED_TLS_EXPIRED,
    [TLS_FAULT_REVOKED] = CONN_FAILED_TLS_REVOKED,
    [TLS_FAULT_UNFIT] = CONN_FAILED_TLS_UNFIT,
    [TLS_FAULT_VERSION] = CONN_FAILED_TLS_VERSION,
    [TLS_FAULT_PEER_CA] = CONN_FAILED_TLS_PEER_CA,
    [TLS_FAULT_PEER_EXPIRED] = CONN_FAILED_TLS_PEER_EXPIRED,
    [TLS_FAULT_PEER_REVOKED] = CONN_FAILED_TLS_PEER_REVOKED,
    [TLS_FAULT_PEER_NAME] = CONN_FAILED_TLS_PEER_NAME,
    [TLS_FAULT_OTHER] = CONN_FAILED_TLS,
};

static void refuse_tls(struct wire *w)
{
    struct handshake *h = w->h;
    enum tls_fault fault;
    const char *text = tls_explain(w->tls, &fault);
    const bool noted =
        h->tls_note[0] &&
        ((fault >= TLS_FAULT_NO_CERT && fault <= TLS_FAULT_UNFIT) || fault == TLS_FAULT_PEER_CA);
    w->verdict = VERDICT_FAILED;
    h->why = failures[fault];
    error_set(&h->err, ERR_CONNECT, "%s at port %u %s%s%s", h->target.full, h->port, text,
              noted ? ". " : "", noted ? h->tls_note : "");
}

void wire_tls_needed(struct wire *w)
{
    if (w->h->tls_use == TLS_NEVER)
        wire_refuse(w, CONN_FAILED_TLS_NEEDED, "speaks TLS: leave out --no-tls");
    else if (!tls_available())
        wire_refuse(w, CONN_FAILED_TLS_NEEDED,
                    "speaks TLS, and this beamtop was built without OpenSSL: build it with "
                    "libssl-dev, without --without-tls");
    else
        w->verdict = VERDICT_TLS;
}

bool wire_tls_turns(struct handshake *h, enum verdict verdict)
{
    const bool guess = verdict == VERDICT_SHUT && h->tls_use == TLS_FIND_OUT && !h->by_tls &&
                       !h->tls_guessed && tls_available();
    if (verdict == VERDICT_TLS || guess) {
        h->by_tls = true;
        if (!guess)
            h->tls_use = TLS_ALWAYS; /* it has said so */
        h->tls_guessed |= guess;
        return true;
    }
    if (verdict == VERDICT_PLAIN)
        h->by_tls = false;
    return verdict == VERDICT_PLAIN;
}

/* ---- bytes */

/* Whatever the peer has said before it closed is read afterwards: an error of the socket is its
 * end. */
static int flush(struct wire *w)
{
    const struct slice out = tls_out(w->tls);
    int rc = out.len > 0 ? wire_send(w, out.s, out.len) : 0;
    tls_out_taken(w->tls);
    return rc == EPIPE || rc == ECONNRESET ? 0 : rc;
}

/* give_up_ns: an earlier end for a peer that may not speak TLS, or 0. */
static int wait_for_answer(struct wire *w, uint64_t give_up_ns)
{
    const uint64_t now = clock_mono_ns();
    if (give_up_ns == 0 || tls_has_heard(w->tls))
        return wire_wait_for(w, POLLIN);
    const int ms = now < give_up_ns ? (int)((give_up_ns - now) / 1000000u) + 1 : 0;
    const int rc = wire_wait(w->h, w->fd, POLLIN, ms);
    w->cancelled |= rc == ECANCELED;
    return rc;
}

/* 0: what has come was fed, or the peer has closed. It waits in any case: of a peer that never
 * pauses nothing is read after the deadline, or once cancelled. */
static int feed(struct wire *w, uint64_t give_up_ns)
{
    uint8_t bytes[RECEIVE_BYTES];
    size_t n = 0;
    int rc = wait_for_answer(w, give_up_ns);
    if (rc == 0)
        rc = wire_receive(w, bytes, sizeof bytes, &n);
    if (rc == 0)
        tls_feed(w->tls, bytes, n);
    return rc == EAGAIN ? 0 : rc;
}

int wire_tls_send(struct wire *w, const void *bytes, size_t len)
{
    if (!tls_write(w->tls, bytes, len)) {
        refuse_tls(w);
        return EPROTO;
    }
    return flush(w);
}

int wire_tls_receive(struct wire *w, void *bytes, size_t size, size_t *n)
{
    for (;;) {
        const enum tls_step step = tls_read(w->tls, bytes, size, n);
        int rc = flush(w);
        if (step == TLS_BROKEN) {
            refuse_tls(w);
            return EPROTO;
        }
        w->eof |= step == TLS_ENDED;
        if (step == TLS_DONE || w->eof)
            return 0;
        if (rc == 0)
            rc = feed(w, 0);
        if (rc != 0)
            return rc;
    }
}

/* ---- its handshake */

/* No answer to ours: a TCP node reads the first bytes as a length, and waits for more. */
static void explain_unanswered(struct wire *w)
{
    struct handshake *h = w->h;
    w->verdict = VERDICT_FAILED;
    if (w->cancelled) {
        h->why = CONN_FAILED_SYSTEM;
        error_set(&h->err, ERR_CANCELLED, "cancelled");
    } else if (!w->timed_out && !tls_has_heard(w->tls)) {
        wire_refuse(w, CONN_FAILED_NOT_TLS,
                    "closed the connection without an answer to TLS: the node has none (give "
                    "--no-tls), or cannot use its own certificate. See its log");
    } else if (!w->timed_out) {
        wire_refuse(w, CONN_FAILED_TLS,
                    "closed the connection during the TLS handshake: see the node's log");
    } else {
        const bool heard = tls_has_heard(w->tls);
        h->why = CONN_FAILED_SILENT;
        error_set(
            &h->err, ERR_TIMEOUT,
            "%s at port %u accepts the connection but does not %s within %.1f s: the node %sis "
            "frozen or overloaded. " ERROR_LOOK_OUTSIDE,
            h->target.full, h->port, heard ? "finish the TLS handshake" : "answer to TLS",
            h->timeout_ms / 1000.0, heard ? "" : "has none (give --no-tls), or ", h->target.full);
    }
}

static int open_session(struct wire *w)
{
    struct handshake *h = w->h;
    const int one = 1;
    /* Our name follows the end of the handshake, and would wait for its acknowledgement. */
    (void)setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    w->header = WIRE_TLS_HEADER_BYTES;
    w->verdict = VERDICT_FAILED;
    if (h->tls_error.code != ERR_NONE) {
        h->why = CONN_FAILED_TLS_FILES;
        h->err = h->tls_error;
        return -1;
    }
    if (tls_session_new(&w->tls, h->tls_context, h->target.host, &h->err) == 0) {
        w->verdict = VERDICT_NONE;
        return 0;
    }
    h->why = tls_available() ? CONN_FAILED_TLS : CONN_FAILED_TLS_NEEDED;
    return -1;
}

int wire_tls_start(struct wire *w)
{
    struct handshake *h = w->h;
    const bool asked_for = h->tls_use == TLS_ALWAYS;
    const int left = wire_ms_left(h);
    const int share = h->tls_guessed && left / 2 > ANSWER_MS ? ANSWER_MS : left / 2;
    const uint64_t give_up = asked_for ? 0 : clock_mono_ns() + (uint64_t)share * 1000000u;
    if (open_session(w) != 0)
        return -1;
    for (;;) {
        const enum tls_step step = tls_shake(w->tls);
        int rc = flush(w);
        if (step == TLS_DONE)
            return 0;
        if (step != TLS_BROKEN && rc == 0 && !w->eof)
            rc = feed(w, give_up);
        if (step == TLS_MORE && rc == 0 && !w->eof)
            continue;
        enum tls_fault fault = TLS_FAULT_NONE;
        if (step == TLS_BROKEN)
            (void)tls_explain(w->tls, &fault);
        if (!asked_for && !w->cancelled && !w->timed_out &&
            (!tls_has_heard(w->tls) || fault == TLS_FAULT_OTHER_PROTOCOL))
            w->verdict = VERDICT_PLAIN;
        else if (step == TLS_BROKEN)
            refuse_tls(w);
        else
            explain_unanswered(w);
        return -1;
    }
}
