/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "way_url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beamtop/link/name.h"

#define SIGN "://"
#define PARTS 5 /* of a pod's URL, with a context, a container and a node */

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

const char *const way_schemes[WAY_SCHEMES] = {
    [WAY_SSH] = "ssh" SIGN,
    [WAY_DOCKER] = "docker" SIGN,
    [WAY_PODMAN] = "podman" SIGN,
    [WAY_K8S] = "k8s" SIGN,
};

static const char *const forms[WAY_SCHEMES] = {
    [WAY_SSH] = "ssh://[USER@]HOST[:PORT][/NODE]",
    [WAY_DOCKER] = "docker://CONTAINER[/NODE]",
    [WAY_PODMAN] = "podman://CONTAINER[/NODE]",
    [WAY_K8S] = ("k8s://NAMESPACE/POD[/CONTAINER][/NODE@], with a context "
                 "k8s://CONTEXT/NAMESPACE/POD/[CONTAINER]"),
};

bool way_is_url(const char *text)
{
    const size_t n = text ? strspn(text, LETTERS) : 0;
    return n > 0 && strncmp(text + n, SIGN, sizeof SIGN - 1) == 0;
}

static int refuse(const struct way_url *url, const char *part, struct error *err)
{
    return error_set(err, ERR_USAGE, "the URL has an invalid %s: it is %s", part,
                     forms[url->scheme]);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char)c) ? c - '0'
           : c >= 'a' && c <= 'f'    ? c - 'a' + 10
           : c >= 'A' && c <= 'F'    ? c - 'A' + 10
                                     : -1;
}

/* False: it does not fit, or a %XX is none or stands for NUL. */
static bool decode(char *out, size_t size, const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '%') {
            const int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < len ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0 || (high == 0 && low == 0))
                return false;
            c = (char)(high << 4 | low);
            i += 2;
        }
        if (n + 1 >= size)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return true;
}

/* Decodes a part that is an argument of another program. */
static bool take_word(char *out, size_t size, const char *text, size_t len, const char *others)
{
    if (!decode(out, size, text, len) || out[0] == '-')
        return false;
    for (const char *c = out; *c; c++)
        if (!strchr(LETTERS, *c) && !strchr(others, *c))
            return false;
    return true;
}

static int take_node(struct way_url *url, const char *text, size_t len, struct error *err)
{
    struct name name;
    struct error ignored = {0};
    /* It may be a word of a command line at the far side. */
    if (!decode(url->node, sizeof url->node, text, len) || *url->node == '-')
        return refuse(url, "node", err);
    const size_t n = strlen(url->node);
    if (n > 0 && url->node[n - 1] == '@')
        url->node[n - 1] = '\0'; /* of a pod's: only a name */
    if (*url->node != '\0' && name_parse(&name, url->node, "localhost", &ignored) != 0)
        return refuse(url, "node", err);
    return 0;
}

static bool take_port(uint16_t *out, const char *text, size_t len)
{
    unsigned long port = 0;
    for (size_t i = 0; i < len; i++) {
        if (!isdigit((unsigned char)text[i]) || port > 65535)
            return false;
        port = port * 10 + (unsigned long)(text[i] - '0');
    }
    *out = (uint16_t)port;
    return port > 0 && port <= 65535;
}

/* "[::1]:22", "host:22", "host": how many bytes the host has, where its port begins. */
static bool split_host(const char **host, size_t *len, const char **port)
{
    const char *end = *host + *len;
    const char *colon = memchr(*host, ':', *len);
    if (*len > 0 && **host == '[') {
        const char *close = memchr(*host, ']', *len);
        if (!close || (close + 1 < end && close[1] != ':'))
            return false;
        *port = close + 1 < end ? close + 2 : NULL;
        ++*host;
        *len = (size_t)(close - *host);
        return true;
    }
    *port = colon ? colon + 1 : NULL;
    if (colon)
        *len = (size_t)(colon - *host);
    return true;
}

static int parse_ssh(struct way_url *url, const char *text, struct error *err)
{
    const size_t len = strcspn(text, "/");
    const char *host = text, *end = text + len, *at = memrchr(text, '@', len), *port = NULL;
    if (at && !take_word(url->user, sizeof url->user, text, (size_t)(at - text), "_.+@-"))
        return refuse(url, "user", err);
    if (at && *url->user == '\0')
        return refuse(url, "user", err);
    if (at)
        host = at + 1;
    size_t host_len = (size_t)(end - host);
    if (!split_host(&host, &host_len, &port) || host_len == 0 ||
        !take_word(url->host, sizeof url->host, host, host_len, "_.:-"))
        return refuse(url, "host", err);
    if (port && !take_port(&url->port, port, (size_t)(end - port)))
        return refuse(url, "port", err);
    return *end == '/' ? take_node(url, end + 1, strlen(end + 1), err) : 0;
}

