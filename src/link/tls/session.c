/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"
#include "session.h"
#ifdef HAVE_OPENSSL
#include "session_internal.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"

static bool is_address(const char *host)
{
    uint8_t any[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, any) == 1 || inet_pton(AF_INET6, host, any) == 1;
}

/* A node of an address has no name that a server could choose a certificate by. */
static bool set_host(struct tls_session *s, const char *host)
{
    const bool address = is_address(host);
    /* The macro casts a const away, which clang warns of. It copies the name. */
    if (!address && SSL_set_tlsext_host_name(s->ssl, (char *)(uintptr_t)host) != 1)
        return false;
    if (s->context->verify != TLS_VERIFY_FULL)
        return true;
    return address ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(s->ssl), host) == 1
                   : SSL_set1_host(s->ssl, host) == 1;
}

/* Keeps where in the chain the check has failed. */
static int on_checked(int ok, X509_STORE_CTX *chain)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls_session *s = SSL_get_app_data(ssl);
    if (!ok)
        s->depth = X509_STORE_CTX_get_error_depth(chain);
    return ok;
}

int tls_session_new(struct tls_session **out, struct tls_context *context, const char *host,
                    struct error *err)
{
    const struct tls_material none = {0};
    struct tls_context *c = tls_context_hold(context);
    *out = NULL;
    if (!c && tls_context_new(&c, &none, "TLS", err) != 0)
        return ERR_SYSTEM;
    struct tls_session *s = alloc_zero(1, sizeof *s);
    s->context = c;
    s->ssl = SSL_new(c->ssl);
    s->in = BIO_new(BIO_s_mem());
    s->out = BIO_new(BIO_s_mem());
    if (!s->ssl || !s->in || !s->out)
        alloc_fail();
    SSL_set_bio(s->ssl, s->in, s->out);
    SSL_set_connect_state(s->ssl);
    SSL_set_app_data(s->ssl, s);
    SSL_set_verify(s->ssl, SSL_get_verify_mode(s->ssl), on_checked);
    buf_init(&s->kept, 0);
    if (!set_host(s, host)) {
        ERR_clear_error();
        tls_session_free(s);
        return error_set(err, ERR_USAGE, "%.255s cannot stand in a certificate", host);
    }
    *out = s;
    return 0;
}

void tls_session_free(struct tls_session *s)
{
    if (!s)
        return;
    SSL_free(s->ssl);
    tls_context_drop(s->context);
    buf_clear(&s->kept);
    free(s);
}

/* ---- what OpenSSL says */

static enum tls_step take_step(struct tls_session *s, int rc)
{
    const int e = SSL_get_error(s->ssl, rc);
    if (e == SSL_ERROR_NONE)
        return TLS_DONE;
    if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
        return TLS_MORE;
    if (e == SSL_ERROR_ZERO_RETURN)
        return TLS_ENDED;
    if (!s->broken)
        s->error = ERR_peek_error();
    s->broken = true;
    ERR_clear_error();
    return TLS_BROKEN;
}

/* ---- in and out */

void tls_feed(struct tls_session *s, const uint8_t *bytes, size_t len)
{
    s->heard |= len > 0;
    if (len > 0 && BIO_write(s->in, bytes, (int)len) != (int)len)
        alloc_fail();
}

bool tls_has_heard(const struct tls_session *s)
{
    return s->heard;
}

/* Between its header and its body none of it is pending for OpenSSL. */
bool tls_is_open(const struct tls_session *s)
{
    return BIO_pending(s->in) > 0 || SSL_has_pending(s->ssl) == 1 ||
           strcmp(SSL_rstate_string(s->ssl), "RB") == 0;
}

enum tls_step tls_shake(struct tls_session *s)
{
    if (s->broken)
        return TLS_BROKEN;
    ERR_clear_error();
    return take_step(s, SSL_do_handshake(s->ssl));
}

static enum tls_step write_some(struct tls_session *s, const uint8_t *bytes, size_t len,
                                size_t *done)
{
    enum tls_step step = TLS_DONE;
    *done = 0;
    while (*done < len && step == TLS_DONE) {
        size_t n = 0;
        ERR_clear_error();
        step = take_step(s, SSL_write_ex(s->ssl, bytes + *done, len - *done, &n));
        *done += n;
    }
    return step;
}

static bool write_kept(struct tls_session *s)
{
    size_t done = 0;
    if (s->kept.len == 0)
        return true;
    const enum tls_step step = write_some(s, s->kept.data, s->kept.len, &done);
    buf_drop_front(&s->kept, done);
    return step != TLS_BROKEN;
}

bool tls_write(struct tls_session *s, const void *bytes, size_t len)
{
    size_t done = 0;
    if (s->broken || !write_kept(s))
        return false;
    if (s->kept.len == 0 && write_some(s, bytes, len, &done) == TLS_BROKEN)
        return false;
    buf_put(&s->kept, (const uint8_t *)bytes + done, len - done);
    return true;
}

size_t tls_kept(const struct tls_session *s)
{
    return s->kept.len;
}

enum tls_step tls_read(struct tls_session *s, void *out, size_t size, size_t *n)
{
    *n = 0;
    if (s->broken)
        return TLS_BROKEN;
    ERR_clear_error();
    const enum tls_step step = take_step(s, SSL_read_ex(s->ssl, out, size, n));
    if (step == TLS_MORE && !write_kept(s))
        return TLS_BROKEN;
    return step;
}

void tls_end(struct tls_session *s)
{
    ERR_clear_error();
    if (!s->broken && SSL_is_init_finished(s->ssl))
        (void)SSL_shutdown(s->ssl);
    ERR_clear_error();
}

struct slice tls_out(struct tls_session *s)
{
    char *bytes = NULL;
    const long len = BIO_get_mem_data(s->out, &bytes);
    return (struct slice){bytes, len > 0 ? (size_t)len : 0};
}

void tls_out_taken(struct tls_session *s)
{
    (void)BIO_reset(s->out);
}

bool tls_verified(const struct tls_session *s)
{
    return s->context->verify != TLS_VERIFY_NONE && SSL_get_verify_result(s->ssl) == X509_V_OK;
}
#endif
