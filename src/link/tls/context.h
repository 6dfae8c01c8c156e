/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenSSL's side of a context. Private to the room. */
#ifndef BEAMTOP_LINK_TLS_CONTEXT_H
#define BEAMTOP_LINK_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <stdatomic.h>

#include "beamtop/link/tls.h"

struct tls_context {
    SSL_CTX *ssl;
    atomic_uint users;
    enum tls_verify verify; /* never TLS_VERIFY_USUAL */
    bool has_cert;
};

#endif
