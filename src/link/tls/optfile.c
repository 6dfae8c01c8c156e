/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "optfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/base/alloc.h"
#include "beamtop/base/attr.h"
#include "beamtop/base/buf.h"
#include "beamtop/etf/cursor.h"
#include "beamtop/etf/parse.h"
#include "pem.h"
#include "plain.h"

/* ---- options of text */

static const char *const option_words[TLS_OPTIONS] = {
    [TLS_OPTION_CERT] = "cert",
    [TLS_OPTION_CERTFILE] = "certfile",
    [TLS_OPTION_KEY] = "key",
    [TLS_OPTION_KEYFILE] = "keyfile",
    [TLS_OPTION_PASSWORD] = "password",
    [TLS_OPTION_CERTS_KEYS] = "certs_keys",
    [TLS_OPTION_CACERTS] = "cacerts",
    [TLS_OPTION_CACERTFILE] = "cacertfile",
    [TLS_OPTION_VERIFY] = "verify",
    [TLS_OPTION_VERIFY_FUN] = "verify_fun",
    [TLS_OPTION_PARTIAL_CHAIN] = "partial_chain",
};

static enum tls_option find_option(struct slice word)
{
    enum tls_option option = TLS_OPTION_CERT;
    while (option < TLS_OPTIONS && !slice_is(word, option_words[option]))
        option++;
    return option;
}

static bool take_text(char *out, size_t size, struct slice value)
{
    if (value.len == 0 || value.len >= size || memchr(value.s, '\0', value.len))
        return false;
    snprintf(out, size, "%.*s", (int)value.len, value.s);
    return true;
}

/* False: it has no such value, or is not one of text. */
static bool take_option(struct tls_section *s, struct tls_pair *pair, enum tls_option option,
                        struct slice value)
{
    switch (option) {
    case TLS_OPTION_CERTFILE:
        return take_text(pair->certfile, sizeof pair->certfile, value);
    case TLS_OPTION_KEYFILE:
        return take_text(pair->keyfile, sizeof pair->keyfile, value);
    case TLS_OPTION_PASSWORD:
        return take_text(pair->password, sizeof pair->password, value);
    case TLS_OPTION_CACERTFILE:
        return take_text(s->cacertfile, sizeof s->cacertfile, value);
    case TLS_OPTION_VERIFY:
        s->verify_peer = slice_is(value, "verify_peer");
        return true;
    case TLS_OPTION_CERT:
    case TLS_OPTION_KEY:
    case TLS_OPTION_CERTS_KEYS:
    case TLS_OPTION_CACERTS:
    case TLS_OPTION_VERIFY_FUN:
    case TLS_OPTION_PARTIAL_CHAIN:
    case TLS_OPTIONS:
        break;
    }
    return false;
}

void tls_options_take(struct tls_options *out, const char *word, const char *value)
{
    const bool client = strncmp(word, "client_", strlen("client_")) == 0;
    if (!client && strncmp(word, "server_", strlen("server_")) != 0)
        return;
    struct tls_section *s = client ? &out->client : &out->server;
    const enum tls_option option = find_option(slice_of(word + strlen("client_")));
    s->given = true;
    if (!take_option(s, &s->one, option, slice_of(value)) && option < TLS_OPTIONS)
        s->unused |= 1U << option;
}

/* ---- values */

/* A string, binary or atom; false: another term, which is skipped. */
static bool read_text(struct cursor *c, struct buf *out)
{
    struct slice text;
    struct cursor_list list;
    struct cursor value;
    int64_t byte = 0;
    buf_reset(out);
    if (!cursor_apart(c, &value))
        return false;
    switch (cursor_kind(&value)) {
    case ETF_KIND_ATOM:
    case ETF_KIND_BINARY:
        if (cursor_kind(&value) == ETF_KIND_ATOM ? !cursor_atom(&value, &text)
                                                 : !cursor_binary(&value, &text))
            return false;
        buf_put(out, text.s, text.len);
        return true;
    case ETF_KIND_STRING:
    case ETF_KIND_LIST:
        if (!cursor_list(&value, &list) || list.count > TLS_PATH_BYTES)
            return false;
        for (size_t i = 0; i < list.count; i++) {
            if (!cursor_list_int64(&value, &list, &byte) || byte <= 0 || byte > 126)
                return false;
            buf_put_u8(out, (uint8_t)byte);
        }
        return true;
    default:
        return false;
    }
}

/* One <<DER>>, or a list of them. */
static bool read_certs(struct cursor *c, char **pem)
{
    struct cursor_list list = {.count = 1};
    struct slice der;
    const bool many = cursor_kind(c) != ETF_KIND_BINARY;
    if (many && (!cursor_list(c, &list) || list.string))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        if (!cursor_binary(c, &der))
            return false;
        tls_pem_add(pem, "CERTIFICATE", der);
    }
    return list.count > 0;
}

/* {Type, <<DER>>}; the map of an engine or a function has no bytes. */
static bool read_key(struct cursor *c, char **pem)
{
    static const char *const types[][2] = {
        {"ECPrivateKey", "EC PRIVATE KEY"},
        {"RSAPrivateKey", "RSA PRIVATE KEY"},
        {"DSAPrivateKey", "DSA PRIVATE KEY"},
        {"PrivateKeyInfo", "PRIVATE KEY"},
    };
    struct slice type, der;
    if (*pem || !cursor_tuple_of(c, 2) || !cursor_atom(c, &type) || !cursor_binary(c, &der))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(types) && !*pem; i++)
        if (slice_is(type, types[i][0]))
            tls_pem_add(pem, types[i][1], der);
    return *pem != NULL;
}

static bool is_function(const struct cursor *value)
{
    return cursor_peek_atom(value, PLAIN_FUN);
}

