/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A session against a server in memory. */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../temporary.h"
#include "../../test.h"
#include "beamtop/base/clock.h"
#include "link/tls/session.h"
#include "link/wire.h"

#ifdef HAVE_OPENSSL
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- a server in memory, with a certificate of itself */

struct server {
    SSL_CTX *context;
    SSL *ssl;
    BIO *in, *out;
    char *pem; /* its certificate */
    size_t pem_len;
};

static EVP_PKEY *make_key(void)
{
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *c = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
    assert_true(EVP_PKEY_keygen_init(c) == 1 &&
                EVP_PKEY_CTX_set_ec_paramgen_curve_nid(c, NID_X9_62_prime256v1) == 1 &&
                EVP_PKEY_keygen(c, &key) == 1);
    EVP_PKEY_CTX_free(c);
    return key;
}

/* ends_s: from now. */
static X509 *make_cert_of(EVP_PKEY *key, const char *who, long ends_s)
{
    X509 *x = X509_new();
    X509_NAME *name = X509_get_subject_name(x);
    const bool has_digest = EVP_PKEY_get_base_id(key) != EVP_PKEY_ED25519;
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), -86400);
    X509_gmtime_adj(X509_getm_notAfter(x), ends_s);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)who, -1, -1, 0);
    X509_set_issuer_name(x, name);
    X509_set_pubkey(x, key);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name,
                                            (char[]){"DNS:node.example,IP:127.0.0.1"});
    X509_add_ext(x, e, -1);
    X509_EXTENSION_free(e);
    assert_true(X509_sign(x, key, has_digest ? EVP_sha256() : NULL) > 0);
    return x;
}

static void server_open(struct server *s, int version, int verify, long ends_s)
{
    EVP_PKEY *key = make_key();
    X509 *cert = make_cert_of(key, "node", ends_s);
    BIO *pem = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    s->context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(s->context, version);
    SSL_CTX_set_max_proto_version(s->context, version);
    SSL_CTX_set_verify(s->context, verify, NULL);
    assert_int_equal(SSL_CTX_use_certificate(s->context, cert), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(s->context, key), 1);
    s->ssl = SSL_new(s->context);
    s->in = BIO_new(BIO_s_mem());
    s->out = BIO_new(BIO_s_mem());
    SSL_set_bio(s->ssl, s->in, s->out);
    SSL_set_accept_state(s->ssl);
    PEM_write_bio_X509(pem, cert);
    s->pem_len = (size_t)BIO_get_mem_data(pem, &bytes);
    s->pem = malloc(s->pem_len);
    memcpy(s->pem, bytes, s->pem_len);
    BIO_free(pem);
    X509_free(cert);
    EVP_PKEY_free(key);
}

static void server_close(struct server *s)
{
    SSL_free(s->ssl);
    SSL_CTX_free(s->context);
    free(s->pem);
}

/* Ciphertext both ways, `step` bytes at a time. True: some went. */
static bool carry(struct server *s, struct tls_session *t, size_t step)
{
    const struct slice out = tls_out(t);
    uint8_t bytes[65536];
    bool went = out.len > 0;
    int n;
    if (out.len > 0)
        BIO_write(s->in, out.s, (int)out.len);
    tls_out_taken(t);
    while ((n = BIO_read(s->out, bytes, (int)(step < sizeof bytes ? step : sizeof bytes))) > 0) {
        tls_feed(t, bytes, (size_t)n);
        went = true;
        if (step < sizeof bytes)
            break;
    }
    return went;
}

static enum tls_step shake(struct server *s, struct tls_session *t, size_t step)
{
    enum tls_step now;
    do {
        now = tls_shake(t);
        (void)SSL_do_handshake(s->ssl);
    } while (carry(s, t, step) && now == TLS_MORE);
    return now;
}

static struct tls_session *open_session(struct tls_context *c, const char *host)
{
    struct tls_session *t = NULL;
    struct error err = {0};
    assert_int_equal(tls_session_new(&t, c, host, &err), 0);
    return t;
}

