/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A beamtop without OpenSSL: it recognises TLS, and says what is missing. */
#include "config.h"
#include "session.h"
#ifndef HAVE_OPENSSL

static const char missing[] =
    "this beamtop was built without OpenSSL: build it with libssl-dev, without --without-tls";

bool tls_available(void)
{
    return false;
}

int tls_context_new(struct tls_context **out, const struct tls_material *m, const char *whose,
                    struct error *err)
{
    (void)m;
    (void)whose;
    *out = NULL;
    return error_set(err, ERR_USAGE, "%s", missing);
}

const char *tls_context_note(const struct tls_context *c)
{
    (void)c;
    return "";
}

struct tls_context *tls_context_hold(struct tls_context *c)
{
    return c;
}

void tls_context_drop(struct tls_context *c)
{
    (void)c;
}

int tls_session_new(struct tls_session **out, struct tls_context *context, const char *host,
                    struct error *err)
{
    (void)context;
    (void)host;
    *out = NULL;
    return error_set(err, ERR_USAGE, "%s", missing);
}

void tls_session_free(struct tls_session *s)
{
    (void)s;
}

void tls_feed(struct tls_session *s, const uint8_t *bytes, size_t len)
{
    (void)s;
    (void)bytes;
    (void)len;
}

bool tls_has_heard(const struct tls_session *s)
{
    (void)s;
    return false;
}

bool tls_is_open(const struct tls_session *s)
{
    (void)s;
    return false;
}

enum tls_step tls_shake(struct tls_session *s)
{
    (void)s;
    return TLS_BROKEN;
}

enum tls_step tls_read(struct tls_session *s, void *out, size_t size, size_t *n)
{
    (void)s;
    (void)out;
    (void)size;
    *n = 0;
    return TLS_BROKEN;
}

bool tls_write(struct tls_session *s, const void *bytes, size_t len)
{
    (void)s;
    (void)bytes;
    (void)len;
    return false;
}

size_t tls_kept(const struct tls_session *s)
{
    (void)s;
    return 0;
}

void tls_end(struct tls_session *s)
{
    (void)s;
}

struct slice tls_out(struct tls_session *s)
{
    (void)s;
    return (struct slice){0};
}

void tls_out_taken(struct tls_session *s)
{
    (void)s;
}

int tls_alert(const struct tls_session *s)
{
    (void)s;
    return 0;
}

const char *tls_explain(struct tls_session *s, enum tls_fault *why)
{
    (void)s;
    *why = TLS_FAULT_OTHER;
    return missing;
}

bool tls_verified(const struct tls_session *s)
{
    (void)s;
    return false;
}
#endif
