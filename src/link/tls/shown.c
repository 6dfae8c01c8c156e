/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificates that beamtop shows, and which of several. */
#include "config.h"
#include "session.h"
#ifdef HAVE_OPENSSL
#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdlib.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"

/* ---- reading */

static int take_certs(struct shown *s, struct slice pem, const char *whose, struct error *err)
{
    BIO *bio = tls_open_bytes(pem);
    X509 *cert;
    s->cert = PEM_read_bio_X509_AUX(bio, NULL, tls_give_password, NULL);
    while (s->cert && (cert = PEM_read_bio_X509(bio, NULL, tls_give_password, NULL)))
        if (sk_X509_push(s->chain, cert) == 0)
            alloc_fail();
    BIO_free(bio);
    if (!s->cert)
        return tls_refuse(whose, "no usable certificate in PEM", "", err);
    if (!tls_is_end_of_pem())
        return tls_refuse(whose, "the certificates behind the first cannot be read", "", err);
    ERR_clear_error();
    return 0;
}

static int take_key(struct shown *s, const struct tls_identity *m, const char *whose,
                    struct error *err)
{
    BIO *bio = tls_open_bytes(m->key.len > 0 ? m->key : m->cert);
    s->key = PEM_read_bio_PrivateKey(bio, NULL, tls_give_password, (void *)(uintptr_t)m->password);
    BIO_free(bio);
    if (!s->key)
        return tls_refuse(whose, "no usable private key in PEM",
                          m->password ? ". Check its password"
                                      : ". One that is encrypted needs its password",
                          err);
    if (X509_check_private_key(s->cert, s->key) == 1)
        return 0;
    return tls_refuse(
        whose, "the private key is not that of the certificate",
        ": probably one of the two has been replaced, and the other follows. Try again", err);
}

int tls_shown_take(struct tls_context *c, const struct tls_identity *m, const char *whose,
                   struct error *err)
{
    struct shown *s = &c->shown[c->shown_count++];
    s->chain = sk_X509_new_null();
    if (!s->chain)
        alloc_fail();
    const int rc = take_certs(s, m->cert, whose, err);
    return rc == 0 ? take_key(s, m, whose, err) : rc;
}

void tls_shown_clear(struct tls_context *c)
{
    for (size_t i = 0; i < c->shown_count; i++) {
        X509_free(c->shown[i].cert);
        EVP_PKEY_free(c->shown[i].key);
        sk_X509_pop_free(c->shown[i].chain, X509_free);
    }
}

/* ---- one of several */

/* Source: OTP, ssl_config.erl and ssl_certificate.erl. */
static size_t shown_rank(const struct shown *s)
{
    static const int order[] = {EVP_PKEY_ED25519, EVP_PKEY_ED448, EVP_PKEY_EC, EVP_PKEY_RSA_PSS,
                                EVP_PKEY_RSA};
    size_t rank = 0;
    while (rank < ARRAY_LEN(order) && EVP_PKEY_get_base_id(s->key) != order[rank])
        rank++;
    return rank;
}

static bool goes_before(const struct shown *a, const struct shown *b)
{
    const size_t ranks[] = {shown_rank(a), shown_rank(b)};
    if (ranks[0] != ranks[1])
        return ranks[0] < ranks[1];
    return EVP_PKEY_get_bits(a->key) > EVP_PKEY_get_bits(b->key);
}

/* Those of one kind stay in the order that they came in. */
static void sort_shown(struct tls_context *c)
{
    for (size_t i = 1; i < c->shown_count; i++)
        for (size_t k = i; k > 0 && goes_before(&c->shown[k], &c->shown[k - 1]); k--) {
            const struct shown later = c->shown[k];
            c->shown[k] = c->shown[k - 1];
            c->shown[k - 1] = later;
        }
}

/* The node has asked for one, and said which it takes. 1: go on, also without any. */
static int choose(SSL *ssl, void *arg)
{
    const struct tls_context *c = arg;
    const struct shown *best = NULL;
    bool is_named = false;
    for (size_t i = 0; !is_named && i < c->shown_count; i++) {
        const struct shown *s = &c->shown[i];
        const int fits = SSL_check_chain(ssl, s->cert, s->key, s->chain);
        if ((fits & CERT_PKEY_SIGN) == 0)
            continue;
        is_named = (fits & CERT_PKEY_ISSUER_NAME) != 0;
        if (!best || is_named)
            best = s;
    }
    return !best || SSL_use_cert_and_key(ssl, best->cert, best->key, best->chain, 1) == 1;
}

int tls_shown_offer(struct tls_context *c, const char *whose, struct error *err)
{
    const struct shown *only = &c->shown[0];
    if (c->shown_count > 1) {
        sort_shown(c);
        SSL_CTX_set_cert_cb(c->ssl, choose, c);
    } else if (c->shown_count == 1 &&
               SSL_CTX_use_cert_and_key(c->ssl, only->cert, only->key, only->chain, 1) != 1) {
        return tls_refuse(whose, "no usable certificate in PEM", "", err);
    }
    return 0;
}
#endif