/* What is written arrives, in both directions, however the bytes come; and keys change. */
TEST(test_session)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    static const size_t steps[] = {1, 7, 65536};
    for (size_t i = 0; i < 6; i++) {
        struct server s;
        char text[100] = "";
        size_t n = 0;
        server_open(&s, versions[i % 2], SSL_VERIFY_NONE, 86400);
        struct tls_session *t = open_session(NULL, "127.0.0.1");
        assert_false(tls_has_heard(t));
        assert_int_equal(shake(&s, t, steps[i / 2]), TLS_DONE);
        assert_true(tls_has_heard(t));
        assert_false(tls_verified(t));
        while (carry(&s, t, 65536))
            (void)SSL_do_handshake(s.ssl);
        assert_true(tls_write(t, "ping", 4));
        assert_int_equal(tls_kept(t), 0);
        carry(&s, t, 65536);
        assert_int_equal(SSL_read(s.ssl, text, sizeof text), 4);
        if (versions[i % 2] == TLS1_3_VERSION)
            assert_int_equal(SSL_key_update(s.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_int_equal(SSL_write(s.ssl, "pong", 4), 4);
        while (carry(&s, t, steps[i / 2])) {
        }
        assert_int_equal(tls_read(t, text, sizeof text, &n), TLS_DONE);
        assert_true(n == 4 && memcmp(text, "pong", 4) == 0);
        assert_int_equal(tls_read(t, text, sizeof text, &n), TLS_MORE);
        SSL_shutdown(s.ssl);
        carry(&s, t, 65536);
        assert_int_equal(tls_read(t, text, sizeof text, &n), TLS_ENDED);
        tls_session_free(t);
        server_close(&s);
    }
}

/* A cut in a record is told from an end between two. */
TEST(test_part_of_a_record)
{
    struct server s;
    uint8_t bytes[1024];
    char text[100];
    size_t n = 0;
    server_open(&s, TLS1_2_VERSION, SSL_VERIFY_NONE, 86400);
    struct tls_session *t = open_session(NULL, "node.example");
    assert_int_equal(shake(&s, t, 65536), TLS_DONE);
    while (carry(&s, t, 65536))
        (void)SSL_do_handshake(s.ssl);
    assert_int_equal(SSL_write(s.ssl, "pong", 4), 4);
    const int len = BIO_read(s.out, bytes, sizeof bytes);
    assert_int_equal(tls_read(t, text, sizeof text, &n), TLS_MORE);
    for (int i = 0; i < len; i++) {
        assert_int_equal(tls_is_open(t), i > 0);
        tls_feed(t, &bytes[i], 1);
        assert_int_equal(tls_read(t, text, sizeof text, &n), i < len - 1 ? TLS_MORE : TLS_DONE);
    }
    assert_false(tls_is_open(t));
    tls_session_free(t);
    server_close(&s);
}

/* In a renegotiation what is written waits, is counted, and goes afterwards. */
TEST(test_renegotiation)
{
    struct server s;
    char text[100];
    size_t n = 0;
    server_open(&s, TLS1_2_VERSION, SSL_VERIFY_NONE, 86400);
    struct tls_session *t = open_session(NULL, "node.example");
    assert_int_equal(shake(&s, t, 65536), TLS_DONE);
    (void)SSL_do_handshake(s.ssl);
    assert_int_equal(SSL_renegotiate(s.ssl), 1);
    (void)SSL_do_handshake(s.ssl);
    carry(&s, t, 65536);
    assert_int_equal(tls_read(t, text, sizeof text, &n), TLS_MORE);
    assert_true(tls_write(t, "later", 5));
    const size_t kept = tls_kept(t);
    for (int i = 0; i < 8; i++) {
        carry(&s, t, 65536);
        (void)SSL_peek(s.ssl, text, 1);
        carry(&s, t, 65536);
        assert_int_equal(tls_read(t, text, sizeof text, &n), TLS_MORE);
    }
    assert_int_equal(kept, 5);
    assert_int_equal(tls_kept(t), 0);
    carry(&s, t, 65536);
    assert_int_equal(SSL_read(s.ssl, text, sizeof text), 5);
    tls_session_free(t);
    server_close(&s);
}

static enum tls_fault fails(int version, int verify, long ends_s, enum tls_verify check,
                            const char *host, bool knows)
{
    struct server s;
    struct tls_context *c = NULL;
    struct error err = {0};
    enum tls_fault why = TLS_FAULT_NONE;
    char byte;
    size_t n = 0;
    server_open(&s, version, verify, ends_s);
    const struct tls_material m = {.cacert = {s.pem, knows ? s.pem_len : 0}, .verify = check};
    assert_int_equal(tls_context_new(&c, &m, "test", &err), 0);
    struct tls_session *t = open_session(c, host);
    const enum tls_step step = shake(&s, t, 65536);
    (void)SSL_do_handshake(s.ssl);
    carry(&s, t, 65536);
    if (step == TLS_BROKEN || tls_read(t, &byte, 1, &n) == TLS_BROKEN)
        assert_non_null(tls_explain(t, &why));
    tls_session_free(t);
    tls_context_drop(c);
    server_close(&s);
    return why;
}

/* In PEM, of the server's certificate, which is its own CA. ends_s: from now. */
static char *make_crl(const struct server *s, bool is_revoked, long ends_s)
{
    X509 *cert = SSL_CTX_get0_certificate(s->context);
    X509_CRL *crl = X509_CRL_new();
    ASN1_TIME *when = X509_gmtime_adj(NULL, -3600);
    BIO *pem = BIO_new(BIO_s_mem());
    char *bytes = NULL;
    X509_CRL_set_version(crl, 1);
    X509_CRL_set_issuer_name(crl, X509_get_subject_name(cert));
    X509_CRL_set1_lastUpdate(crl, when);
    if (is_revoked) {
        X509_REVOKED *one = X509_REVOKED_new();
        X509_REVOKED_set_serialNumber(one, X509_get_serialNumber(cert));
        X509_REVOKED_set_revocationDate(one, when);
        assert_int_equal(X509_CRL_add0_revoked(crl, one), 1);
    }
    X509_gmtime_adj(when, ends_s);
    X509_CRL_set1_nextUpdate(crl, when);
    assert_true(X509_CRL_sign(crl, SSL_CTX_get0_privatekey(s->context), EVP_sha256()) > 0);
    assert_int_equal(PEM_write_bio_X509_CRL(pem, crl), 1);
    const size_t len = (size_t)BIO_get_mem_data(pem, &bytes);
    char *text = strndup(bytes, len);
    BIO_free(pem);
    ASN1_TIME_free(when);
    X509_CRL_free(crl);
    return text;
}

/* A list decides without --tls-verify, too; one that is missing or old is no permission. */
TEST(test_revocation)
{
    static const struct {
        bool is_revoked, is_of_another;
        long ends_s;
        enum tls_fault why;
    } cases[] = {
        {false, false, 3600, TLS_FAULT_NONE},
        {true, false, 3600, TLS_FAULT_PEER_REVOKED},
        {false, false, -60, TLS_FAULT_PEER_REVOKED},
        {false, true, 3600, TLS_FAULT_PEER_REVOKED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct server s, another;
        struct tls_context *c = NULL;
        struct error err = {0};
        enum tls_fault why = TLS_FAULT_NONE;
        server_open(&s, TLS1_3_VERSION, SSL_VERIFY_NONE, 86400);
        server_open(&another, TLS1_3_VERSION, SSL_VERIFY_NONE, 86400);
        char *crl =
            make_crl(cases[i].is_of_another ? &another : &s, cases[i].is_revoked, cases[i].ends_s);
        const struct tls_material m = {.cacert = {s.pem, s.pem_len}, .crl = slice_of(crl)};
        assert_int_equal(tls_context_new(&c, &m, "test", &err), 0);
        struct tls_session *t = open_session(c, "node.example");
        if (shake(&s, t, 65536) == TLS_BROKEN)
            print_message("# %s\n", tls_explain(t, &why));
        assert_int_equal(why, cases[i].why);
        free(crl);
        tls_session_free(t);
        tls_context_drop(c);
        server_close(&another);
        server_close(&s);
    }
}

/* As of another cluster that has called its CA alike. */
TEST(test_ca_of_the_same_name)
{
    struct server s, another;
    struct tls_context *c = NULL;
    struct error err = {0};
    enum tls_fault why = TLS_FAULT_NONE;
    server_open(&s, TLS1_3_VERSION, SSL_VERIFY_NONE, 86400);
    server_open(&another, TLS1_3_VERSION, SSL_VERIFY_NONE, 86400);
    const struct tls_material m = {.cacert = {another.pem, another.pem_len}};
    assert_int_equal(tls_context_new(&c, &m, "test", &err), 0);
    struct tls_session *t = open_session(c, "node.example");
    assert_int_equal(shake(&s, t, 65536), TLS_BROKEN);
    assert_non_null(strstr(tls_explain(t, &why), "no CA trusted here has signed"));
    assert_int_equal(why, TLS_FAULT_PEER_CA);
    tls_session_free(t);
    tls_context_drop(c);
    server_close(&another);
    server_close(&s);
}

TEST(test_failures)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t i = 0; i < 2; i++) {
        const int v = versions[i];
        const int demand = SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
        assert_int_equal(fails(v, 0, 60, TLS_VERIFY_FULL, "node.example", true), TLS_FAULT_NONE);
        assert_int_equal(fails(v, 0, 60, TLS_VERIFY_FULL, "127.0.0.1", true), TLS_FAULT_NONE);
        assert_int_equal(fails(v, 0, 60, TLS_VERIFY_CA, "another", true), TLS_FAULT_NONE);
        assert_int_equal(fails(v, 0, -60, TLS_VERIFY_NONE, "another", false), TLS_FAULT_NONE);
        assert_int_equal(fails(v, 0, 60, TLS_VERIFY_FULL, "another", true), TLS_FAULT_PEER_NAME);
        assert_int_equal(fails(v, 0, 60, TLS_VERIFY_FULL, "127.0.0.2", true), TLS_FAULT_PEER_NAME);
        assert_int_equal(fails(v, 0, 60, TLS_VERIFY_CA, "node.example", false), TLS_FAULT_PEER_CA);
        assert_int_equal(fails(v, 0, -60, TLS_VERIFY_CA, "node.example", true),
                         TLS_FAULT_PEER_EXPIRED);
        assert_int_equal(fails(v, demand, 60, TLS_VERIFY_NONE, "node.example", false),
                         TLS_FAULT_NO_CERT);
    }
}

