/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session's parts. Private to the room. */
#ifndef BEAMTOP_LINK_TLS_SESSION_INTERNAL_H
#define BEAMTOP_LINK_TLS_SESSION_INTERNAL_H

#include <openssl/bio.h>

#include "beamtop/base/buf.h"
#include "context.h"
#include "session.h"

struct tls_session {
    struct tls_context *context;
    SSL *ssl; /* owns the two below */
    BIO *in, *out;
    bool heard;
    bool broken;
    unsigned long error; /* the first of OpenSSL's, once broken */
    struct buf kept;     /* of tls_write() */
    int depth;           /* of the certificate that failed: 0 is the peer's */
    char text[256];      /* of tls_explain() */
};

#endif
