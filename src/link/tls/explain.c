/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why TLS failed, by the peer's alert or by the check here. */
#include "config.h"
#include "session.h"
#ifdef HAVE_OPENSSL
#include "session_internal.h"

#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#include "beamtop/base/attr.h"

struct cause {
    int number;
    enum tls_fault why;
    const char *text;
};

/* What the node says of the certificate that beamtop shows; RFC 8446, 6.2. */
static const struct cause alerts[] = {
    {43, TLS_FAULT_UNFIT,
     "rejects the certificate that beamtop shows: it is not one for clients (extended key usage "
     "clientAuth)"},
    {44, TLS_FAULT_REVOKED,
     "rejects the certificate that beamtop shows: a revocation list of the node has it. Use a new "
     "one"},
    {45, TLS_FAULT_EXPIRED,
     "rejects the certificate that beamtop shows: it is expired, or not valid yet. Renew it"},
    {48, TLS_FAULT_CA,
     "does not know the CA of the certificate that beamtop shows: use one that a CA in the node's "
     "cacertfile has signed, with the certificates between the two behind it"},
    {70, TLS_FAULT_VERSION,
     "has no TLS version in common with this beamtop: see `versions` in the node's TLS options"},
    {71, TLS_FAULT_OTHER, NULL}, /* of OTP; of others 40 */
};

/* What is wrong with the node's certificate. */
static const struct cause checks[] = {
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, TLS_FAULT_PEER_CA, NULL},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, TLS_FAULT_PEER_CA, NULL},
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, TLS_FAULT_PEER_CA, NULL},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, TLS_FAULT_PEER_CA, NULL},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, TLS_FAULT_PEER_CA, NULL},
    {X509_V_ERR_CERT_SIGNATURE_FAILURE, TLS_FAULT_PEER_CA, NULL}, /* a CA of the same name */
    {X509_V_ERR_CERT_HAS_EXPIRED, TLS_FAULT_PEER_EXPIRED,
     "shows an expired certificate: renew it on the node, or connect with --tls-verify none"},
    {X509_V_ERR_CERT_NOT_YET_VALID, TLS_FAULT_PEER_EXPIRED,
     "shows a certificate that is not valid yet: compare the clocks of both hosts"},
    {X509_V_ERR_CERT_REVOKED, TLS_FAULT_PEER_REVOKED,
     "shows a certificate that --tls-crl has revoked: do not trust this node until it has a new "
     "one"},
    {X509_V_ERR_UNABLE_TO_GET_CRL, TLS_FAULT_PEER_REVOKED,
     "shows a certificate whose CA has no revocation list in --tls-crl: add the list of that CA"},
    {X509_V_ERR_CRL_SIGNATURE_FAILURE, TLS_FAULT_PEER_REVOKED,
     "shows a certificate whose CA has not signed its revocation list in --tls-crl: fetch the list "
     "of that CA"},
    {X509_V_ERR_CRL_HAS_EXPIRED, TLS_FAULT_PEER_REVOKED,
     "shows a certificate whose CA has an expired revocation list in --tls-crl: fetch a new list"},
    {X509_V_ERR_HOSTNAME_MISMATCH, TLS_FAULT_PEER_NAME, NULL},
    {X509_V_ERR_IP_ADDRESS_MISMATCH, TLS_FAULT_PEER_NAME, NULL},
};

static const char peer_ca[] =
    "shows a certificate that no CA trusted here has signed: the node is of another cluster, or "
    "does not send the certificates between its own and the CA. --tls-cacert FILE takes all of "
    "them";
static const char peer_ca_dates[] =
    "shows a certificate whose CA is expired, or not valid yet: give the CA's current certificate "
    "with --tls-cacert FILE, or renew it";
static const char peer_name[] =
    "shows a certificate for another host name: give the node's name as in the certificate, or "
    "--tls-verify ca";

static const char ciphers[] =
    "has no cipher in common with this beamtop: see `ciphers` in the node's TLS options, and the "
    "kind of its key";