/* A server of an EC certificate takes only a cipher for RSA. */
TEST(test_ciphers)
{
    struct server s;
    enum tls_fault why = TLS_FAULT_NONE;
    server_open(&s, TLS1_2_VERSION, SSL_VERIFY_NONE, 86400);
    assert_int_equal(SSL_set_cipher_list(s.ssl, "ECDHE-RSA-AES128-GCM-SHA256"), 1);
    struct tls_session *t = open_session(NULL, "node.example");
    assert_int_equal(shake(&s, t, 65536), TLS_BROKEN);
    assert_non_null(strstr(tls_explain(t, &why), "no cipher in common"));
    assert_int_equal(why, TLS_FAULT_OTHER);
    tls_session_free(t);
    server_close(&s);
}

/* The way is not clean in mid-stream: the peer says so by an alert, or beamtop does. */
TEST(test_bad_records)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t i = 0; i < 4; i++) {
        struct server s;
        enum tls_fault why;
        char text[100];
        size_t n = 0;
        server_open(&s, versions[i % 2], SSL_VERIFY_NONE, 86400);
        struct tls_session *t = open_session(NULL, "node.example");
        assert_int_equal(shake(&s, t, 65536), TLS_DONE);
        while (carry(&s, t, 65536))
            (void)SSL_do_handshake(s.ssl);
        static const char bad[] = "\x17\3\3\0\x20 0123456789abcdef0123456789abcde";
        if (i < 2) {
            assert_int_equal(BIO_write(s.in, bad, sizeof bad - 1), sizeof bad - 1);
            assert_true(SSL_read(s.ssl, text, sizeof text) < 0);
            while (carry(&s, t, 65536)) {
            }
        } else {
            tls_feed(t, (const uint8_t *)bad, sizeof bad - 1);
        }
        assert_int_equal(tls_read(t, text, sizeof text, &n), TLS_BROKEN);
        const char *said = tls_explain(t, &why);
        assert_non_null(strstr(said, i < 2 ? "bad record mac)" : "something on the way changes"));
        assert_int_equal(tls_alert(t), i < 2 ? 20 : 0);
        assert_int_equal(tls_out(t).len > 0, i >= 2);
        tls_session_free(t);
        server_close(&s);
    }
}

