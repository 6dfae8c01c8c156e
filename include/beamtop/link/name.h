/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Node names. A name is alive@host; "long" names have a dot (or a colon) in the host, and a node
 * takes connections only from names of the same form, so ours follows the target's. */
#ifndef BEAMTOP_LINK_NAME_H
#define BEAMTOP_LINK_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "beamtop/base/error.h"
#include "beamtop/base/limits.h"

struct name {
    char full[LIMIT_NODE_NAME_BYTES + 1]; /* alive@host */
    char alive[LIMIT_NODE_NAME_BYTES + 1];
    char host[LIMIT_NODE_NAME_BYTES + 1];
    bool host_given; /* false: the text had no '@' and this_host was taken */
};

/*
 * Parses "alive@host" or "alive" (then the host is this_host). ERR_USAGE says what is wrong: empty
 * parts, a second '@', blanks or control bytes, invalid UTF-8, more than 255 bytes. */
int name_parse(struct name *out, const char *text, const char *this_host, struct error *err);

/* As the node itself decides between -sname and -name: a dot in the host, or an IPv6 address. */
bool name_host_is_long(const char *host);

/*
 * A handshake has names in Latin-1, as far as they have such characters: a host may, in Erlang.
 * Both write at most `size` bytes with NUL and return false when that is not enough. What has
 * characters beyond Latin-1, or is UTF-8 on the wire, stays as it is. */
bool name_to_wire(char *out, size_t size, const char *text);
bool name_from_wire(char *out, size_t size, const char *bytes, size_t len);

/* What this machine calls itself; "localhost" where that is not known. */
void name_this_host(char *out, size_t size);
void name_host_or_this(char *out, size_t size, const char *given); /* NULL: this machine */

/* True when the host is this machine: its name, also without a domain, or one of its addresses. */
bool name_host_is_here(const char *host, const char *this_host);

/*
 * The host part of our own name. `target_host` decides the form. When the target is on this host,
 * its own host part is taken as it is. Else: for short names our host name up to its first dot; for
 * long names our host name if it has a dot, else `address` (our side of the TCP connection). */
void name_own_host(char *out, size_t size, const char *target_host, bool target_is_here,
                   const char *this_host, const char *address);

/* The index-th name of the pool (0 .. LIMIT_NAME_POOL-1): beamtop@host, beamtop-2@host … */
int name_own(struct name *out, unsigned index, const char *host, struct error *err);

#endif