static bool read_value(struct cursor *value, struct tls_section *s, struct tls_pair *pair,
                       enum tls_option option, struct buf *text)
{
    if (is_function(value))
        return false;
    if (option == TLS_OPTION_CERT)
        return !pair->cert && read_certs(value, &pair->cert);
    if (option == TLS_OPTION_CACERTS)
        return !s->cacerts && read_certs(value, &s->cacerts);
    if (option == TLS_OPTION_KEY)
        return read_key(value, &pair->key);
    return read_text(value, text) &&
           take_option(s, pair, option, (struct slice){(const char *)text->data, text->len});
}

/* The key of a map or tuple has been read. */
static bool read_named(struct cursor *c, struct slice word, struct tls_section *s,
                       struct tls_pair *pair, struct buf *text)
{
    const enum tls_option option = find_option(word);
    struct cursor value;
    if (!cursor_apart(c, &value))
        return false;
    if (option < TLS_OPTIONS && !read_value(&value, s, pair, option, text))
        s->unused |= 1U << option;
    return true;
}

/* ---- the file */

static bool read_pair(struct cursor *c, struct tls_section *s, struct buf *text)
{
    struct tls_pair *pair = &s->many[s->many_count];
    struct slice word;
    size_t fields = 0;
    if (!cursor_map(c, &fields))
        return false;
    for (size_t i = 0; i < fields; i++)
        if (!cursor_atom(c, &word) || !read_named(c, word, s, pair, text))
            return false;
    s->many_count += pair->cert || pair->certfile[0];
    return pair->cert || pair->certfile[0];
}

/* [#{certfile => …, keyfile => …}, …] */
static bool read_pairs(struct cursor *c, struct tls_section *s, struct buf *text)
{
    struct cursor_list list;
    if (s->many_count > 0 || !cursor_list(c, &list) || list.string || list.count > TLS_IDENTITIES)
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (!read_pair(c, s, text))
            return false;
    return cursor_list_end(c, &list);
}

static bool read_option(struct cursor *c, struct tls_section *s, struct buf *text)
{
    struct slice word;
    struct cursor option;
    size_t arity = 0;
    if (cursor_kind(c) == ETF_KIND_ATOM)
        return cursor_skip(c); /* `inet6` and its like */
    if (!cursor_apart(c, &option) || !cursor_tuple(&option, &arity))
        return false;
    if (arity != 2 || !cursor_atom(&option, &word))
        return true;
    if (!slice_is(word, option_words[TLS_OPTION_CERTS_KEYS]))
        return read_named(&option, word, s, &s->one, text);
    if (!read_pairs(&option, s, text))
        s->unused |= 1U << TLS_OPTION_CERTS_KEYS;
    return true;
}

static bool read_section(struct cursor *c, struct tls_options *out, struct buf *text)
{
    struct slice name;
    struct cursor_list list;
    if (!cursor_tuple_of(c, 2) || !cursor_atom(c, &name))
        return false;
    struct tls_section *s = slice_is(name, "client")   ? &out->client
                            : slice_is(name, "server") ? &out->server
                                                       : NULL;
    if (!s)
        return cursor_skip(c);
    s->given = true;
    if (!cursor_list(c, &list))
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (!read_option(c, s, text))
            return false;
    return cursor_list_end(c, &list);
}

static bool read_sections(struct cursor *c, struct tls_options *out)
{
    struct cursor_list list;
    struct buf text;
    bool ok = cursor_list(c, &list) && !list.string;
    buf_init_wiped(&text);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = read_section(c, out, &text);
    buf_clear(&text);
    return ok && cursor_list_end(c, &list);
}

int tls_options_parse(struct tls_options *out, const char *text, size_t len, struct error *err)
{
    struct error ignored = {0};
    struct builder *b = builder_new();
    char *term = memchr(text, '\0', len) ? NULL : plain_text(text, len);
    int rc = term ? etf_parse(b, term, len, NULL, &ignored) : ERR_FORMAT;
    size_t bytes_len = 0;
    const uint8_t *bytes = builder_bytes(b, &bytes_len);
    if (rc == 0) {
        struct cursor c;
        cursor_init(&c, bytes, bytes_len);
        rc = read_sections(&c, out) ? 0 : ERR_FORMAT;
    }
    builder_free(b);
    alloc_free_wiped(term, len);
    if (rc == 0)
        return 0;
    return error_set(err, ERR_FORMAT,
                     "it is an Erlang expression that beamtop does not evaluate, not a list of "
                     "`server` and `client` options");
}

/* ---- what was read */

static void clear_pair(struct tls_pair *pair)
{
    alloc_free_wiped(pair->cert, pair->cert ? strlen(pair->cert) : 0);
    alloc_free_wiped(pair->key, pair->key ? strlen(pair->key) : 0);
}

static void clear_section(struct tls_section *s)
{
    clear_pair(&s->one);
    for (size_t i = 0; i < TLS_IDENTITIES; i++)
        clear_pair(&s->many[i]);
    free(s->cacerts);
}

void tls_options_clear(struct tls_options *o)
{
    clear_section(&o->client);
    clear_section(&o->server);
    explicit_bzero(o, sizeof *o);
}

const struct tls_pair *tls_section_pairs(const struct tls_section *s, size_t *count)
{
    *count = s->many_count > 0 ? s->many_count : s->one.cert || s->one.certfile[0] ? 1 : 0;
    return s->many_count > 0 ? s->many : &s->one;
}

void tls_options_name(char *out, size_t size, unsigned options)
{
    *out = '\0';
    for (size_t i = 0; i < TLS_OPTIONS; i++)
        if (options >> i & 1)
            snprintf(out + strlen(out), size - strlen(out), "%s%s", *out ? ", " : "",
                     option_words[i]);
}
