/* SPDX-License-Identifier: GPL-3.0-or-later */
/* OpenSSL's side of a context. Private to the room. */
#ifndef BEAMTOP_LINK_TLS_CONTEXT_H
#define BEAMTOP_LINK_TLS_CONTEXT_H

#include <openssl/ssl.h>
#include <stdatomic.h>

#include "beamtop/link/tls.h"

struct shown {
    X509 *cert;
    EVP_PKEY *key;
    STACK_OF(X509) * chain;
};

struct tls_context {
    SSL_CTX *ssl;
    atomic_uint users;
    enum tls_verify verify; /* never TLS_VERIFY_USUAL */
    struct shown shown[TLS_IDENTITIES];
    size_t shown_count;
    char note[160];
};

/* shown.c: the certificates that beamtop shows. Adds one; then offers all to each connection. */
int tls_shown_take(struct tls_context *c, const struct tls_identity *m, const char *whose,
                   struct error *err);
int tls_shown_offer(struct tls_context *c, const char *whose, struct error *err);
void tls_shown_clear(struct tls_context *c);

/* tls.c */
int tls_give_password(char *out, int size, int writing, void *arg); /* of PEM's readers */
BIO *tls_open_bytes(struct slice bytes);
/* After the last that can be read: whether nothing follows. */
bool tls_is_end_of_pem(void);
int tls_refuse(const char *whose, const char *what, const char *next, struct error *err);

#endif
