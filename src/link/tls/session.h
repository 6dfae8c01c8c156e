/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One TLS connection without a socket: ciphertext of the peer goes in, ciphertext for it comes out.
 * One thread at a time. Private to the layer. */
#ifndef BEAMTOP_LINK_TLS_SESSION_H
#define BEAMTOP_LINK_TLS_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beamtop/link/tls.h"

struct tls_session;

enum tls_step {
    TLS_DONE,
    TLS_MORE,   /* bytes of the peer are needed first */
    TLS_ENDED,  /* the peer has closed TLS */
    TLS_BROKEN, /* tls_explain() says why */
};

/* Why one is broken. "Ours" is of beamtop, "its" of the peer. */
enum tls_fault {
    TLS_FAULT_NONE,
    TLS_FAULT_OTHER_PROTOCOL, /* it does not answer in TLS */
    TLS_FAULT_NO_CERT,        /* it wants a certificate of ours, and there is none */
    TLS_FAULT_CA,             /* it does not know the CA of ours */
    TLS_FAULT_EXPIRED,        /* ours is not valid now */
    TLS_FAULT_REVOKED,        /* ours is in a revocation list there */
    TLS_FAULT_UNFIT,          /* ours is not one for clients */
    TLS_FAULT_VERSION,        /* no common version */
    TLS_FAULT_PEER_CA,        /* its certificate is of no CA of ours */
    TLS_FAULT_PEER_EXPIRED,
    TLS_FAULT_PEER_REVOKED, /* by a CRL, or no current CRL is of its CA */
    TLS_FAULT_PEER_NAME,    /* its certificate has another host name */
    TLS_FAULT_OTHER,
};

/* context: NULL shows no certificate and checks none. host: of the node's name, or an address. */
int tls_session_new(struct tls_session **out, struct tls_context *context, const char *host,
                    struct error *err);
void tls_session_free(struct tls_session *s); /* NULL is fine */

/* Ciphertext from the peer; copied. What tls_read() has not taken is kept: read it before more. */
void tls_feed(struct tls_session *s, const uint8_t *bytes, size_t len);
/* Whether the peer has answered with anything. */
bool tls_has_heard(const struct tls_session *s);
enum tls_step tls_shake(struct tls_session *s);
/* After TLS_MORE: whether a part of a record has come. */
bool tls_is_open(const struct tls_session *s);
/* What the peer sent, at most size bytes; TLS_DONE: *n > 0. */
enum tls_step tls_read(struct tls_session *s, void *out, size_t size, size_t *n);
/* Takes all of it; what has to wait for bytes of the peer (a renegotiation) is kept. False: broken.
 */
bool tls_write(struct tls_session *s, const void *bytes, size_t len);
size_t tls_kept(const struct tls_session *s); /* bytes of tls_write() that wait */
/* Says to the peer that nothing follows. */
void tls_end(struct tls_session *s);

/* Ciphertext for the peer, all that there is; borrowed until the next call but tls_out_taken(). */
struct slice tls_out(struct tls_session *s);
void tls_out_taken(struct tls_session *s);

/* The alert of the peer that broke it, by its number in RFC 8446, 6.2; 0: something else did. */
int tls_alert(const struct tls_session *s);
/* Why it is broken: a text that follows the node's name. */
const char *tls_explain(struct tls_session *s, enum tls_fault *why);
bool tls_verified(const struct tls_session *s); /* the peer's certificate was checked */

#endif
