/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "beamtop/link/name.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beamtop/base/text.h"

#define OWN_ALIVE "beamtop"
#define ATOM_BYTES 255 /* a node's name is an atom; libei takes no more either */

static bool part_is_fine(const char *s, size_t len)
{
    if (len == 0)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned char ch = (unsigned char)s[i];
        if (ch <= ' ' || ch == 0x7f || ch == '@')
            return false;
    }
    return true;
}

static void copy_part(char *out, const char *s, size_t len)
{
    memcpy(out, s, len);
    out[len] = '\0';
}

int name_parse(struct name *out, const char *text, const char *this_host, struct error *err)
{
    const char *at = strchr(text, '@');
    size_t alive_len = at ? (size_t)(at - text) : strlen(text);
    const char *host = at ? at + 1 : this_host;

    *out = (struct name){0};
    if (!text_is_utf8(text, strlen(text)) || !text_is_utf8(host, strlen(host))) {
        return error_set(err, ERR_USAGE,
                         "the node's name '%.256s' is not valid UTF-8. Check the terminal's "
                         "encoding, or copy the name from: beamtop nodes",
                         text);
    }
    if (!part_is_fine(text, alive_len) || !part_is_fine(host, strlen(host))) {
        return error_set(err, ERR_USAGE,
                         "'%.256s' is not a node's name: give name@host, or the name of a node on "
                         "this host (beamtop nodes lists them)",
                         text);
    }
    if (alive_len + 1 + strlen(host) > ATOM_BYTES) {
        return error_set(err, ERR_USAGE, "the node's name is longer than %d bytes: %.64s…",
                         ATOM_BYTES, text);
    }
    out->host_given = at != NULL;
    copy_part(out->alive, text, alive_len);
    copy_part(out->host, host, strlen(host));
    snprintf(out->full, sizeof out->full, "%.255s@%.255s", out->alive, out->host);
    return 0;
}

bool name_host_is_long(const char *host)
{
    return strpbrk(host, ".:") != NULL;
}

static bool is_latin1(const char *text)
{
    int32_t cp;
    for (size_t len = strlen(text), at = 0, n; at < len; at += n) {
        n = text_decode(text + at, len - at, &cp);
        if (n == 0 || cp > 0xff)
            return false;
    }
    return true;
}

bool name_to_wire(char *out, size_t size, const char *text)
{
    size_t len = strlen(text), at = 0, used = 0;
    bool latin1 = is_latin1(text);
    for (size_t n = 1; at < len && used + 1 < size; at += n) {
        int32_t cp = (unsigned char)text[at];
        if (latin1)
            n = text_decode(text + at, len - at, &cp);
        out[used++] = (char)cp;
    }
    out[used] = '\0';
    return at == len;
}

bool name_from_wire(char *out, size_t size, const char *bytes, size_t len)
{
    size_t used = 0;
    bool utf8 = text_is_utf8(bytes, len);
    for (size_t i = 0; i < len; i++) {
        char one[4] = {bytes[i]};
        size_t n = utf8 ? 1 : text_encode((unsigned char)bytes[i], one);
        if (used + n >= size)
            return false;
        memcpy(out + used, one, n);
        used += n;
    }
    out[used] = '\0';
    return true;
}

/* Whether it is the address `host`, written in digits. */
static bool is_address(const struct sockaddr *sa, const char *host)
{
    struct in6_addr given;
    if (sa->sa_family == AF_INET) {
        const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)sa;
        return inet_pton(AF_INET, host, &given) == 1 && memcmp(&given, &four->sin_addr, 4) == 0;
    }
    if (sa->sa_family == AF_INET6) {
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)sa;
        return inet_pton(AF_INET6, host, &given) == 1 && memcmp(&given, &six->sin6_addr, 16) == 0;
    }
    return false;
}

static bool is_own_address(const char *host)
{
    struct ifaddrs *all = NULL;
    bool own = false;
    if (getifaddrs(&all) != 0)
        return false;
    for (const struct ifaddrs *a = all; a && !own; a = a->ifa_next)
        own = a->ifa_addr && is_address(a->ifa_addr, host);
    freeifaddrs(all);
    return own;
}

void name_this_host(char *out, size_t size)
{
    if (gethostname(out, size) != 0)
        snprintf(out, size, "localhost");
    out[size - 1] = '\0';
}

void name_host_or_this(char *out, size_t size, const char *given)
{
    if (given)
        snprintf(out, size, "%s", given);
    else
        name_this_host(out, size);
}

bool name_host_is_here(const char *host, const char *this_host)
{
    size_t plain = strcspn(this_host, ".");
    return strcmp(host, "localhost") == 0 || strcmp(host, this_host) == 0 ||
           (strlen(host) == plain && strncmp(host, this_host, plain) == 0) || is_own_address(host);
}

void name_own_host(char *out, size_t size, const char *target_host, bool target_is_here,
                   const char *this_host, const char *address)
{
    if (target_is_here)
        snprintf(out, size, "%s", target_host);
    else if (!name_host_is_long(target_host))
        snprintf(out, size, "%.*s", (int)strcspn(this_host, "."), this_host);
    else if (name_host_is_long(this_host))
        snprintf(out, size, "%s", this_host);
    else
        snprintf(out, size, "%s", address);
}

int name_own(struct name *out, unsigned index, const char *host, struct error *err)
{
    char text[LIMIT_NODE_NAME_BYTES + 1];
    if (index == 0)
        snprintf(text, sizeof text, OWN_ALIVE "@%.300s", host);
    else
        snprintf(text, sizeof text, OWN_ALIVE "-%u@%.300s", index + 1, host);
    return name_parse(out, text, host, err);
}
