/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "beamtop/link/tls.h"
#ifdef HAVE_OPENSSL
#include "context.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/limits.h"

bool tls_available(void)
{
    return true;
}

/* ---- one context */

/* An encrypted key without a password fails: nothing is asked at the terminal. */
int tls_give_password(char *out, int size, int writing, void *arg)
{
    const char *password = arg;
    const size_t len = password ? strlen(password) : 0;
    (void)writing;
    if (len == 0 || len > (size_t)size)
        return -1;
    memcpy(out, password, len);
    return (int)len;
}

BIO *tls_open_bytes(struct slice bytes)
{
    BIO *bio = BIO_new_mem_buf(bytes.s, (int)bytes.len);
    if (!bio)
        alloc_fail();
    return bio;
}

int tls_refuse(const char *whose, const char *what, const char *next, struct error *err)
{
    const unsigned long e = ERR_peek_last_error();
    const char *reason = e != 0 ? ERR_reason_error_string(e) : NULL;
    ERR_clear_error();
    return error_set(err, ERR_USAGE, "%.300s: %s%s%s%s%s", whose, what, reason ? " (" : "",
                     reason ? reason : "", reason ? ")" : "", next);
}

bool tls_is_end_of_pem(void)
{
    const unsigned long e = ERR_peek_last_error();
    return ERR_GET_LIB(e) == ERR_LIB_PEM && ERR_GET_REASON(e) == PEM_R_NO_START_LINE;
}

static int take_cacerts(SSL_CTX *ssl, struct slice pem, const char *whose, struct error *err)
{
    BIO *bio = tls_open_bytes(pem);
    X509_STORE *store = SSL_CTX_get_cert_store(ssl);
    size_t n = 0;
    for (X509 *cert; (cert = PEM_read_bio_X509_AUX(bio, NULL, tls_give_password, NULL)); n++) {
        if (X509_STORE_add_cert(store, cert) != 1)
            alloc_fail();
        X509_free(cert);
    }
    BIO_free(bio);
    if (n == 0)
        return tls_refuse(whose, "no certificate of a CA in PEM", "", err);
    if (!tls_is_end_of_pem())
        return tls_refuse(whose, "not all certificates of CAs can be read", "", err);
    ERR_clear_error();
    return 0;
}

/* Of the CA that has signed the node's certificate: one that is in none of them fails, too. */
static int take_crls(SSL_CTX *ssl, struct slice pem, const char *whose, struct error *err)
{
    BIO *bio = tls_open_bytes(pem);
    X509_STORE *store = SSL_CTX_get_cert_store(ssl);
    size_t n = 0;
    for (X509_CRL *crl; (crl = PEM_read_bio_X509_CRL(bio, NULL, tls_give_password, NULL)); n++) {
        if (X509_STORE_add_crl(store, crl) != 1)
            alloc_fail();
        X509_CRL_free(crl);
    }
    BIO_free(bio);
    if (n == 0 || !tls_is_end_of_pem())
        return tls_refuse(whose, "no usable revocation list in PEM", "", err);
    ERR_clear_error();
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK);
    return 0;
}

static int fill_context(struct tls_context *c, const struct tls_material *m, const char *whose,
                        struct error *err)
{
    int rc = 0;
    c->verify = m->verify != TLS_VERIFY_USUAL    ? m->verify
                : m->cacert.len + m->crl.len > 0 ? TLS_VERIFY_CA
                                                 : TLS_VERIFY_NONE;
    SSL_CTX_set_min_proto_version(c->ssl, TLS1_2_VERSION);
    SSL_CTX_set_mode(c->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                 SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_verify(c->ssl, c->verify == TLS_VERIFY_NONE ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                       NULL);
    if (m->cacert.len > 0)
        rc = take_cacerts(c->ssl, m->cacert, whose, err);
    else if (c->verify != TLS_VERIFY_NONE && SSL_CTX_set_default_verify_paths(c->ssl) != 1)
        rc = tls_refuse(whose, "the system's CAs cannot be read", "", err);
    if (rc == 0 && m->crl.len > 0)
        rc = take_crls(c->ssl, m->crl, whose, err);
    for (size_t i = 0; rc == 0 && i < m->identity_count; i++)
        rc = tls_shown_take(c, &m->identities[i], whose, err);
    if (rc == 0)
        rc = tls_shown_offer(c, whose, err);
    return rc;
}

int tls_context_new(struct tls_context **out, const struct tls_material *m, const char *whose,
                    struct error *err)
{
    struct tls_context *c = alloc_zero(1, sizeof *c);
    *out = NULL;
    c->users = 1;
    snprintf(c->note, sizeof c->note, "%s", m->note ? m->note : "");
    c->ssl = SSL_CTX_new(TLS_client_method());
    if (!c->ssl)
        alloc_fail();
    const int rc = fill_context(c, m, whose, err);
    if (rc != 0)
        tls_context_drop(c);
    else
        *out = c;
    return rc;
}

const char *tls_context_note(const struct tls_context *c)
{
    return c ? c->note : "";
}

struct tls_context *tls_context_hold(struct tls_context *c)
{
    if (c)
        atomic_fetch_add(&c->users, 1);
    return c;
}

void tls_context_drop(struct tls_context *c)
{
    if (!c || atomic_fetch_sub(&c->users, 1) > 1)
        return;
    SSL_CTX_free(c->ssl);
    tls_shown_clear(c);
    free(c);
}
#endif
