#include "beamtop/dist/name.h"

#include <stdio.h>
#include <string.h>

#define OWN_ALIVE "beamtop"
#define ATOM_BYTES 255 /* a node's name is an atom; libei takes no more either */

static bool part_is_fine(const char *s, size_t len)
{
    if (len == 0) {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char ch = (unsigned char)s[i];
        if (ch <= ' ' || ch == 0x7f || ch == '@') {
            return false;
        }
    }
    return true;
}

static void copy(char *out, const char *s, size_t len)
{
    memcpy(out, s, len);
    out[len] = '\0';
}

int name_parse(struct name *out, const char *text, const char *this_host, struct error *err)
{
    const char *at = strchr(text, '@');
    size_t alive_len = at != NULL ? (size_t)(at - text) : strlen(text);
    const char *host = at != NULL ? at + 1 : this_host;

    memset(out, 0, sizeof *out);
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
    copy(out->alive, text, alive_len);
    copy(out->host, host, strlen(host));
    snprintf(out->full, sizeof out->full, "%.255s@%.255s", out->alive, out->host);
    return 0;
}

bool name_host_is_long(const char *host)
{
    return strpbrk(host, ".:") != NULL;
}

void name_own_host(char *out, size_t size, const char *target_host, bool target_is_here,
                   const char *this_host, const char *address)
{
    if (target_is_here) {
        snprintf(out, size, "%s", target_host);
    } else if (!name_host_is_long(target_host)) {
        snprintf(out, size, "%.*s", (int)strcspn(this_host, "."), this_host);
    } else if (name_host_is_long(this_host)) {
        snprintf(out, size, "%s", this_host);
    } else {
        snprintf(out, size, "%s", address);
    }
}

int name_own(struct name *out, unsigned index, const char *host, struct error *err)
{
    char text[LIMIT_NODE_NAME_BYTES + 1];
    if (index == 0) {
        snprintf(text, sizeof text, OWN_ALIVE "@%.300s", host);
    } else {
        snprintf(text, sizeof text, OWN_ALIVE "-%u@%.300s", index + 1, host);
    }
    return name_parse(out, text, host, err);
}