static enum tls_fault hears(const void *bytes, size_t len)
{
    enum tls_fault why = TLS_FAULT_NONE;
    struct tls_session *t = open_session(NULL, "node.example");
    (void)tls_shake(t);
    tls_feed(t, bytes, len);
    if (tls_shake(t) == TLS_BROKEN)
        assert_non_null(tls_explain(t, &why));
    tls_session_free(t);
    return why;
}

TEST(test_other_peers)
{
    assert_int_equal(hears("HTTP/1.1 400 Bad Request\r\n", 26), TLS_FAULT_OTHER_PROTOCOL);
    assert_int_equal(hears("\0\3sok", 5), TLS_FAULT_OTHER_PROTOCOL);
    assert_int_equal(hears("\x15\3\3\0\2\2\x46", 7), TLS_FAULT_VERSION);
    assert_int_equal(hears("\x15\3\3\0\2\2\x28", 7), TLS_FAULT_OTHER); /* before its hello */
    assert_int_equal(hears("\x15\3\3\0\2\2\x47", 7), TLS_FAULT_OTHER);
    assert_int_equal(hears("\x15\3\3\0\2\2\x30", 7), TLS_FAULT_CA);
    assert_int_equal(hears("\x15\3\3\0\2\2\x2d", 7), TLS_FAULT_EXPIRED);
    assert_int_equal(hears("\x15\3\3\0\2\2\x2c", 7), TLS_FAULT_REVOKED);
    assert_int_equal(hears("\x15\3\3\0\2\2\x2b", 7), TLS_FAULT_UNFIT);
    assert_int_equal(hears("\x15\3\3\0\2\2\x0a", 7), TLS_FAULT_OTHER);
    assert_int_equal(hears("\x15\3", 2), TLS_FAULT_NONE);
}

