/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the steps of `links` read (links.c), and the answer made of it (links_build.c). Pure. */
#ifndef BEAMTOP_QUERY_LINKS_INTERNAL_H
#define BEAMTOP_QUERY_LINKS_INTERNAL_H

#include "beamtop/base/arena.h"
#include "query/stepped/stepped.h"

#define LINKS_MOST 1000 /* connections, and as many names that are only known */

enum links_fact {
    LINKS_BUSY_LIMIT, /* bytes */
    LINKS_TICK,       /* {ok, Seconds}, or undefined: as it is by default */
    LINKS_OVERLAP,    /* {ok, Boolean}, or undefined: of a release that does not know it */
    LINKS_GLOBAL,     /* names of `global`, or undefined */
    LINKS_GROUPS,     /* groups of `pg`, or undefined */
    LINKS_FACTS
};

struct link {
    struct slice name, state, protocol, address; /* names of atoms; address: characters */
    bool is_hidden, is_connected;
    struct slice port;    /* its controller, a term; len 0: it has none */
    struct etf_pid owner; /* the controller by TLS */
    bool has_owner;
    int64_t in_bytes, out_bytes, queue_bytes, queue_len; /* -1: unknown */
    int64_t connection; /* another one after each time that it was lost; -1: unknown */
};

struct links_read {
    struct arena arena; /* of this question */
    const char *node;
    bool is_read, is_cut;
    struct slice facts[LINKS_FACTS];
    struct link *links; /* connected ones first, each by name */
    size_t n, n_connected;
    struct link **out; /* of the last ask; room for all that are connected */
    size_t n_out;
};

/* Of a connection to a node of that name: it is beamtop's, or none. */
bool links_is_other(const struct links_read *r, struct slice name);
void links_build(struct builder *b, void *read, int64_t mono_ns, const struct stepped_who *who);

#endif
