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

/* ---- one option */

static void take_path(char *out, struct slice value, bool *is_inline)
{
    if (value.len == 0 || value.len >= TLS_PATH_BYTES || memchr(value.s, '\0', value.len))
        *is_inline = true;
    else
        snprintf(out, TLS_PATH_BYTES, "%.*s", (int)value.len, value.s);
}

static void take_option(struct tls_section *s, const char *key, struct slice value)
{
    if (strcmp(key, "certfile") == 0)
        take_path(s->cert, value, &s->is_inline);
    else if (strcmp(key, "keyfile") == 0)
        take_path(s->key, value, &s->is_inline);
    else if (strcmp(key, "cacertfile") == 0)
        take_path(s->cacert, value, &s->is_inline);
    else if (strcmp(key, "verify") == 0)
        s->verify_peer = slice_is(value, "verify_peer");
    else if (strcmp(key, "password") == 0 && value.len < sizeof s->password)
        snprintf(s->password, sizeof s->password, "%.*s", (int)value.len, value.s);
}

void tls_options_take(struct tls_options *out, const char *word, const char *value)
{
    const bool client = strncmp(word, "client_", strlen("client_")) == 0;
    if (!client && strncmp(word, "server_", strlen("server_")) != 0)
        return;
    struct tls_section *s = client ? &out->client : &out->server;
    s->given = true;
    take_option(s, word + strlen("client_"), slice_of(value));
}

/* ---- the file */

/* A copy without comments, of the same length, and without the full stop at its end. */
static char *without_comments(const char *text, size_t len)
{
    char *out = alloc_strndup(text, len);
    char quote = '\0';
    for (size_t i = 0; i < len; i++) {
        if (out[i] == '\\' || (quote == '\0' && out[i] == '$')) {
            i += out[i] == '$' && i + 1 < len && out[i + 1] == '\\' ? 2 : 1;
        } else if (quote != '\0') {
            quote = out[i] == quote ? '\0' : quote;
        } else if (out[i] == '"' || out[i] == '\'') {
            quote = out[i];
        } else if (out[i] == '%') {
            while (i < len && out[i] != '\n')
                out[i++] = ' ';
        }
    }
    for (size_t i = len; i > 0 && strchr(" \t\r\n.", out[i - 1]); i--) {
        const bool stop = out[i - 1] == '.';
        out[i - 1] = ' ';
        if (stop)
            break;
    }
    return out;
}

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

static bool read_option(struct cursor *c, struct tls_section *s, struct buf *value)
{
    static const char *const inlined[] = {"cert", "key", "cacerts", "certs_keys"};
    struct slice key;
    char word[32];
    size_t arity = 0;
    if (cursor_kind(c) == ETF_KIND_ATOM)
        return cursor_skip(c); /* `inet6` and its like */
    struct cursor option;
    if (!cursor_apart(c, &option) || !cursor_tuple(&option, &arity))
        return false;
    if (arity != 2 || !cursor_atom(&option, &key) || key.len >= sizeof word)
        return true;
    snprintf(word, sizeof word, "%.*s", (int)key.len, key.s);
    for (size_t i = 0; i < ARRAY_LEN(inlined); i++)
        s->is_inline |= strcmp(word, inlined[i]) == 0;
    if (read_text(&option, value))
        take_option(s, word, (struct slice){(const char *)value->data, value->len});
    else if (strcmp(word, "certfile") == 0)
        s->is_inline = true;
    return true;
}

static bool read_section(struct cursor *c, struct tls_options *out, struct buf *value)
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
        if (!read_option(c, s, value))
            return false;
    return cursor_list_end(c, &list);
}

static bool read_sections(struct cursor *c, struct tls_options *out)
{
    struct cursor_list list;
    struct buf value;
    bool ok = cursor_list(c, &list) && !list.string;
    buf_init(&value, 0);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = read_section(c, out, &value);
    if (value.data)
        explicit_bzero(value.data, value.len);
    buf_clear(&value);
    return ok && cursor_list_end(c, &list);
}

int tls_options_parse(struct tls_options *out, const char *text, size_t len, struct error *err)
{
    struct error ignored = {0};
    struct builder *b = builder_new();
    char *term = memchr(text, '\0', len) ? NULL : without_comments(text, len);
    int rc = term ? etf_parse(b, term, len, NULL, &ignored) : ERR_FORMAT;
    size_t bytes_len = 0;
    const uint8_t *bytes = builder_bytes(b, &bytes_len);
    if (rc == 0) {
        struct cursor c;
        cursor_init(&c, bytes, bytes_len);
        rc = read_sections(&c, out) ? 0 : ERR_FORMAT;
    }
    explicit_bzero((uint8_t *)(uintptr_t)bytes, bytes_len);
    builder_free(b);
    if (term)
        explicit_bzero(term, len);
    free(term);
    if (rc == 0)
        return 0;
    return error_set(err, ERR_FORMAT,
                     "it is an Erlang expression that beamtop does not evaluate, not a list of "
                     "`server` and `client` options");
}