/* A failure without a text of its own has the alert's number and name. */
TEST(test_other_alerts)
{
    enum tls_fault why = TLS_FAULT_NONE;
    struct tls_session *t = open_session(NULL, "node.example");
    (void)tls_shake(t);
    tls_feed(t, (const uint8_t *)"\x15\3\3\0\2\2\x50", 7);
    assert_int_equal(tls_shake(t), TLS_BROKEN);
    assert_non_null(strstr(tls_explain(t, &why), "ended TLS with alert 80 (internal error): see"));
    tls_session_free(t);
}

/* A peer always has something to say: the deadline and a cancel come first. */
TEST(test_peer_without_a_pause)
{
    for (int cancels = 0; cancels < 2; cancels++) {
        int pair[2], cancel[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
        assert_int_equal(pipe(cancel), 0);
        assert_int_equal(send(pair[1], "HTTP/1.1 400 Bad Request\r\n", 26, 0), 26);
        assert_int_equal(write(cancel[1], "", (size_t)cancels), cancels);
        struct handshake h = {.target = {.full = "a@b", .host = "b"},
                              .tls_use = TLS_ALWAYS,
                              .deadline_mono_ns = cancels ? clock_mono_ns() + 3600000000000ull : 1,
                              .cancel_fd = cancel[0]};
        struct wire w = {.h = &h, .fd = pair[0]};
        assert_int_equal(wire_tls_start(&w), -1);
        assert_false(tls_has_heard(w.tls));
        assert_int_equal(h.err.code, cancels ? ERR_CANCELLED : ERR_TIMEOUT);
        tls_session_free(w.tls);
        for (int i = 0; i < 2; i++) {
            close(pair[i]);
            close(cancel[i]);
        }
    }
}

static int accept_any(int ok, X509_STORE_CTX *store)
{
    (void)ok;
    (void)store;
    return 1;
}

/* Which of several is shown, to a server that takes the signatures of `takes` and names the issuer
 * of `named` (-1: none). In the order of the material: RSA, P-256, P-384, Ed25519. */
static int shown(struct tls_identity *ids, EVP_PKEY **keys, X509 **certs, const char *takes,
                 int named)
{
    struct tls_context *c = NULL;
    struct error err = {0};
    struct server s;
    int which = -1;
    server_open(&s, TLS1_3_VERSION, SSL_VERIFY_NONE, 86400);
    SSL_set_verify(s.ssl, SSL_VERIFY_PEER, accept_any);
    assert_int_equal(SSL_set1_client_sigalgs_list(s.ssl, (char *)(uintptr_t)takes), 1);
    if (named >= 0)
        assert_int_equal(SSL_add_client_CA(s.ssl, certs[named]), 1);
    const struct tls_material m = {.identities = ids, .identity_count = 4};
    assert_int_equal(tls_context_new(&c, &m, "test", &err), 0);
    struct tls_session *t = open_session(c, "node.example");
    assert_int_equal(shake(&s, t, 65536), TLS_DONE);
    (void)SSL_do_handshake(s.ssl);
    const X509 *peer = SSL_get0_peer_certificate(s.ssl);
    for (int i = 0; peer && i < 4; i++)
        if (EVP_PKEY_eq(X509_get0_pubkey(peer), keys[i]) == 1)
            which = i;
    tls_session_free(t);
    tls_context_drop(c);
    server_close(&s);
    return which;
}

static struct slice take_pem(BIO *bio)
{
    char *bytes = NULL;
    const size_t len = (size_t)BIO_get_mem_data(bio, &bytes);
    const struct slice pem = {strndup(bytes, len), len};
    BIO_free(bio);
    return pem;
}

TEST(test_which_is_shown)
{
    static const char all[] = "rsa_pss_rsae_sha256:ECDSA+SHA256:ECDSA+SHA384:ed25519";
    EVP_PKEY *keys[] = {EVP_RSA_gen(2048), EVP_EC_gen("P-256"), EVP_EC_gen("P-384"),
                        EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")};
    X509 *certs[4];
    struct tls_identity ids[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        BIO *cert = BIO_new(BIO_s_mem()), *key = BIO_new(BIO_s_mem());
        certs[i] = make_cert_of(keys[i], (char[]){'c', (char)('0' + i), '\0'}, 86400);
        PEM_write_bio_X509(cert, certs[i]);
        PEM_write_bio_PrivateKey(key, keys[i], NULL, NULL, 0, NULL, NULL);
        ids[i] = (struct tls_identity){.cert = take_pem(cert), .key = take_pem(key)};
    }
    assert_int_equal(shown(ids, keys, certs, all, -1), 3);
    assert_int_equal(shown(ids, keys, certs, all, 0), 0);
    assert_int_equal(shown(ids, keys, certs, all, 1), 1);
    assert_int_equal(shown(ids, keys, certs, "rsa_pss_rsae_sha256:ECDSA+SHA256:ECDSA+SHA384", -1),
                     2);
    assert_int_equal(shown(ids, keys, certs, "rsa_pss_rsae_sha256", -1), 0);
    assert_int_equal(shown(ids, keys, certs, "rsa_pss_rsae_sha256", 3), 0);
    assert_int_equal(shown(ids, keys, certs, "ed448", -1), -1);
    for (size_t i = 0; i < 4; i++) {
        free((char *)(uintptr_t)ids[i].cert.s);
        free((char *)(uintptr_t)ids[i].key.s);
        X509_free(certs[i]);
        EVP_PKEY_free(keys[i]);
    }
}

TEST(test_material)
{
    static const char *const bad[] = {"", "x", "-----BEGIN CERTIFICATE-----\nAAAA\n"};
    struct tls_context *c = NULL;
    for (size_t i = 1; i < 3; i++) {
        struct error err = {0};
        const struct tls_material m = {.cacert = {bad[i], strlen(bad[i])}};
        const struct tls_identity own = {.cert = slice_of(bad[i])};
        const struct tls_material n = {.identities = &own, .identity_count = 1};
        assert_int_equal(tls_context_new(&c, &m, "that file", &err), ERR_USAGE);
        assert_non_null(strstr(err.text, "that file"));
        error_clear(&err);
        assert_int_equal(tls_context_new(&c, &n, "that file", &err), ERR_USAGE);
        assert_null(c);
    }
    struct server s;
    char *cut = NULL;
    server_open(&s, TLS1_2_VERSION, SSL_VERIFY_NONE, 86400);
    assert_true(asprintf(&cut, "%.*s%s", (int)s.pem_len, s.pem, bad[2]) > 0);
    const struct tls_material whole = {.cacert = {s.pem, s.pem_len}};
    const struct tls_material half = {.cacert = slice_of(cut)};
    struct error err = {0};
    assert_int_equal(tls_context_new(&c, &whole, "that file", &err), 0);
    tls_context_drop(c);
    assert_int_equal(tls_context_new(&c, &half, "that file", &err), ERR_USAGE);
    error_clear(&err);
    free(cut);
    server_close(&s);
}

static const char *loading(const struct tls_files *files)
{
    static struct error err;
    struct tls_context *c = NULL;
    struct tls_source *s = tls_source_files(files);
    err = (struct error){0};
    const int rc = s->class->load(s, &c, &err);
    assert_int_equal(rc, c ? 0 : ERR_USAGE);
    tls_context_drop(c);
    tls_source_drop(s);
    return err.text;
}

/* An error names the option, or the line of the configuration and its word. */
TEST(test_files)
{
    const char *text = loading(&(struct tls_files){.cacert = "/nowhere/at/all"});
    assert_string_equal(text,
                        "--tls-cacert: /nowhere/at/all cannot be read: No such file or directory");
    text = loading(&(struct tls_files){.crl = "/dev/null", .place = "/etc/x.conf, line 3"});
    assert_string_equal(text,
                        "/etc/x.conf, line 3: crl: /dev/null cannot be read: it is not a file");
    text = loading(&(struct tls_files){.key = "/etc/passwd"});
    assert_string_equal(text, "--tls-key: /etc/passwd needs its certificate");
    assert_string_equal(loading(&(struct tls_files){0}), "");
}

/* Between two loads a file may be replaced, also one of a pair before the other. */
TEST(test_renewal)
{
    char dir[64], cert[96], key[96];
    struct server s[2];
    assert_true(temporary_dir(dir, sizeof dir, "renewal"));
    snprintf(cert, sizeof cert, "%s/cert", dir);
    snprintf(key, sizeof key, "%s/key", dir);
    const struct tls_files files = {.cert = cert, .key = key};
    for (size_t i = 0; i < 2; i++) {
        server_open(&s[i], TLS1_3_VERSION, SSL_VERIFY_NONE, 86400);
        FILE *f = fopen(cert, "w");
        assert_non_null(f);
        fwrite(s[i].pem, 1, s[i].pem_len, f);
        fclose(f);
        if (i == 1)
            assert_non_null(strstr(loading(&files), "probably one of the two has been replaced"));
        f = fopen(key, "w");
        assert_non_null(f);
        PEM_write_PrivateKey(f, SSL_CTX_get0_privatekey(s[i].context), NULL, NULL, 0, NULL, NULL);
        fclose(f);
        assert_string_equal(loading(&files), "");
        server_close(&s[i]);
    }
    unlink(cert);
    unlink(key);
    rmdir(dir);
}
#endif