static int parse_container(struct way_url *url, const char *text, struct error *err)
{
    const size_t len = strcspn(text, "/");
    if (len == 0 || !take_word(url->host, sizeof url->host, text, len, "_.-"))
        return refuse(url, "container", err);
    return text[len] == '/' ? take_node(url, text + len + 1, strlen(text + len + 1), err) : 0;
}

static int parse_k8s(struct way_url *url, const char *text, struct error *err)
{
    const char *parts[PARTS] = {text};
    size_t lens[PARTS], n = 0;
    for (const char *at = text;; at++) {
        if (n == PARTS)
            return refuse(url, "part", err);
        parts[n] = at;
        lens[n] = strcspn(at, "/");
        at += lens[n++];
        if (*at == '\0')
            break;
    }
    if (n > 2 && memchr(parts[n - 1], '@', lens[n - 1])) {
        n--;
        if (take_node(url, parts[n], lens[n], err) != 0)
            return err->code;
    }
    const size_t first = n == 4; /* with a context */
    if (n < 2 || n > 4 || (n == 3 && lens[2] == 0))
        return refuse(url, "part", err);
    if (first && (lens[0] == 0 ||
                  !take_word(url->context, sizeof url->context, parts[0], lens[0], "_.:/@+-")))
        return refuse(url, "context", err);
    if (lens[first] == 0 ||
        !take_word(url->space, sizeof url->space, parts[first], lens[first], ".-"))
        return refuse(url, "namespace", err);
    if (lens[first + 1] == 0 ||
        !take_word(url->host, sizeof url->host, parts[first + 1], lens[first + 1], ".-"))
        return refuse(url, "pod", err);
    if (n > first + 2 &&
        !take_word(url->container, sizeof url->container, parts[first + 2], lens[first + 2], ".-"))
        return refuse(url, "container", err);
    return 0;
}

int way_url_parse(struct way_url *out, const char *text, struct error *err)
{
    static int (*const parsers[WAY_SCHEMES])(struct way_url *, const char *, struct error *) = {
        [WAY_SSH] = parse_ssh,
        [WAY_DOCKER] = parse_container,
        [WAY_PODMAN] = parse_container,
        [WAY_K8S] = parse_k8s,
    };
    *out = (struct way_url){0};
    if (strlen(text) > WAY_URL_BYTES)
        return error_set(err, ERR_USAGE, "a URL of a node has at most %u bytes", WAY_URL_BYTES);
    for (size_t i = 0; i < WAY_SCHEMES; i++) {
        const size_t len = strlen(way_schemes[i]);
        if (strncmp(text, way_schemes[i], len) == 0) {
            out->scheme = (enum way_scheme)i;
            return parsers[i](out, text + len, err);
        }
    }
    return error_set(err, ERR_USAGE, "%.*s" SIGN ": a node is reached by %s, %s, %s or %s",
                     (int)strspn(text, LETTERS), text, way_schemes[WAY_SSH],
                     way_schemes[WAY_DOCKER], way_schemes[WAY_PODMAN], way_schemes[WAY_K8S]);
}

bool way_url_is_beside(const struct way_url *a, const struct way_url *b)
{
    return a->scheme == b->scheme && a->port == b->port && strcmp(a->user, b->user) == 0 &&
           strcmp(a->host, b->host) == 0 && strcmp(a->context, b->context) == 0 &&
           strcmp(a->space, b->space) == 0 && strcmp(a->container, b->container) == 0;
}

/* What parts a URL, a list of nodes or a file of them is not itself in a part. */
static void put_part(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text <= ' ' || strchr("/%,#", *text))
            buf_printf(out, "%%%02X", (unsigned char)*text);
        else
            buf_put_u8(out, (uint8_t)*text);
    }
}

static void put_place(struct buf *out, const struct way_url *url)
{
    const bool six = strchr(url->host, ':') != NULL;
    switch (url->scheme) {
    case WAY_SSH:
        if (*url->user) {
            put_part(out, url->user);
            buf_puts(out, "@");
        }
        buf_printf(out, "%s%s%s", six ? "[" : "", url->host, six ? "]" : "");
        if (url->port != 0)
            buf_printf(out, ":%u", url->port);
        break;
    case WAY_DOCKER:
    case WAY_PODMAN:
        buf_puts(out, url->host);
        break;
    case WAY_K8S:
        if (*url->context) {
            put_part(out, url->context);
            buf_puts(out, "/");
        }
        buf_printf(out, "%s/%s", url->space, url->host);
        if (*url->context || *url->container)
            buf_printf(out, "/%s", url->container);
        break;
    case WAY_SCHEMES:
        break;
    }
}

void way_url_put(struct buf *out, const struct way_url *url, const char *node)
{
    buf_puts(out, way_schemes[url->scheme]);
    put_place(out, url);
    if (!node || *node == '\0')
        return;
    buf_puts(out, "/");
    put_part(out, node);
    if (url->scheme == WAY_K8S && !strchr(node, '@'))
        buf_puts(out, "@");
}