static const char *find(const struct cause *causes, size_t count, int number, enum tls_fault *why)
{
    for (size_t i = 0; i < count; i++) {
        if (causes[i].number != number)
            continue;
        *why = causes[i].why;
        return causes[i].text                ? causes[i].text
               : *why == TLS_FAULT_PEER_NAME ? peer_name
               : *why == TLS_FAULT_OTHER     ? ciphers
                                             : peer_ca;
    }
    return NULL;
}

/* 40 with TLS 1.2, 116 with 1.3 where none was shown; 40 also where one does not fit. */
static const char *explain_client(const struct tls_session *s, enum tls_fault *why)
{
    if (SSL_get_state(s->ssl) == TLS_ST_CW_CLNT_HELLO) {
        *why = TLS_FAULT_OTHER;
        return ciphers;
    }
    const bool shows = SSL_get_certificate(s->ssl) != NULL;
    *why = shows ? TLS_FAULT_UNFIT : TLS_FAULT_NO_CERT;
    return shows ? "rejects the certificate that beamtop shows: probably its extended key usage "
                   "lacks clientAuth. See the node's log"
                 : "asks for a certificate of its clients: give --tls-cert FILE and --tls-key FILE";
}

/* With OpenSSL's own words, which nothing of the peer is in. */
static const char *explain_other(struct tls_session *s, const char *next)
{
    const char *reason = ERR_reason_error_string(s->error);
    snprintf(s->text, sizeof s->text, "sends TLS that this beamtop does not accept%s%.80s%s%s",
             reason ? " (" : "", reason ? reason : "", reason ? ")" : "", next);
    return s->text;
}

static const char *explain_alert(struct tls_session *s, int alert, enum tls_fault *why)
{
    const char *text = find(alerts, ARRAY_LEN(alerts), alert, why);
    if (!text && (alert == 40 || alert == 116))
        text = explain_client(s, why);
    if (text)
        return text;
    *why = TLS_FAULT_OTHER;
    snprintf(s->text, sizeof s->text, "ended TLS with alert %d (%.80s): see the node's log", alert,
             SSL_alert_desc_string_long(alert));
    return s->text;
}

static const char *explain_check(const struct tls_session *s, enum tls_fault *why)
{
    const int result = (int)SSL_get_verify_result(s->ssl);
    const char *text = find(checks, ARRAY_LEN(checks), result, why);
    if (text && *why == TLS_FAULT_PEER_EXPIRED && s->depth > 0)
        return peer_ca_dates;
    if (text)
        return text;
    *why = TLS_FAULT_PEER_CA;
    return "shows a certificate that is not valid for a server: check it with `openssl verify "
           "-purpose sslserver`, or connect with --tls-verify none";
}

int tls_alert(const struct tls_session *s)
{
    const int reason = ERR_GET_REASON(s->error);
    return ERR_GET_LIB(s->error) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET
               ? reason - SSL_AD_REASON_OFFSET
               : 0;
}

const char *tls_explain(struct tls_session *s, enum tls_fault *why)
{
    const int reason = ERR_GET_REASON(s->error);
    const int alert = tls_alert(s);
    if (alert != 0)
        return explain_alert(s, alert, why);
    /* The first error is the check's only where no signature was wrong. */
    if (s->context->verify != TLS_VERIFY_NONE && SSL_get_verify_result(s->ssl) != X509_V_OK)
        return explain_check(s, why);
    switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_WRONG_SSL_VERSION:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_VERSION_TOO_HIGH:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
        return explain_alert(s, 70, why);
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_DATA_LENGTH_TOO_LONG: /* OpenSSL 3.2 and later */
    case SSL_R_HTTP_REQUEST:
        *why = TLS_FAULT_OTHER_PROTOCOL;
        return "does not answer in TLS: give --no-tls if the node has none";
    default:
        *why = TLS_FAULT_OTHER;
        return explain_other(s, SSL_get_state(s->ssl) == TLS_ST_OK
                                    ? ": probably something on the way changes its bytes"
                                    : ": see the node's log, and `ciphers` in its TLS options");
    }
}
#endif
